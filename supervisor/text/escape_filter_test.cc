#include "supervisor/text/escape_filter.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using Keep = EscapeFilter::Keep;

std::string Filtered(std::string_view bytes) { return EscapeFilter(Keep::kColours).Filter(bytes); }

TEST(EscapeFilterTest, TextColoursAndUtf8Pass) {
  for (std::string_view text : {"plain\n\ttext\r\n", "\x1b[31mred\x1b[0m", "\x1b[38;5;208mx\x1b[m",
                                "\x1b[38:2::1:2:3mx", "grün · 日本 \xf0\x9f\x9a\x80", "\xc2\xa0"}) {
    EXPECT_EQ(Filtered(text), text);
  }
}

TEST(EscapeFilterTest, WhatMovesQueriesOrRetitlesIsDropped) {
  EXPECT_EQ(Filtered("a\x1b[2Jb"), "ab");               // clear screen
  EXPECT_EQ(Filtered("a\x1b[1;1Hb"), "ab");             // cursor
  EXPECT_EQ(Filtered("a\x1b[6nb"), "ab");               // report position: types into the shell
  EXPECT_EQ(Filtered("a\x1b]0;title\ab"), "ab");        // title
  EXPECT_EQ(Filtered("a\x1b]52;c;eA==\x1b\\b"), "ab");  // clipboard
  EXPECT_EQ(Filtered("a\x1bP+q\x1b\\b"), "ab");         // DCS
  EXPECT_EQ(Filtered("a\x1b"
                     "cb"),
            "ab");  // reset
  EXPECT_EQ(Filtered("a\xc2\x9b"
                     "2Jb"),
            "a2Jb");  // C1 form of ESC [
  EXPECT_EQ(Filtered("a\b\a\x7f\vb"), "ab");
  EXPECT_EQ(Filtered("a\x1b[?25mb"), "ab");  // private
  EXPECT_EQ(Filtered("a\x1b[" + std::string(500, '1') + "mb"), "ab");
}

TEST(EscapeFilterTest, StateOutlivesTheChunk) {
  const std::string text =
      "a\x1b[31mb\x1b]0;t\x1b\\c\xc2\x9b"
      "d\x1b[2Je";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EscapeFilter filter(Keep::kColours);
    std::string out = filter.Filter(text.substr(0, cut));
    out += filter.Filter(text.substr(cut));
    EXPECT_EQ(out, "a\x1b[31mbcde") << "cut at " << cut;
  }
}

TEST(EscapeFilterTest, ModelsGetTextAlone) {
  using namespace std::string_literals;
  EXPECT_EQ(WithoutEscapes("\x1b[1m\x1b[31mcat\x1b[0m: x\r\n\ty\n"), "cat: x\r\n\ty\n");
  EXPECT_EQ(WithoutEscapes("a\0b\x01\x7f\b\xc2\x85 gr\xc3\xbcn\xc2\xa0!"s),
            "ab gr\xc3\xbcn\xc2\xa0!");
  EXPECT_EQ(WithoutEscapes("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(WithoutEscapes("\xc2\xff"), "\xff") << "to be repaired by whoever writes it";
  EXPECT_EQ(WithoutEscapes("\xc2\x1b[31mx"), "x");
}

TEST(EscapeFilterTest, AFileGetsAllOtherBytes) {
  using namespace std::string_literals;
  const std::string bytes = "\0\x01\xff\xc2\x9b"s;
  EXPECT_EQ(EscapeFilter(Keep::kBytes).Filter(bytes + "\x1b[31mred\x1b[0m\x1b]0;t\a"),
            bytes + "red");
}

// What is never finished ends with its line.
TEST(EscapeFilterTest, NothingSwallowsTheRest) {
  for (const Keep keep : {Keep::kText, Keep::kColours, Keep::kBytes}) {
    EXPECT_EQ(EscapeFilter(keep).Filter("a\x1b]0;title\nb\x1b[3\nc\x1b\nd"), "a\nb\nc\nd");
  }
}

}  // namespace
}  // namespace pa
