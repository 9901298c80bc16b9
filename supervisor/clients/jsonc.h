// Jsonc: a JSON document as people keep it, perhaps with comments and trailing commas, and where in
// the text each of its values stands.
//
//   auto document = ReadJsonc(text, JsonDialect::kCommentsAndCommas);
//   if (!document) ... document.error().at          // what was expected, and where
//   const JsoncMember* servers = document->root.Find("servers");
//   Result<JsonValue> value = ParseJson(PlainJson(text, *document));
//
// Whatever else is no JSON in UTF-8 is refused, and so are duplicate keys, of which readers take
// now the first and now the last.
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

  const JsoncMember* Find(std::string_view key) const;  // null: no such member, or no object
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
  std::vector<Range> comments;  // without the end of their line
  std::vector<std::size_t> trailing_commas;

  bool HasComment(const JsoncValue& within) const;
};

// At most 64 deep, as ParseJson has it.
std::expected<JsoncDocument, TextProblem> ReadJsonc(std::string_view text, JsonDialect dialect);

// Blanks in place of what is no JSON, so that every value stays where it is.
std::string PlainJson(std::string_view text, const JsoncDocument& document);

}  // namespace pa
