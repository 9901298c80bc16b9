#include "supervisor/run/full_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <utility>

#include "base/file_clock.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

std::string FindFullFile(const InsideQuestion& question) {
  const std::chrono::system_clock::time_point since{
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::microseconds(question.full->since_us))};
  std::deque<std::string> directories = {question.directory};
  int looked_at = 0;
  while (!directories.empty()) {
    const std::string directory = std::move(directories.front());
    directories.pop_front();
    if (std::ranges::find(question.closed, directory) != question.closed.end()) continue;
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      if (++looked_at > kMaxLookedAt) return "";
      const std::string path = entry->path().string();
      struct stat info{};
      if (lstat(path.c_str(), &info) != 0) continue;
      if (S_ISDIR(info.st_mode)) directories.push_back(path);
      const bool full =
          S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == question.full->size;
      if (full && ChangedAt(info) >= since) return path;
    }
  }
  return "";
}

std::string LookInsideChore(std::string_view input, std::span<const int>) {
  InsideQuestion question;
  return Unpacker(input)(question) ? Pack(LookInside(question)) : "";
}

constexpr Chore kChores[] = {{kLookInside, LookInsideChore}};

}  // namespace

InsideAnswer LookInside(const InsideQuestion& question) {
  InsideAnswer answer;
  if (question.full) answer.full = FindFullFile(question);
  for (const std::string& directory : question.empty) {
    std::error_code failed;
    if (fs::is_empty(directory, failed) && !failed) answer.empty.push_back(directory);
  }
  return answer;
}

std::span<const Chore> InsideChores() { return kChores; }

}  // namespace pa
