// JsonValue: a parsed JSON document: owned, immutable, and bounded for hostile input.
//
//    Result<JsonValue> doc = ParseJson(line);
//    const JsonValue* name = doc->Find("name");
//    if (name != nullptr && name->IsString()) Use(name->AsString());
//
// base/json_reader.cc parses, and is the only user of simdjson. To write JSON: base/json_writer.h.
//
// Numbers keep their token as it was written, because a JSON-RPC id must be echoed verbatim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace pa {

class JsonValue {
 public:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string, JsonValue>;

  JsonValue() = default;
  static JsonValue Bool(bool value);
  static JsonValue Number(std::string token);  // the token as written: `7`, `1e3`, `-0.5`
  static JsonValue String(std::string value);
  static JsonValue Array(std::vector<JsonValue> items);
  static JsonValue Object(std::vector<Member> members);  // in order of appearance; keys are unique

  Kind kind() const { return static_cast<Kind>(storage_.index()); }
  bool IsNull() const { return kind() == Kind::kNull; }
  bool IsBool() const { return kind() == Kind::kBool; }
  bool IsNumber() const { return kind() == Kind::kNumber; }
  bool IsString() const { return kind() == Kind::kString; }
  bool IsArray() const { return kind() == Kind::kArray; }
  bool IsObject() const { return kind() == Kind::kObject; }
  const char* KindName() const;  // "null", "boolean", "number", "string", "array", "object"

  // The caller must have checked the kind (asserted).
  bool AsBool() const;
  const std::string& AsString() const;
  const std::string& NumberToken() const;
  const std::vector<JsonValue>& Items() const;
  const std::vector<Member>& Members() const;

  // The value as an integer (`7`, and also `7.0`, as in JSON Schema); nothing if it is none or does
  // not fit.
  std::optional<std::int64_t> AsInteger() const;
  std::optional<std::uint64_t> AsCount() const;  // the same, of at least 0

  // The member of that name; null if this is not an object or has no such member.
  const JsonValue* Find(std::string_view key) const;
  // The same, but a member whose value is null counts as absent: MCP clients leave out optional
  // members that way.
  const JsonValue* FindSet(std::string_view key) const;
  // The member of that name, moved out of a document that is no longer needed.
  std::optional<JsonValue> Take(std::string_view key) &&;

  // The value as JSON text on one line.
  std::string Dump() const;

 private:
  struct NumberText {
    std::string token;
  };
  // In the order of Kind. A variant keeps values small: a hostile line can hold as many values as
  // it has bytes.
  using Storage = std::variant<std::monostate, bool, NumberText, std::string,
                               std::vector<JsonValue>, std::vector<Member>>;
  explicit JsonValue(Storage storage) : storage_(std::move(storage)) {}

  Storage storage_;
};

// RFC 8259, 6. Of any size: simdjson's own number parsers refuse what does not fit 64 bits.
bool IsJsonNumber(std::string_view token);

struct JsonLimits {
  std::size_t max_bytes = 16u << 20;
  std::size_t max_depth = 64;
  // A value of one byte takes 40 bytes of memory, and while it is read 24 more (JsonView::Node), as
  // does a key.
  std::size_t max_values = 1u << 20;
};

// Strict RFC 8259 in UTF-8. Refused: invalid UTF-8, trailing bytes, duplicate keys in one object,
// escapes of half a surrogate pair (base/lone_surrogates.h), and anything beyond the limits. The
// subject of the error names the problem and, where it is known, the byte offset.
Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits = {});

}  // namespace pa
