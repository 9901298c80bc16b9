#include "supervisor/mcp/call_digest.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pa {
namespace {

// A client that reads and writes its request again orders members as it likes, leaves out what is
// null and writes `7.0` as `7`: it is the same call.
JsonValue Canonical(const JsonValue& value) {
  if (value.IsArray()) {
    std::vector<JsonValue> items;
    for (const JsonValue& item : value.Items()) items.push_back(Canonical(item));
    return JsonValue::Array(std::move(items));
  }
  if (value.IsObject()) {
    std::vector<JsonValue::Member> members;
    for (const auto& [name, member] : value.Members()) {
      if (!member.IsNull()) members.emplace_back(name, Canonical(member));
    }
    std::ranges::sort(members, {}, &JsonValue::Member::first);
    return JsonValue::Object(std::move(members));
  }
  const std::optional<std::int64_t> integer = value.AsInteger();
  return integer ? JsonValue::Number(std::to_string(*integer)) : value;
}

}  // namespace

Digest DigestOfCall(std::string_view tool, const JsonValue* arguments) {
  const bool any = arguments != nullptr && !arguments->IsNull();
  return Sha256Of(std::string(tool) + '\0' + (any ? Canonical(*arguments).Dump() : "{}"));
}

}  // namespace pa
