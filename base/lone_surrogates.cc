#include "base/lone_surrogates.h"

#include <charconv>

#include "base/utf16.h"

namespace pa {
namespace {

// The UTF-16 unit of an escape `\uXXXX` at the beginning; 0 when there is none.
unsigned EscapedUnit(std::string_view text) {
  unsigned unit = 0;
  if (text.size() < 6 || !text.starts_with("\\u")) return 0;
  const char* end = text.data() + 6;
  return std::from_chars(text.data() + 2, end, unit, 16).ptr == end ? unit : 0;
}

}  // namespace

// From backslash to backslash: in JSON they stand in strings alone, and `\\` is one escape.
std::optional<std::string> ReplaceLoneSurrogates(std::string_view json) {
  std::optional<std::string> mended;
  for (std::size_t at = json.find('\\'); at < json.size(); at = json.find('\\', at)) {
    const unsigned unit = EscapedUnit(json.substr(at));
    if (IsHighSurrogate(unit) && IsLowSurrogate(EscapedUnit(json.substr(at + 6)))) {
      at += 12;
    } else if (IsHighSurrogate(unit) || IsLowSurrogate(unit)) {
      if (!mended) mended.emplace(json);
      mended->replace(at + 2, 4, "fffd");
      at += 6;
    } else {
      at += 2;
    }
  }
  return mended;
}

}  // namespace pa
