// FullFile: a file of the project that a command has written up to limits.file_size, byte for byte.
// The kernel lets a write go so far and no further (setrlimit(2)), so such a file shows which limit
// it was.
//
//   std::string path = FindFullFile({.directory = "/p", .size = limit, .since = run.started});
//
// Walks the directory from the top, a level at a time, and gives up after kMaxLookedAt names.
// Symlinks are not followed; nothing but directories is opened.
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
  std::chrono::system_clock::time_point since = {};        // changed then or later
  std::function<bool(const std::string&)> may_enter = {};  // a directory; empty: all
};

std::string FindFullFile(const FullFileSearch& search);  // "" = none

}  // namespace pa
