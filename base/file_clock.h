// Times of file changes, by the clock that the kernel stamps files with.
//
//    const auto began = FileClockNow();
//    ... if (ChangedAt(info) >= began) ...            // changed since
#pragma once

#include <sys/stat.h>

#include <chrono>

namespace pa {

// CLOCK_REALTIME_COARSE (clock_gettime(2)). This clock advances once a tick: a file that is changed
// from now on is stamped with this time or a later one.
std::chrono::system_clock::time_point FileClockNow();

// The ctime of the file, which no program can set.
std::chrono::system_clock::time_point ChangedAt(const struct stat& info);

}  // namespace pa
