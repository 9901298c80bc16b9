// Small helpers for the text of messages and lists.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// `'text'`, as messages quote a value.
inline std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// The words of a line, separated by any number of `blanks`. Borrows from `text`.
inline std::vector<std::string_view> SplitWords(std::string_view text,
                                                std::string_view blanks = " \t") {
  std::vector<std::string_view> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty()) return words;
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    words.push_back(word);
    text.remove_prefix(word.size());
  }
}

}  // namespace pa
