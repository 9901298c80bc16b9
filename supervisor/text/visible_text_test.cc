#include "supervisor/text/visible_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <span>

#include "base/json.h"
#include "base/utf8.h"

namespace pa {
namespace {

// Default_Ignorable_Code_Point of DerivedCoreProperties.txt and what else shows nothing; all others
// are shown.
TEST(VisibleText, WritesOutEachRunOfWhatShowsNothing) {
  struct Run {
    std::uint32_t first, last;
  };
  constexpr Run kIgnorable[] = {
      {0xad, 0xad},       {0x34f, 0x34f},    {0x61c, 0x61c},   {0x115f, 0x1160}, {0x17b4, 0x17b5},
      {0x180b, 0x180f},   {0x200b, 0x200f},  {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
      {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},  {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3},
      {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  constexpr Run kOthers[] = {
      {0x01, 0x09}, {0x0b, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x2029}, {0xfff9, 0xfffb}};
  std::set<std::uint32_t> hidden;
  const auto hide = [&](std::span<const Run> runs) {
    for (const auto& [first, last] : runs) {
      for (std::uint32_t point = first; point <= last; ++point) hidden.insert(point);
    }
  };
  hide(kIgnorable);
  EXPECT_EQ(hidden.size(), 4174U) << "as the file counts them";
  hide(kOthers);
  // Beyond U+1FFFF is nothing else but ideographs and private use.
  for (const auto& [first, last] :
       {Run{0x01, 0x09}, Run{0x0b, 0xd7ff}, Run{0xe000, 0x1ffff}, Run{0xdff00, 0xe10ff}}) {
    for (std::uint32_t point = first; point <= last; ++point) {
      std::string text;
      AppendUtf8(point, text);
      EXPECT_EQ(VisibleText(text),
                hidden.contains(point) ? fmt::format("\\u{{{:x}}}", point) : text);
    }
  }
}

TEST(VisibleJson, HoldsTheSameValue) {
  const std::string json = "{\"a\": \"x\\n\x7f\u202e\U000e0041\",\t\"b\":\r\n[1]}";
  const std::string shown = VisibleJson(json);
  EXPECT_EQ(shown, "{\"a\": \"x\\n\\u007f\\u202e\\udb40\\udc41\", \"b\":  [1]}");
  EXPECT_EQ(ParseJson(shown)->Dump(), ParseJson(json)->Dump());
}

TEST(VisibleText, IsOneLine) { EXPECT_EQ(VisibleText("a\nb\xff"), "a\\nb\ufffd"); }

}  // namespace
}  // namespace pa
