// Parses a line of `rg --json` that is about lines of a file (grep_printer's documentation,
// "JSON").
//
//    if (const auto event = ParseRipgrepEvent(line)) ...
//
// Names and lines are those of the project: bytes in no particular encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pa {

struct RipgrepEvent {
  bool match = false;  // else context
  std::string path;
  std::int64_t line = 0;  // number of the first line, from 1
  std::string text;       // with the line ends
};

// Nothing for a line of another kind, or one that ripgrep does not write.
std::optional<RipgrepEvent> ParseRipgrepEvent(std::string_view line);

}  // namespace pa
