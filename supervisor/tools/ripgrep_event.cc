#include "supervisor/tools/ripgrep_event.h"

#include "base/base64.h"
#include "base/json.h"

namespace pa {
namespace {

// {"text": "..."}, or {"bytes": "BASE64"} of what is no UTF-8.
std::optional<std::string> BytesOf(const JsonValue* data) {
  if (data == nullptr) return std::nullopt;
  if (const JsonValue* text = data->Find("text"); text != nullptr && text->IsString()) {
    return text->AsString();
  }
  const JsonValue* bytes = data->Find("bytes");
  if (bytes == nullptr || !bytes->IsString()) return std::nullopt;
  return FromBase64(bytes->AsString());
}

}  // namespace

std::optional<RipgrepEvent> ParseRipgrepEvent(std::string_view line) {
  const Result<JsonValue> event = ParseJson(line);
  const JsonValue* type = event ? event->Find("type") : nullptr;
  if (type == nullptr || !type->IsString()) return std::nullopt;
  const bool match = type->AsString() == "match";
  if (!match && type->AsString() != "context") return std::nullopt;
  const JsonValue* data = event->Find("data");
  if (data == nullptr) return std::nullopt;
  std::optional<std::string> path = BytesOf(data->Find("path"));
  std::optional<std::string> text = BytesOf(data->Find("lines"));
  const JsonValue* number = data->Find("line_number");
  const auto at = number == nullptr ? std::nullopt : number->AsInteger();
  if (!path || !text || !at) return std::nullopt;
  return RipgrepEvent{match, std::move(*path), *at, std::move(*text)};
}

}  // namespace pa
