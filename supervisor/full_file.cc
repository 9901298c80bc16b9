#include "supervisor/full_file.h"

#include <sys/stat.h>
#include <time.h>

#include <deque>
#include <filesystem>

#include "supervisor/path_probe.h"

namespace pa {

std::chrono::system_clock::time_point FileClockNow() {
  using std::chrono::nanoseconds, std::chrono::seconds, std::chrono::system_clock;
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const auto since_epoch = seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
  return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(since_epoch));
}

std::string FindFullFile(const FullFileSearch& search) {
  namespace fs = std::filesystem;
  std::deque<std::string> directories = {search.directory};
  int looked_at = 0;
  while (!directories.empty()) {
    const std::string directory = std::move(directories.front());
    directories.pop_front();
    if (search.may_enter && !search.may_enter(directory)) continue;
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      if (++looked_at > kMaxLookedAt) return "";
      const std::string path = entry->path().string();
      struct stat info{};
      if (lstat(path.c_str(), &info) != 0) continue;
      if (S_ISDIR(info.st_mode)) directories.push_back(path);
      const bool full =
          S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == search.size;
      if (full && ChangedAt(info) >= search.since) return path;
    }
  }
  return "";
}

}  // namespace pa
