// ReplaceText: replaces one passage of a file, and leaves every other byte as it is.
//
//    auto edited = ReplaceText(bytes, FileText::Encoding::kUtf8, {.from = "a\n", .to = "b\n"});
//    if (!edited) edited.error().lines ...         // it is there more than once, or not at all
//
// A passage is given in UTF-8 with lines that end in \n, as files are shown. It also matches lines
// that end in \r\n, and UTF-16. The bytes of the common beginning and end of both passages are not
// changed. A new \n is written like the end of the line where it is inserted; a new \r\n stays
// \r\n.
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
  bool all = false;  // every one, from the first on; false: it must occur once
};

struct EditedText {
  std::string bytes;
  std::size_t count = 0;  // of replacements
};

// The lines where the passage begins, counted from 1; at most the first kMaxPlaces. Empty: it does
// not occur.
struct NoSingleMatch {
  static constexpr std::size_t kMaxPlaces = 20;
  std::vector<std::uint64_t> lines;
  std::uint64_t count = 0;  // of all places, including those that overlap
};

std::expected<EditedText, NoSingleMatch> ReplaceText(std::string_view bytes,
                                                     FileText::Encoding encoding,
                                                     const Replacement& replacement);

// The text for people and models: UTF-8 without a byte order mark, U+FFFD for invalid bytes.
std::string ShownText(std::string_view bytes, FileText::Encoding encoding);

// A diff to `passage` from the part of `text` that is most similar to it; "" if no part is similar.
// Both are as ShownText returns them. `text` is a whole file: the diff names its lines.
std::string NearestPassage(std::string_view text, std::string_view passage);

}  // namespace pa
