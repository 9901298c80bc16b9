#include "tests/support/syncs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <string>

namespace pa::testing {
namespace {

struct Counters {
  std::atomic<int> all = 0;
  std::atomic<int> last = -1;  // that may succeed; -1: all may
};
Counters own;
Counters* counters = &own;
thread_local int here = 0;

std::string NameFor(pid_t test) { return "/pa-test-syncs-" + std::to_string(test); }

}  // namespace

Syncs SyncsUntilNow() { return {.here = here, .elsewhere = counters->all - here}; }

void FailSyncsAfter(int count) { counters->last = count < 0 ? -1 : counters->all + count; }

void ShareSyncs(pid_t test) {
  static std::string name;
  name = NameFor(test);
  const bool first = test == getpid();
  const int fd = shm_open(name.c_str(), O_RDWR | (first ? O_CREAT | O_TRUNC : 0), 0600);
  if (fd < 0 || (first && ftruncate(fd, sizeof(Counters)) != 0)) return;
  void* shared = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared == MAP_FAILED) return;
  counters = first ? new (shared) Counters : static_cast<Counters*>(shared);
  if (first) atexit([] { shm_unlink(name.c_str()); });
}

}  // namespace pa::testing

// In place of the C library's.
extern "C" int fsync(int fd) {
  pa::testing::Counters& counters = *pa::testing::counters;
  ++counters.all;
  ++pa::testing::here;
  const int last = counters.last;
  if (last >= 0 && counters.all > last) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, fd));
}
