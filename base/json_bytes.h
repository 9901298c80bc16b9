// Byte strings that are usually text, above all paths, in JSON. Bytes that are not UTF-8 are
// written as base64 into a member of another name, so that nothing is lost.
//
//    WriteBytes(writer, "path", path);      // "path":"src/a" or "path_base64":"L3NyYy/k"
//    std::optional<std::string> path = ReadBytes(json, "path");
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/json_writer.h"

namespace pa {

void WriteBytes(JsonWriter& writer, std::string_view key, std::string_view bytes);
// Nothing if neither member is present, or the one that is present is malformed.
std::optional<std::string> ReadBytes(const JsonValue& object, std::string_view key);

}  // namespace pa
