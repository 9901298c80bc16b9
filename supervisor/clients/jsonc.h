// Jsonc: a JSON document as people write it, possibly with comments and trailing commas, with the
// position of each of its values in the text.
//
//    auto document = ReadJsonc(text, JsonDialect::kCommentsAndCommas);
//    if (!document) ... document.error().at          // what was expected, and where
//    const JsoncMember* servers = document->root.Find("servers");
//    Result<JsonValue> value = ParseJson(PlainJson(text, *document));
//
// Anything else that is not JSON in UTF-8 is refused, and so are duplicate keys, of which some
// readers take the first and others the last.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/clients/config_text.h"

namespace pa {

enum class JsonDialect { kPlain, kComments, kCommentsAndCommas };

struct JsoncMember;

struct JsoncValue {
  enum class Kind { kScalar, kArray, kObject };
  Kind kind = Kind::kScalar;
  std::size_t begin = 0, end = 0;
  std::vector<JsoncValue> items;     // of an array
  std::vector<JsoncMember> members;  // of an object
  std::optional<std::size_t> trailing_comma;

  const JsoncMember* Find(std::string_view key) const;  // null: no such member, or not an object
};

struct JsoncMember {
  std::string key;
  std::size_t begin = 0;  // of the key
  std::size_t colon = 0;
  JsoncValue value;
};

struct JsoncDocument {
  struct Range {
    std::size_t begin, end;
  };
  JsoncValue root;
  std::vector<Range> comments;  // without the line end
  std::vector<std::size_t> trailing_commas;

  bool HasComment(const JsoncValue& within) const;
};

// Nested at most 64 deep, as in ParseJson.
std::expected<JsoncDocument, TextProblem> ReadJsonc(std::string_view text, JsonDialect dialect);

// The text with blanks in place of comments and trailing commas, so that every value keeps its
// position.
std::string PlainJson(std::string_view text, const JsoncDocument& document);

}  // namespace pa
