// Other programs' configuration as text: places in it, changes of it, and how it is laid out.
//
//   std::vector<TextEdit> edits = {{.begin = 3, .end = 7, .text = "true"}};
//   std::string now = Apply(text, edits);
//   TextPlace place = PlaceOf(text, problem.at);      // for people
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// What our entry among a client's servers says.
struct ServerEntry {
  std::string section;  // the servers' object or table: `mcpServers`
  std::string name;     // of the entry in it
  std::string command;
  std::vector<std::string> args;
  bool with_type = false;    // a new entry says that it is `stdio`
  int tool_timeout_sec = 0;  // of a new entry; 0: the client's own
};

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What stands in the way, and at which byte.
struct TextProblem {
  std::size_t at = 0;
  std::string message;
};

struct TextPlace {
  std::size_t line = 1, column = 1;  // of characters, as editors count them
};
TextPlace PlaceOf(std::string_view text, std::size_t at);

struct TextEdit {
  std::size_t begin = 0, end = 0;
  std::string text;
};
// In their order, which is that of the text, and without overlaps.
std::string Apply(std::string_view text, std::span<const TextEdit> edits);

// How its first line ends; "\n" where none does.
std::string LineEnd(std::string_view text);

// The blanks with which the line begins that `at` is in.
std::string_view IndentOf(std::string_view text, std::size_t at);
// Nothing but blanks stands before it on its line.
bool StandsFirst(std::string_view text, std::size_t at);

}  // namespace pa
