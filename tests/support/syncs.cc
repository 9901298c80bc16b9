#include "tests/support/syncs.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace pa::testing {
namespace {

std::atomic<int> all = 0;
thread_local int here = 0;
std::atomic<int> last = -1;  // that may succeed; -1: all may

}  // namespace

Syncs SyncsUntilNow() { return {.here = here, .elsewhere = all - here}; }

void FailSyncsAfter(int count) { last = count < 0 ? -1 : all + count; }

}  // namespace pa::testing

// In place of the C library's.
extern "C" int fsync(int fd) {
  ++pa::testing::all;
  ++pa::testing::here;
  const int last = pa::testing::last;
  if (last >= 0 && pa::testing::all > last) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, fd));
}
