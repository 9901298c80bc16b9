#include "base/file_clock.h"

#include <time.h>

namespace pa {
namespace {

using std::chrono::system_clock;

system_clock::time_point TimeOf(const timespec& time) {
  const auto since_epoch =
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(since_epoch));
}

}  // namespace

system_clock::time_point FileClockNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return TimeOf(now);
}

system_clock::time_point ChangedAt(const struct stat& info) { return TimeOf(info.st_ctim); }

}  // namespace pa
