// Bytes that are text as a rule, in JSON: paths, above all. What is no UTF-8 stands as base64 in a
// member of its own, so that nothing is lost.
//
//   WriteBytes(writer, "path", path);      // "path":"src/a" or "path_base64":"L3NyYy/k"
//   std::optional<std::string> path = ReadBytes(json, "path");
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/json_writer.h"

namespace pa {

void WriteBytes(JsonWriter& writer, std::string_view key, std::string_view bytes);
// Nothing where neither member is there, or is what it should be.
std::optional<std::string> ReadBytes(const JsonValue& object, std::string_view key);

}  // namespace pa
