// ReplaceText: one passage of a file becomes another, and every other byte stays what it is.
//
//   auto edited = ReplaceText(bytes, FileText::Encoding::kUtf8, {.from = "a\n", .to = "b\n"});
//   if (!edited) edited.error().lines ...         // it is there more than once, or not at all
//
// A passage is given in UTF-8 with lines that end in \n, as files are shown; it matches lines that
// end in \r\n, too, and in UTF-16. Of what is replaced, what both begin and end with stays as it
// is. A \n that comes new is written as the line ends in which it comes; \r\n stays \r\n.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/text/file_text.h"

namespace pa {

struct Replacement {
  std::string_view from;  // not empty
  std::string_view to;
  bool all = false;  // every one, from the first on; else it must be there once
};

struct EditedText {
  std::string bytes;
  std::size_t count = 0;  // of what was replaced
};

// Where it begins, lines from 1, the first kMaxPlaces of them; empty: it is nowhere.
struct NoSingleMatch {
  static constexpr std::size_t kMaxPlaces = 20;
  std::vector<std::uint64_t> lines;
  std::uint64_t count = 0;  // of all, those that overlap, too
};

std::expected<EditedText, NoSingleMatch> ReplaceText(std::string_view bytes,
                                                     FileText::Encoding encoding,
                                                     const Replacement& replacement);

// For people and models: UTF-8 without a byte order mark, U+FFFD for what is none.
std::string ShownText(std::string_view bytes, FileText::Encoding encoding);

// What of `text` is most like `passage`, both as ShownText has them, as a diff from it to the
// passage; "" if nothing is like it at all. The text's line numbers are those of the file.
std::string NearestPassage(std::string_view text, std::string_view passage);

}  // namespace pa
