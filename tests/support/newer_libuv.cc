// Preloaded: uv_loop_init as libuv has it since 1.45, which makes a ring with the loop where the
// kernel gives it one. Says on stderr whether it did.
#include <dlfcn.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include <cstdio>

extern "C" int uv_loop_init(uv_loop_t* loop) {
  io_uring_params parameters = {};
  const long ring = syscall(SYS_io_uring_setup, 1, &parameters);
  fputs(ring >= 0 ? "the loop has a ring\n" : "the loop has no ring\n", stderr);
  const auto next = reinterpret_cast<int (*)(uv_loop_t*)>(dlsym(RTLD_NEXT, "uv_loop_init"));
  return next(loop);
}
