#include "base/json_bytes.h"

#include "base/base64.h"
#include "base/utf8.h"

namespace pa {
namespace {

std::string EncodedKey(std::string_view key) { return std::string(key) + "_base64"; }

}  // namespace

void WriteBytes(JsonWriter& writer, std::string_view key, std::string_view bytes) {
  if (IsValidUtf8(bytes)) {
    writer.Field(key, bytes);
  } else {
    writer.Field(EncodedKey(key), ToBase64(bytes));
  }
}

std::optional<std::string> ReadBytes(const JsonValue& object, std::string_view key) {
  const JsonValue* text = object.Find(key);
  if (text != nullptr) return text->IsString() ? std::optional(text->AsString()) : std::nullopt;
  const JsonValue* encoded = object.Find(EncodedKey(key));
  if (encoded == nullptr || !encoded->IsString()) return std::nullopt;
  return FromBase64(encoded->AsString());
}

}  // namespace pa
