// Small helpers for the text of messages and lists.
//
//    for (const std::string_view word : SplitWords("make  -j 4")) ...    // make, -j, 4
//    if (IsNumber(Trimmed(" 12 "))) ...
//
// They know ASCII alone. For characters beyond it: base/utf8.h.
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

// `text` without the `blanks` at both of its ends. Borrows from it.
inline std::string_view Trimmed(std::string_view text, std::string_view blanks = " \t") {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Decimal digits alone, at least one.
inline bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The letters of ASCII in lower case, whatever the locale.
inline char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string Lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

// The directories of a PATH, in order. An empty one, which means the current directory, is an entry
// like any other; an empty PATH has none.
inline std::vector<std::string_view> PathEntries(std::string_view path) {
  std::vector<std::string_view> entries;
  for (bool more = !path.empty(); more;) {
    const std::size_t end = path.find(':');
    entries.push_back(path.substr(0, end));
    more = end != std::string_view::npos;
    if (more) path.remove_prefix(end + 1);
  }
  return entries;
}

}  // namespace pa
