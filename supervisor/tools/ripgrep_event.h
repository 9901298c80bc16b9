// A line of `rg --json`, as far as it tells of lines of files (grep_printer's documentation,
// "JSON").
//
//   if (const auto event = ParseRipgrepEvent(line)) ...
//
// Names and lines are those of the project: bytes, of no encoding in particular.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pa {

struct RipgrepEvent {
  bool match = false;  // else context
  std::string path;
  std::int64_t line = 0;  // the first, from 1
  std::string text;       // with the end of each line
};

// Nothing: another kind of line, or none that ripgrep writes.
std::optional<RipgrepEvent> ParseRipgrepEvent(std::string_view line);

}  // namespace pa
