#include "supervisor/clients/jsonc.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace pa {
namespace {

using enum JsonDialect;

std::string ProblemOf(std::string_view text, JsonDialect dialect = kCommentsAndCommas) {
  const auto document = ReadJsonc(text, dialect);
  if (document) return "none";
  const LineAndColumn place = PlaceOf(text, document.error().at);
  return std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
         document.error().message;
}

TEST(Jsonc, ValuesAreFoundWhereTheyStand) {
  constexpr std::string_view kText =
      "// x\n{\"a\" : [1, {\"\\u0062\":true,},], /* y */ \"c\":\"\\\"\"}";
  const auto document = ReadJsonc(kText, kCommentsAndCommas);
  ASSERT_TRUE(document);
  const auto text = [&](const JsoncValue& value) {
    return kText.substr(value.begin, value.end - value.begin);
  };
  const JsoncMember* a = document->root.Find("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(text(a->value), "[1, {\"\\u0062\":true,},]");
  EXPECT_EQ(kText.substr(a->begin, 3), "\"a\"");
  EXPECT_EQ(kText[a->colon], ':');
  ASSERT_EQ(a->value.items.size(), 2u);
  EXPECT_TRUE(a->value.trailing_comma);
  const JsoncMember* b = a->value.items[1].Find("b");
  ASSERT_TRUE(b) << "a key is what it stands for";
  EXPECT_EQ(text(b->value), "true");
  EXPECT_EQ(text(document->root.Find("c")->value), "\"\\\"\"");
  EXPECT_EQ(document->root.Find("d"), nullptr);
  EXPECT_FALSE(document->root.trailing_comma);
  ASSERT_EQ(document->comments.size(), 2u);
  EXPECT_TRUE(document->HasComment(document->root));
  EXPECT_FALSE(document->HasComment(a->value));
  const std::string plain = PlainJson(kText, *document);
  EXPECT_EQ(plain.size(), kText.size());
  const Result<JsonValue> value = ParseJson(plain);
  ASSERT_TRUE(value) << value.error().Message();
  EXPECT_EQ(value->Dump(), R"({"a":[1,{"b":true}],"c":"\""})");
}

TEST(Jsonc, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(ProblemOf("{\n  \"a\": 1\n  \"b\": 2\n}"), "3:3: expected , or }");
  EXPECT_EQ(ProblemOf("{\"a\": 1"), "1:8: expected , or }");
  EXPECT_EQ(ProblemOf("[1 2]"), "1:4: expected , or ]");
  EXPECT_EQ(ProblemOf("{a: 1}"), "1:2: expected a key in double quotes, or }");
  EXPECT_EQ(ProblemOf("{,}"), "1:2: expected a key in double quotes, or }");
  EXPECT_EQ(ProblemOf("{\"a\" 1}"), "1:6: expected : after the key 'a'");
  EXPECT_EQ(ProblemOf("{\"a\": \"b\n\"}"),
            "1:9: expected no line end, tab or control character in a string");
  EXPECT_EQ(ProblemOf("{\"a\": \"b"), "1:7: expected a closing \" of this string");
  EXPECT_EQ(ProblemOf("\"\\"), "1:1: expected a closing \" of this string");
  EXPECT_EQ(ProblemOf("{} {}"), "1:4: expected the end of the file: a document is one value");
  EXPECT_EQ(ProblemOf("{/* a"), "1:2: expected */ after this comment");
  EXPECT_EQ(ProblemOf("{\"\xC3\xBC\": \"\xFF\"}"), "1:8: expected text in UTF-8");
  EXPECT_EQ(ProblemOf("{ // a\r }"), "1:7: expected lines that end in \\n or \\r\\n, not in \\r");
  EXPECT_EQ(ProblemOf("{}\r"), "1:3: expected lines that end in \\n or \\r\\n, not in \\r");
  EXPECT_EQ(ProblemOf("{ // a\r\n }"), "none");
  EXPECT_EQ(ProblemOf("{\"a\": \"\\x\"}"), "1:7: expected a string with the escapes of JSON");
  EXPECT_EQ(ProblemOf("{\"a\": \"\\udc00\"}"), "1:7: expected a string with the escapes of JSON");
  for (const char* value : {"", "01", "1.", ".5", "+1", "tru", "'a'", "NaN", "1e", "/", "<"}) {
    const std::string text = "{\"a\":" + std::string(value) + "}";
    EXPECT_TRUE(ProblemOf(text).starts_with("1:6: expected a value")) << text << ProblemOf(text);
  }
  EXPECT_TRUE(ProblemOf("").starts_with("1:1: expected a value"));
}

TEST(Jsonc, DuplicateKeysAreRefusedWhereTheSecondStands) {
  EXPECT_TRUE(ProblemOf("{\"a\": 1,\n \"\\u0061\": 2}").starts_with("2:2: expected 'a' once"));
  EXPECT_TRUE(ProblemOf("[{\"b\": {\"a\": 1, \"a\": 1}}]").starts_with("1:17: expected 'a' once"));
  EXPECT_EQ(ProblemOf("[{\"a\": 1}, {\"a\": 1}]"), "none");
}

TEST(Jsonc, ADialectHasWhatItsReaderTakes) {
  EXPECT_EQ(ProblemOf("{\"a\": 1 // x\n}", kComments), "none");
  EXPECT_TRUE(ProblemOf("{\"a\": 1 // x\n}", kPlain).starts_with("1:9: expected plain JSON"));
  EXPECT_EQ(ProblemOf("{\"a\": [1,]}", kCommentsAndCommas), "none");
  EXPECT_EQ(ProblemOf("{\"a\": [1,]}", kComments), "1:9: expected no comma before ]");
  EXPECT_EQ(ProblemOf("{\"a\": 1, }", kPlain), "1:8: expected no comma before }");
  EXPECT_EQ(ProblemOf("{\"a\": \"// no comment, no comma ,]\"}", kPlain), "none");
}

TEST(Jsonc, DepthIsBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(ProblemOf(nested(64)), "none");
  EXPECT_EQ(ProblemOf(nested(65)), "1:65: expected fewer than 65 values in each other");
  EXPECT_NE(ProblemOf(std::string(100'000, '[')), "none");
}

}  // namespace
}  // namespace pa
