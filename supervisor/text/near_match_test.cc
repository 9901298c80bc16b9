#include "supervisor/text/near_match.h"

#include <gtest/gtest.h>

#include <random>

namespace pa {
namespace {

std::string Near(std::string_view text, std::string_view passage) {
  const auto near = FindNearMatch(text, passage);
  return near ? DescribeDifferences(*near, "`old`") : "none";
}

TEST(NearMatch, Blanks) {
  EXPECT_EQ(Near("a\n\treturn 0;\n", "  return 0;\n"),
            "blanks: line 2, column 1 has tab, `old` has 2 spaces");
  EXPECT_EQ(Near("f(a,b)", "f(a, b)"), "blanks: line 1, column 5 has nothing, `old` has space");
  EXPECT_EQ(Near("x  \ny\n", "x\ny"), "blanks: line 1, column 2 has 2 spaces, `old` has nothing");
  EXPECT_EQ(Near("x\xc2\xa0y", "x y"),
            "blanks: line 1, column 2 has no-break space, `old` has space");
  EXPECT_EQ(Near("x\xe3\x80\x80y", "x y"), "blanks: line 1, column 2 has U+3000, `old` has space");
  EXPECT_EQ(Near("if x:\n    y\n", "x:\n  y"),
            "blanks: line 2, column 1 has 4 spaces, `old` has 2 spaces");
  EXPECT_EQ(Near("a b", "b\t"), "blanks: line 1, column 4 has nothing, `old` has tab");
}

TEST(NearMatch, QuotesAndDashes) {
  EXPECT_EQ(Near("say \xe2\x80\x9chi\xe2\x80\x9d", "say \"hi\""),
            "quotes or dashes: line 1, column 5 has U+201C (\xe2\x80\x9c), `old` has U+0022 (\")");
  EXPECT_EQ(Near("don't", "don\xe2\x80\x99t"),
            "quotes or dashes: line 1, column 4 has U+0027 ('), `old` has U+2019 (\xe2\x80\x99)");
  EXPECT_EQ(Near("a \xe2\x80\x93 b", "a - b"),
            "quotes or dashes: line 1, column 3 has U+2013 (\xe2\x80\x93), `old` has U+002D (-)");
  EXPECT_EQ(Near("wait\xe2\x80\xa6 x", "wait... x"),
            "quotes or dashes: line 1, column 5 has U+2026 (\xe2\x80\xa6), `old` has 3 U+002E (.)");
}

TEST(NearMatch, LineEnds) {
  EXPECT_EQ(Near("a\rb\rc", "a\nb"),
            "line ends: line 1, column 2 has carriage return, `old` has line end");
  EXPECT_EQ(Near("a\r\r\nb\n", "a\n\nb"),
            "line ends: line 1, column 2 has carriage return, `old` has line end");
  EXPECT_EQ(Near("a\nb", "b\n"), "line ends: line 2, column 2 has nothing, `old` has line end");
  EXPECT_EQ(Near("a\xe2\x80\xa8"
                 "b",
                 "a\nb"),
            "line ends: line 1, column 2 has U+2028, `old` has line end");
  EXPECT_EQ(Near("a\r\nb\r\n", "a\nb\n"), "none") << "which is what edit replaces";
}

TEST(NearMatch, UnicodeForms) {
  EXPECT_EQ(Near("caf\xc3\xa9\n", "cafe\xcc\x81"),
            "Unicode forms: line 1, column 4 has U+00E9 (\xc3\xa9), `old` has U+0065 (e), U+0301");
  EXPECT_EQ(Near("\xe1\x84\x80\xe1\x85\xa1", "\xea\xb0\x80").substr(0, 13), "Unicode forms");
  EXPECT_EQ(Near("e\xcc\x81", "e"), "none") << "which is there exactly";
  EXPECT_EQ(Near("\xc3\xa9 x", "e x"), "none") << "half a letter";
  EXPECT_EQ(Near("\xc3\xa9 x", " \xcc\x81 x"), "none") << "the other half";
}

TEST(NearMatch, InvisibleCharacters) {
  EXPECT_EQ(Near("ab",
                 "a\xe2\x80\x8b"
                 "b"),
            "invisible characters: line 1, column 2 has nothing, `old` has U+200B");
}

TEST(NearMatch, TheFirstOfEachKind) {
  const auto near = FindNearMatch(
      "x\n\ta\tb \xe2\x80\x98"
      "c\xe2\x80\x99\n\ta\tb \xe2\x80\x98"
      "c\xe2\x80\x99\n",
      "  a b 'c'");
  ASSERT_TRUE(near);
  EXPECT_EQ(near->line, 2u);
  EXPECT_EQ(near->count, 2u);
  ASSERT_EQ(near->differences.size(), 2u);
  EXPECT_EQ(near->differences[0].in, "blanks");
  EXPECT_EQ(near->differences[0].column, 1u);
  EXPECT_EQ(near->differences[1].in, "quotes or dashes");
  EXPECT_EQ(near->differences[1].column, 6u);
}

TEST(NearMatch, OtherDifferencesAreNone) {
  EXPECT_EQ(Near("abc", "abd"), "none");
  EXPECT_EQ(Near("abc", "ABC"), "none");
  EXPECT_EQ(Near("a\n\nb", "a\nb"), "none") << "a line more";
  EXPECT_EQ(Near("abc", " "), "none");
  EXPECT_EQ(Near("", "a"), "none");
  EXPECT_EQ(Near("a b", "a b"), "none") << "it is there";
  EXPECT_EQ(Near(std::string(NearMatch::kMaxBytes, 'x') + "a b", "a  b"), "none");
  EXPECT_NE(Near(std::string(NearMatch::kMaxBytes - 9, 'x') + "a b", "a  b"), "none");
}

// Whatever both are: it answers, and an answer names a place in the text.
TEST(NearMatch, AnyBytes) {
  std::mt19937 random(3);
  const std::string_view pieces[] = {
      "a",   " ",           "\t",       "\n", "\r\n",     "\r",   "\xc2\xa0",     "'",
      "\"",  "-",           "\xc3\xa9", "e",  "\xcc\x81", "\xff", "\xe2\x80\x99", "\xe2\x80\xa6",
      "...", "\xe2\x80\x8b"};
  const auto text_of = [&](std::size_t most) {
    std::string text;
    for (std::size_t n = random() % most; n > 0; --n) text += pieces[random() % std::size(pieces)];
    return text;
  };
  int found = 0;
  for (int round = 0; round < 10'000; ++round) {
    const std::string text = text_of(12), passage = text_of(5);
    const auto near = FindNearMatch(text, passage);
    if (!near) continue;
    ++found;
    for (const NearDifference& one : near->differences) {
      EXPECT_NE(one.there, one.asked) << text << "|" << passage;
      EXPECT_GE(one.line, near->line);
    }
  }
  EXPECT_GT(found, 200);
}

}  // namespace
}  // namespace pa
