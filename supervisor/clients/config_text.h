// Configuration of other programs as text: edits of it, and its layout. The formats are in
// json_config.h and toml_config.h.
//
//    std::vector<TextEdit> edits = {{.begin = 3, .end = 7, .text = "true"}};
//    std::string now = Apply(text, edits);
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_place.h"

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

// What is wrong with the text, and at which byte.
struct TextProblem {
  std::size_t at = 0;
  std::string message;
};

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
