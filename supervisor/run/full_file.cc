#include "supervisor/run/full_file.h"

#include <sys/stat.h>

#include <deque>
#include <filesystem>

#include "base/file_clock.h"

namespace pa {

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
