#include <gtest/gtest.h>

#include <random>

#include "base/json.h"
#include "tests/support/json.h"
#include "tests/support/sanitizers.h"

namespace pa {
namespace {

std::string Problem(std::string_view text, const JsonLimits& limits = {}) {
  const Result<JsonValue> value = ParseJson(text, limits);
  return value ? "" : value.error().subject;
}

TEST(ParseJson, KeepsNumbersAsWritten) {
  for (const char* token : {"0", "-0", "7", "1e3", "1E+3", "-0.5e-7", "1.50", "9007199254740993",
                            "123456789012345678901234567890", "1e999", "1e-999"}) {
    const Result<JsonValue> value = ParseJson(token);
    ASSERT_TRUE(value) << token;
    EXPECT_EQ(value->NumberToken(), token);
    EXPECT_EQ(ParseJson("[ " + std::string(token) + "\t]")->Items()[0].NumberToken(), token);
  }
}

TEST(ParseJson, Strings) {
  const Result<JsonValue> value =
      ParseJson(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\uD83D\uDE00 \u0000 é€😀")");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->AsString(), std::string("\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600 ") + '\0' +
                                   " \u00e9\u20ac\U0001F600");
}

TEST(ParseJson, Structure) {
  const Result<JsonValue> value =
      ParseJson(" { \"a\" : [ 1 , { } , [ ] , true , false , null ] , \"\" : \"x\" } \r\n");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->Dump(), R"({"a":[1,{},[],true,false,null],"":"x"})");
}

TEST(ParseJson, Scalars) {
  EXPECT_TRUE(ParseJson("null")->IsNull());
  EXPECT_TRUE(ParseJson(" true ")->AsBool());
  EXPECT_EQ(ParseJson("\"\"")->AsString(), "");
}

TEST(ParseJson, Refused) {
  using std::string_view_literals::operator""sv;
  const std::string_view texts[] = {"",
                                    " ",
                                    "\n",
                                    "nul",
                                    "nulll",
                                    "True",
                                    "NaN",
                                    "Infinity",
                                    "undefined",
                                    "'a'",
                                    "a",
                                    "01",
                                    "-",
                                    "+1",
                                    "1.",
                                    ".5",
                                    "1e",
                                    "1e+",
                                    "0x1",
                                    "1_000",
                                    "--1",
                                    "1.2.3",
                                    "-01",
                                    "1 2",
                                    "1,2",
                                    "[",
                                    "]",
                                    "[1",
                                    "1]",
                                    "[1,]",
                                    "[,1]",
                                    "[1 2]",
                                    "[1,,2]",
                                    "[}",
                                    "[1}",
                                    "[[1]",
                                    "[1]]",
                                    "][",
                                    "1],[2",
                                    "[1],[2]",
                                    "{",
                                    "}",
                                    "{]",
                                    "{\"a\"}",
                                    "{\"a\":}",
                                    "{\"a\":1,}",
                                    "{,}",
                                    "{a:1}",
                                    "{1:2}",
                                    "{\"a\" 1}",
                                    "{\"a\":1 \"b\":2}",
                                    "{\"a\":1]",
                                    "{\"a\":1}}",
                                    "{\"a\":1}{",
                                    "{}{}",
                                    "{} x",
                                    "{\"a\":1:2}",
                                    "[\"a\":1]",
                                    ":",
                                    ",",
                                    "[:]",
                                    "{:}",
                                    "\"",
                                    "\"a",
                                    "\"a\"b",
                                    "\"a\"\"b\"",
                                    "1\"a\"",
                                    "\"\\x\"",
                                    "\"\\u12\"",
                                    "\"\\u12G4\"",
                                    "\"\\\"",
                                    "\"a\nb\"",
                                    "\"\t\"",
                                    "\"\0\""sv,
                                    "\"\\ud800\"",
                                    "\"\\udc00\"",
                                    "\"\\ud800\\u0041\"",
                                    "\"\\ud800x\"",
                                    "\"\\udc00\\ud800\"",
                                    "{\"\\udc00\":1}",
                                    "\xFF",
                                    "\"\xFF\"",
                                    "\"\xC0\xAF\"",
                                    "\"\xED\xA0\x80\"",
                                    "\"\xF5\x80\x80\x80\"",
                                    "// c\n1",
                                    "/* */1",
                                    "1\x0B",
                                    "[1]\x0C",
                                    "\xC2\xA0"
                                    "1"};
  for (std::string_view text : texts) {
    EXPECT_FALSE(ParseJson(text)) << text;
    EXPECT_FALSE(testing::Json::accept(text)) << "valid after all: " << text;
  }
}

