// When files change, by the clock that the kernel stamps them with.
//
//   const auto began = FileClockNow();
//   ... if (ChangedAt(info) >= began) ...            // changed since
#pragma once

#include <sys/stat.h>

#include <chrono>

namespace pa {

// The clock stands still from tick to tick: a file that is changed from now on is not older
// (CLOCK_REALTIME_COARSE, clock_gettime(2)).
std::chrono::system_clock::time_point FileClockNow();

// By ctime, which nobody can set.
std::chrono::system_clock::time_point ChangedAt(const struct stat& info);

}  // namespace pa
