#include "tests/support/syncs.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace pa::testing {
namespace {

std::atomic<int> all = 0;
thread_local int here = 0;

}  // namespace

Syncs SyncsUntilNow() { return {.here = here, .elsewhere = all - here}; }

}  // namespace pa::testing

// In place of the C library's.
extern "C" int fsync(int fd) {
  ++pa::testing::all;
  ++pa::testing::here;
  return static_cast<int>(syscall(SYS_fsync, fd));
}
