// What a denial has to know of directories of the project, which the janitor opens: whether some
// are empty, and which file has exactly limits.file_size. The kernel cuts off a write at that size
// (RLIMIT_FSIZE, setrlimit(2)), so such a file shows that a command reached this limit.
//
//    Task<Result<InsideAnswer>> task =
//        Ask<InsideAnswer>(janitor, {.chore = kLookInside, .read = {question.directory}},
//        question);
//
// It searches the directory breadth-first and gives up after kMaxLookedAt names. It follows no
// symlinks and opens nothing but directories.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pack.h"
#include "supervisor/janitor/janitor.h"

namespace pa {

inline constexpr int kMaxLookedAt = 20'000;

// InsideQuestion -> InsideAnswer
inline constexpr std::string_view kLookInside = "look-inside";

struct FullFileSearch {
  std::uint64_t size = 0;
  std::int64_t since_us = 0;  // the file was changed then or later: since the epoch
};

struct InsideQuestion {
  std::string directory;
  std::vector<std::string> closed;     // directories beneath, which are not entered
  std::optional<FullFileSearch> full;  // nothing: no file is searched for
  std::vector<std::string> empty;      // directories: are they?
};

struct InsideAnswer {
  std::string full;                // "" = none
  std::vector<std::string> empty;  // those that are
};

InsideAnswer LookInside(const InsideQuestion& question);

std::span<const Chore> InsideChores();

template <>
struct PackedFields<FullFileSearch> {
  static bool Visit(auto& io, auto& v) { return io(v.size, v.since_us); }
};
template <>
struct PackedFields<InsideQuestion> {
  static bool Visit(auto& io, auto& v) { return io(v.directory, v.closed, v.full, v.empty); }
};
template <>
struct PackedFields<InsideAnswer> {
  static bool Visit(auto& io, auto& v) { return io(v.full, v.empty); }
};

}  // namespace pa
