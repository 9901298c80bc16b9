// Configuration of other programs as text: positions in it, edits, and its layout. The formats are
// in json_config.h and toml_config.h.
//
//    std::vector<TextEdit> edits = {{.begin = 3, .end = 7, .text = "true"}};
//    std::string now = Apply(text, edits);
//    LineAndColumn place = PlaceOf(text, problem.at);      // for people
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// Our entry among a client's servers.
struct ServerEntry {
  std::string section;  // the servers' object or table: `mcpServers`
  std::string name;     // of the entry in it
  std::string command;
  std::vector<std::string> args;
  bool with_type = false;    // a new entry says that it is `stdio`
  int tool_timeout_sec = 0;  // of a new entry; 0: the client's own
};

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What is wrong with the text, and at which byte.
struct TextProblem {
  std::size_t at = 0;
  std::string message;
};

struct LineAndColumn {
  std::size_t line = 1, column = 1;  // in characters, as editors count them
};
LineAndColumn PlaceOf(std::string_view text, std::size_t at);

struct TextEdit {
  std::size_t begin = 0, end = 0;
  std::string text;
};
// `edits` must be in the order of the text and must not overlap.
std::string Apply(std::string_view text, std::span<const TextEdit> edits);

// The line end of the first line; "\n" if there is none.
std::string LineEnd(std::string_view text);

// The blanks at the beginning of the line that holds `at`.
std::string_view IndentOf(std::string_view text, std::size_t at);
// Whether only blanks precede `at` on its line.
bool StandsFirst(std::string_view text, std::size_t at);

}  // namespace pa
