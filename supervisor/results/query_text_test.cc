#include "supervisor/results/query_text.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace pa {
namespace {

std::string ReadQuoted(std::string_view quoted) {
  QueryText text(quoted);
  const auto value = text.Quoted();
  if (!value) return value.error().Message();
  return text.AtEnd() ? *value : *value + " and a rest";
}

TEST(QueryTextTest, QuotedStringsHaveTheEscapesOfJson) {
  EXPECT_EQ(ReadQuoted(R"("a b")"), "a b");
  EXPECT_EQ(ReadQuoted(R"('say "hi"')"), R"(say "hi")");
  EXPECT_EQ(ReadQuoted(R"("\"\\\/\b\f\n\r\t\'")"), "\"\\/\b\f\n\r\t'");
  EXPECT_EQ(ReadQuoted(R"("\u00fc\u20AC")"), "ü€");
  EXPECT_EQ(ReadQuoted(R"("\ud83d\ude00")"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(ReadQuoted("\"a\tb\""), "a\tb");
  EXPECT_EQ(ReadQuoted(R"("")"), "");
  EXPECT_EQ(ReadQuoted(R"("a"b)"), "a and a rest");
}

TEST(QueryTextTest, WhatIsNoStringIsAnErrorAtItsPlace) {
  EXPECT_EQ(ReadQuoted("\"a"), "column 1: quote not closed");
  EXPECT_EQ(ReadQuoted("\"a\\"),
            R"(column 3: no such escape: \\ \" \' \/ \b \f \n \r \t \uXXXX expected)");
  EXPECT_EQ(ReadQuoted(R"("ü\x")"),
            R"(column 3: no such escape: \\ \" \' \/ \b \f \n \r \t \uXXXX expected)");
  EXPECT_EQ(ReadQuoted("\"a\nb\""), "column 3: control character: write it as an escape");
  EXPECT_EQ(ReadQuoted(R"("\ude00")"), "column 2: half a surrogate pair is no character");
  EXPECT_EQ(ReadQuoted(R"("\ud83dx")"), "column 2: half a surrogate pair is no character");
  EXPECT_EQ(ReadQuoted(R"("\ud83d\u0041")"), "column 2: half a surrogate pair is no character");
  EXPECT_EQ(ReadQuoted(R"("\u00g0")"), "column 4: four hexadecimal digits expected");
  EXPECT_EQ(ReadQuoted(R"("\u+123")"), "column 4: four hexadecimal digits expected");
  EXPECT_EQ(ReadQuoted(R"("\u12)"), "column 4: four hexadecimal digits expected");
}

TEST(QueryTextTest, WhatIsQuotedIsReadBack) {
  for (unsigned point = 0; point < 0x300; ++point) {
    std::string text = "a";
    AppendUtf8(point, text);
    EXPECT_EQ(ReadQuoted(QuoteForQuery(text)), text) << point;
  }
}

}  // namespace
}  // namespace pa
