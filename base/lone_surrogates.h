// ReplaceLoneSurrogates: mends JSON text from programs that keep strings as UTF-16: JSON.stringify
// writes `\ud83d` for a string that was cut within a surrogate pair.
//
//    const std::optional<std::string> mended = ReplaceLoneSurrogates(line);
//    Result<JsonValue> value = ParseJson(mended ? *mended : line);
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pa {

// Replaces each escape of half a surrogate pair, which is not a character, by `\ufffd`, as encoders
// from UTF-16 to UTF-8 do. The length stays the same. Nothing: there is no such escape. Text that
// is not JSON remains so.
std::optional<std::string> ReplaceLoneSurrogates(std::string_view json);

}  // namespace pa