// Which the other parser takes for the end of input or skips.
TEST(ParseJson, NulAndByteOrderMark) {
  using std::string_view_literals::operator""sv;
  for (std::string_view text : {"{}\0"sv, "1\0"sv, "\0"sv, "\0{}"sv, "\xEF\xBB\xBF{}"sv}) {
    EXPECT_FALSE(ParseJson(text)) << text;
  }
}

TEST(ParseJson, DuplicateKeys) {
  EXPECT_NE(Problem(R"({"a":1,"b":2,"a":3})").find("duplicate key 'a'"), std::string::npos);
  EXPECT_NE(Problem(R"([{"x":{"a":1,"\u0061":3}}])").find("duplicate key 'a'"), std::string::npos);
  EXPECT_EQ(Problem(R"({"a":{"a":1},"b":{"a":1},"A":1})"), "");
}

TEST(ParseJson, ManyKeysOfOneObjectAreFast) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(Problem(text + "\"x\":0}"), "");
  EXPECT_NE(Problem(text + "\"7\":0}").find("duplicate key '7'"), std::string::npos);
}

TEST(ParseJson, Depth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(Problem(nested(64)), "");
  EXPECT_NE(Problem(nested(65)).find("nested deeper than 64"), std::string::npos);
  EXPECT_NE(Problem(nested(1'000'000)).find("nested deeper"), std::string::npos);
  EXPECT_FALSE(ParseJson(std::string(1'000'000, '[')));
  EXPECT_EQ(Problem("[{\"a\":1}]", {.max_depth = 2}), "");
  EXPECT_NE(Problem("[{\"a\":[]}]", {.max_depth = 2}).find("deeper than 2"), std::string::npos);
}

TEST(ParseJson, Bytes) {
  EXPECT_EQ(Problem("[1,2]", {.max_bytes = 5}), "");
  EXPECT_EQ(Problem("[1,2]", {.max_bytes = 4}), "longer than 4 bytes");
}

TEST(ParseJson, Values) {
  EXPECT_EQ(Problem("[1,[2]]", {.max_values = 4}), "");
  EXPECT_NE(Problem("[1,[2]]", {.max_values = 3}).find("more than 3 values"), std::string::npos);
}

TEST(ParseJson, SaysWhere) {
  EXPECT_EQ(Problem("[1, nul]"), "no JSON value at byte 4");
  EXPECT_EQ(Problem("[true, 01]"), "no JSON value at byte 7");
  EXPECT_EQ(Problem("1],[2"), "trailing bytes at byte 2");
  EXPECT_TRUE(Problem("{\"a\":1,}").ends_with(" at byte 7"));
}

TEST(ParseJson, TenMegabytes) {
  const std::string text(10 << 20, 'x');
  const Result<JsonValue> value = ParseJson("{\"a\":\"" + text + "\"}");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->Find("a")->AsString(), text);
}

// What another parser says of the same text. Duplicate keys and lone surrogates apart, which only
// we refuse; those cannot arise from the mutations' seeds in a way that matters here.
TEST(ParseJson, AgreesWithAnotherParserOnMutations) {
  const std::string seeds[] = {
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call",)"
      R"("params":{"name":"make","x":[1,-2.5e3,null]}})",
      R"([[],{},"",0,true,false,null,{"a":[{"b":"\u00e9\n"}]}])",
      R"("a\"b\\c")",
      R"(-12.5e+3)",
  };
  constexpr std::string_view kAlphabet = "{}[]:,\"\\ 0123.eE+-tfn\nau";
  std::mt19937 random(20261121);
  constexpr std::size_t kRounds = testing::Volume(30'000);
  std::size_t valid = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::string text = seeds[random() % std::size(seeds)];
    for (auto edits = 1 + random() % 3; edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random() % text.size();
      const char c = kAlphabet[random() % kAlphabet.size()];
      switch (random() % 3) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        default:
          text.erase(at, 1);
      }
    }
    const bool ours = ParseJson(text).has_value();
    valid += ours ? 1 : 0;
    if (Problem(text).starts_with("duplicate key")) continue;
    ASSERT_EQ(ours, testing::Json::accept(text)) << text << "\n" << Problem(text);
  }
  EXPECT_GT(valid, kRounds / 30);
}

}  // namespace
}  // namespace pa
