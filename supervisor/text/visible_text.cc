#include "supervisor/text/visible_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace pa {
namespace {

// What shows nothing, or changes in which direction the rest is written ("Trojan Source",
// CVE-2021-42574). An emoji with U+FE0F becomes longer by that; nothing is lost.
constexpr struct {
  std::uint32_t first, last;
} kInvisible[] = {
    // Default_Ignorable_Code_Point, all of it (DerivedCoreProperties.txt, Unicode 14: 4174 of them)
    {0xad, 0xad},
    {0x34f, 0x34f},
    {0x61c, 0x61c},
    {0x115f, 0x1160},
    {0x17b4, 0x17b5},
    {0x180b, 0x180f},
    {0x200b, 0x200f},
    {0x202a, 0x202e},
    {0x2060, 0x206f},
    {0x3164, 0x3164},
    {0xfe00, 0xfe0f},
    {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},
    {0xfff0, 0xfff8},
    {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff},
    // and what the class leaves out: C1, ends of lines, annotations between lines
    {0x80, 0x9f},
    {0x2028, 0x2029},
    {0xfff9, 0xfffb},
};

}  // namespace

bool IsInvisible(std::uint32_t point) {
  if (point < 0x80) return false;  // which most of a long text is
  return std::ranges::any_of(
      kInvisible, [&](const auto& run) { return point >= run.first && point <= run.last; });
}

namespace {

// `escape` appends what stands for a character that must not be shown.
template <typename Escape>
std::string Escaped(std::string_view text, const Escape& escape) {
  std::string out;
  const std::string sound = RepairUtf8(text);
  for (std::string_view left = sound; !left.empty();) {
    std::size_t invalid = 0;
    const std::size_t length = Utf8SequenceLength(left, &invalid);
    const std::uint32_t point = CodePointOf(left.substr(0, length));
    if (point < 0x20 || point == 0x7f || IsInvisible(point)) {
      escape(point, out);
    } else {
      out += left.substr(0, length);
    }
    left.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string VisibleText(std::string_view text) {
  return Escaped(text, [](std::uint32_t point, std::string& out) {
    out += point == '\n' ? "\\n" : fmt::format("\\u{{{:x}}}", point);
  });
}

std::string VisibleJson(std::string_view json) {
  return Escaped(json, [](std::uint32_t point, std::string& out) {
    if (point < 0x20) {
      out += ' ';  // in valid JSON it stands between values alone
    } else if (point < 0x10000) {
      out += fmt::format("\\u{:04x}", point);
    } else {
      const std::uint32_t rest = point - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10U), 0xdc00 + (rest & 0x3ffU));
    }
  });
}

}  // namespace pa
