// Edits of a text of which everything else keeps every byte, and what has to be known of its
// layout.
//
//    std::vector<TextEdit> edits = {{.begin = 3, .end = 7, .text = "true"}};
//    std::string now = Apply(text, edits);
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace pa {

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
