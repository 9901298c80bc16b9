// FindNearMatch: finds a passage in a text that has it with differences that are hard to see: other
// blanks, typographic quotes and dashes, invisible characters, other ends of lines, letters with
// accents in another form of Unicode (NFC, NFD).
//
//    const auto near = FindNearMatch("x = \u201ca\u201d\n", "x = \"a\"");
//    near->differences[0]     // quotes, line 1, column 5: U+201C (\u201c), asked was U+0022 (")
//
// It is for messages; nothing is replaced by it. \r\n counts as \n, as for ReplaceText.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

struct NearDifference {
  std::string_view in;       // "line ends", "blanks", "invisible characters", "quotes or dashes",
                             // "Unicode forms"
  std::uint64_t line = 0;    // of the text, counted from 1
  std::uint64_t column = 0;  // in characters, from 1
  std::string there, asked;  // "tab", "2 spaces", "U+2019", "nothing"
};

struct NearMatch {
  static constexpr std::size_t kMaxBytes = 512U << 10;  // of a text that is looked at
  std::uint64_t line = 0;                               // where the first one begins
  std::uint64_t count = 0;                              // of all such places
  std::vector<NearDifference> differences;  // the first of each kind, at the first place
};

// Nothing: it is not there in that way either, or it is there exactly. Both are UTF-8, as ShownText
// returns it.
std::optional<NearMatch> FindNearMatch(std::string_view text, std::string_view passage);

// `line 3, column 5 has U+2019 (\u2019), `old` has U+0027 (')`, of each, for the argument `name`.
std::string DescribeDifferences(const NearMatch& near, std::string_view name);

}  // namespace pa
