// FindAll: all places where a part begins in a text, those that overlap, too.
//
//    for (const std::size_t place : FindAll<char>("aaa", "aa")) ...      // 0, 1
//
// The algorithm is that of Knuth, Morris and Pratt ("Fast Pattern Matching in Strings", 1977):
// what is looked for, and in what, is chosen by the agent; this is linear for all of it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace pa {

// `part`: not empty.
template <typename Unit>
std::vector<std::size_t> FindAll(std::basic_string_view<Unit> text,
                                 std::basic_string_view<Unit> part) {
  std::vector<std::size_t> borders(part.size() + 1, 0);
  const auto next = [&](std::size_t matched, Unit unit) {
    while (matched > 0 && (matched == part.size() || part[matched] != unit)) {
      matched = borders[matched];
    }
    return matched + (part[matched] == unit ? 1 : 0);
  };
  for (std::size_t i = 1; i < part.size(); ++i) borders[i + 1] = next(borders[i], part[i]);
  std::vector<std::size_t> places;
  std::size_t matched = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    matched = next(matched, text[i]);
    if (matched == part.size()) places.push_back(i + 1 - matched);
  }
  return places;
}

}  // namespace pa
