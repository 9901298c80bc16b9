// FindFullFile: finds a file of the project whose size is exactly limits.file_size. The kernel cuts
// off a write at that size (RLIMIT_FSIZE, setrlimit(2)), so such a file shows that a command
// reached this limit.
//
//    std::string path = FindFullFile({.directory = "/p", .size = limit, .since = run.started});
//
// It searches the directory breadth-first and gives up after kMaxLookedAt names. It follows no
// symlinks and opens nothing but directories.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace pa {

inline constexpr int kMaxLookedAt = 20'000;

struct FullFileSearch {
  std::string directory;
  std::uint64_t size = 0;
  std::chrono::system_clock::time_point since = {};  // the file was changed then or later
  // Whether to search a directory. Empty: all are searched.
  std::function<bool(const std::string&)> may_enter = {};
};

std::string FindFullFile(const FullFileSearch& search);  // "" = none

}  // namespace pa
