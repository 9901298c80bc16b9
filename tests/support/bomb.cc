// bomb KIND N: what a hostile or broken command does to a machine, up to N and no further.
//   fork N      a tree of processes, N deep, two children each, all of which stay
//   memory N    touches N MiB and stays
//   memfd N     writes N MiB into files that are memory, 8 MiB each, and stays
//   burn N      uses N ms of processor time
//   fill N      writes N MiB into the file `filled`
//   files N     opens N files, prints how many it got
//   deep N      directories within directories in $TMPDIR
//   many N      files in $TMPDIR
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

[[noreturn]] void Stay() {
  for (;;) pause();
}

int Fork(long depth) {
  for (int child = 0; depth > 0 && child < 2; ++child) {
    if (fork() == 0) {
      --depth;
      child = -1;
    }
  }
  Stay();
}

int Memory(long mebibytes) {
  for (long i = 0; i < mebibytes; ++i) {
    auto* block = static_cast<char*>(std::malloc(1u << 20));
    if (block == nullptr) return 1;
    std::memset(block, 1, 1u << 20);
  }
  Stay();
}

int Write(int fd, long mebibytes) {
  const std::string block(1u << 20, 'x');
  for (long i = 0; i < mebibytes; ++i) {
    if (write(fd, block.data(), block.size()) < 0) return 1;
  }
  return 0;
}

int Fill(long mebibytes) {
  return Write(open("filled", O_CREAT | O_WRONLY | O_CLOEXEC, 0600), mebibytes);
}

int Memfd(long mebibytes) {
  for (; mebibytes > 0; mebibytes -= 8) {
    if (Write(memfd_create("bomb", MFD_CLOEXEC), 8) != 0) return 1;
  }
  Stay();
}

int Burn(long milliseconds) {
  const clock_t end = clock() + milliseconds * (CLOCKS_PER_SEC / 1000);
  while (clock() < end) {
  }
  return 0;
}

int Files(long count) {
  long got = 0;
  while (got < count && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) ++got;
  std::printf("%ld\n", got);
  return 0;
}

int Deep(long depth) {
  int at = open(std::getenv("TMPDIR"), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (; depth > 0; --depth) {
    if (mkdirat(at, "d", 0700) != 0) return 1;
    const int next = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    close(at);
    at = next;
  }
  return 0;
}

int Many(long count) {
  const int at = open(std::getenv("TMPDIR"), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (long i = 0; i < count; ++i) {
    const int fd = openat(at, std::to_string(i).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return 1;
    close(fd);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kind = argv[1];
  const long n = std::atol(argv[2]);
  if (kind == "fork") return Fork(n);
  if (kind == "memory") return Memory(n);
  if (kind == "memfd") return Memfd(n);
  if (kind == "burn") return Burn(n);
  if (kind == "fill") return Fill(n);
  if (kind == "files") return Files(n);
  if (kind == "deep") return Deep(n);
  return kind == "many" ? Many(n) : 2;
}
