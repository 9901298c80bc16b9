// JSON text from whoever writes UTF-16: JSON.stringify writes `\ud83d` where a text was cut within
// a pair.
//
//   const std::optional<std::string> mended = ReplaceLoneSurrogates(line);
//   Result<JsonValue> value = ParseJson(mended ? *mended : line);
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pa {

// Each escape of half a surrogate pair, which is no character, as `\ufffd`: as it becomes for
// whoever encodes UTF-16 as UTF-8. Of the same length. Nothing: there is none. What is no JSON
// stays none.
std::optional<std::string> ReplaceLoneSurrogates(std::string_view json);

}  // namespace pa
