#include "base/text_place.h"

#include <algorithm>

namespace pa {
namespace {

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }

}  // namespace

LineAndColumn Advanced(LineAndColumn from, std::string_view after) {
  if (const std::size_t end = after.rfind('\n'); end != std::string_view::npos) {
    from.line += static_cast<std::size_t>(std::ranges::count(after, '\n'));
    from.column = 1;
    after.remove_prefix(end + 1);
  }
  from.column += static_cast<std::size_t>(std::ranges::count_if(after, BeginsCharacter));
  return from;
}

LineAndColumn PlaceOf(std::string_view text, std::size_t at) {
  std::string_view before = text.substr(0, at);
  if (before.starts_with(kByteOrderMark)) before.remove_prefix(kByteOrderMark.size());
  return Advanced({}, before);
}

std::size_t OffsetOf(std::string_view text, LineAndColumn place) {
  std::size_t at = 0;
  for (; place.line > 1; --place.line) at = std::min(text.find('\n', at), text.size()) + 1;
  at = std::min(at, text.size());
  for (; place.column > 1 && at < text.size(); --place.column) {
    ++at;
    while (at < text.size() && !BeginsCharacter(text[at])) ++at;
  }
  return at;
}

}  // namespace pa
