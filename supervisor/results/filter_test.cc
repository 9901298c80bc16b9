#include "supervisor/results/filter.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json_view.h"
#include "tests/support/sanitizers.h"

namespace pa {
namespace {

JsonValue ParsedRow(std::string_view text) { return ParseJson(text).value(); }

constexpr std::string_view kFilteredRow =
    R"({"id": 1, "status": "in progress", "name": "O'Brien", "n": 30, "s": "30",)"
    R"( "big": 9007199254740993, "z": 0, "ok": true, "nul": null, "tags": ["vip", "a b"],)"
    R"( "nums": [1, 2], "url": "http://h/?a=b", "a.b": 1, "content-type": "x",)"
    R"( "contact": {"email": "a@x.io"}, "list": [{"k": 1}, {"k": 2}], "when": "2026-01-02",)"
    R"( "html": "<b>", "u": "Zürich", "empty": "", "q": "say \"hi\"", "p": "C:\\x",)"
    R"( "code": "0x10", "ver": "10"})";

// "match", "no match" or "error col 5: number out of range".
std::string OutcomeOf(std::string_view filter, const JsonValue& row) {
  const auto parsed = ParseFilter(filter);
  if (!parsed) {
    return "error col " + std::to_string(parsed.error().column) + ": " + parsed.error().message;
  }
  // A view of the row's text gives the same.
  JsonReader reader;
  const bool matches = parsed->Matches(row);
  EXPECT_EQ(parsed->Matches(reader.Read(row.Dump()).value()), matches) << filter;
  return matches ? "match" : "no match";
}

TEST(FilterTest, OnARow) {
  constexpr std::pair<const char*, const char*> kVectors[] = {
      {"status = in progress", "match"},
      {R"(status = "in progress")", "match"},
      {"status = In Progress", "no match"},
      {"url CONTAINS a=b", "match"},
      {R"(name = "O'Brien")", "match"},
      {R"(q CONTAINS "\"hi\"")", "match"},
      {"n = 30", "match"},
      {"n = 30.0", "match"},
      {"n = 3e1", "match"},
      {R"(s = "30")", "match"},
      {"s = 30", "match"},
      {"s = 30.0", "no match"},
      {R"(n = "30")", "no match"},
      {"n = 30abc", "no match"},
      {"n > 9", "match"},
      {"n >= 30", "match"},
      {"n <= 29.5", "no match"},
      {R"(ver > "9")", "no match"},
      {"ver > 9", "match"},
      {"z = -0", "match"},
      {"n = +30", "no match"},
      {"big = 9007199254740993", "match"},
      {"big = 9007199254740992", "no match"},
      {"big > 9007199254740992.0", "match"},
      {"n = 1e999", "error col 5: number out of range"},
      {"n > 1e-999", "match"},
      {"ok = TRUE", "match"},
      {"ok != banana", "match"},
      {"ok > false", "error col 6: false has no order; quote the value if it is text"},
      {"missing = null", "no match"},
      {"nul = null", "match"},
      {"nul != x", "no match"},
      {"missing != x", "no match"},
      {"missing IS_NULL", "match"},
      {"nul is_null", "match"},
      {"n IS_NOT_NULL", "match"},
      {"nul IS_NOT_NULL", "no match"},
      {"nIS_NULL", "error col 9: operator expected"},
      {"tags CONTAINS vip", "match"},
      {"tags CONTAINS vi", "no match"},
      {"tags[*] CONTAINS vi", "match"},
      {"tags[*] = vip", "match"},
      {"tags[*] != vip", "no match"},
      {"tags = vip", "no match"},
      {"nums CONTAINS 2", "match"},
      {"nums CONTAINS \"2\"", "no match"},
      {"tags[-1] = vip", R"(error col 5: [0], [*] or ["name"] expected)"},
      {"list[*].k > 1", "match"},
      {"list[*].k > 2", "no match"},
      {"list CONTAINS 1", "no match"},
      {"contact CONTAINS object", "no match"},
      {"contact.email STARTS_WITH a@", "match"},
      {"contact.email STARTS_WITH A@", "no match"},
      {"a.b = 1", "no match"},
      {R"(["a.b"] = 1)", "match"},
      {"content-type = x", "match"},
      {"html = <b>", "match"},
      {"when > 2026-01-01", "match"},
      {"u STARTS_WITH Zü", "match"},
      {R"(empty = "")", "match"},
      {"empty IS_NULL", "no match"},
      {"empty =", R"(error col 8: value expected; an empty string is "")"},
      {"n => 3", "error col 3: no operator =>"},
      {"n <> 3", "error col 3: no operator <>"},
      {"status == active", "error col 8: no operator =="},
      {"status = a AND n > 3", "error col 12: one condition only; quote the value if it is text"},
      {"status = active AND age > 18",
       "error col 17: one condition only; quote the value if it is text"},
      {R"(status = "a" || n > 3)",
       "error col 14: one condition only; quote the value if it is text"},
      {R"(status = "a AND b")", "no match"},
      {"status = rock and roll", "no match"},
      {R"(status = "a" b)", "error col 14: nothing may follow the quoted value"},
      {"phone IS_NULL trailing", "error col 15: nothing may follow IS_NULL"},
      {"phone IS_NULL OR n > 3", "error col 15: one condition only; quote the value if it is text"},
      {"= 3", "error col 1: field name expected"},
      {"CONTAINS x", "error col 10: no operator x"},
      {"  ", "error col 1: empty filter: leave `filter` out"},
      {"", "error col 1: empty filter: leave `filter` out"},
      {R"(status = "a)", "error col 10: quote not closed"},
      {"ok CONTAINS t", "no match"},
      {"s CONTAINS 3", "match"},
      {"list[x] = 1", R"(error col 5: [0], [*] or ["name"] expected)"},
      {"tags.length = 2", "no match"},
      {"code = 0x10", "match"},
      {"\tn\t=\t30 ", "match"},
      {"n\u00a0= 30", "error col 2: operator expected"},
  };
  const JsonValue row = ParsedRow(kFilteredRow);
  for (const auto& [filter, outcome] : kVectors)
    EXPECT_EQ(OutcomeOf(filter, row), outcome) << filter;
  EXPECT_EQ(OutcomeOf(". = x", ParsedRow("\"x\"")), "match");
  EXPECT_EQ(OutcomeOf(". > 9", ParsedRow("\"10\"")), "match");
  EXPECT_EQ(OutcomeOf(". > 9", ParsedRow("\"10x\"")), "no match");
  EXPECT_EQ(OutcomeOf(". IS_NULL", ParsedRow("null")), "match");
  EXPECT_EQ(OutcomeOf("[0] = 1", ParsedRow("[1]")), "match");
  EXPECT_FALSE(ParseFilter("n = " + std::string(kMaxQueryBytes, 'x')));
}

// Of rows of all shapes, where other programs guess.
TEST(FilterTest, OnRowsOfAllShapes) {
  const std::vector<JsonValue> rows =
      ParsedRow(
          R"([{"name":"Ann","status":"active","age":30,"phone":null,"tags":["vip"],"ok":true,)"
          R"("contact":{"email":"a@x.io"}},{"name":"bob","status":"Active","age":18,)"
          R"("ok":false},{"name":"Zed","status":"inactive","age":"40","tags":"vip"},)"
          R"("text",7,null,{}])")
          .Items();
  const auto matches = [&](const char* filter) {
    std::string found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (ParseFilter(filter).value().Matches(rows[i])) found += std::to_string(i);
    }
    return found;
  };
  EXPECT_EQ(matches("status = active"), "0");
  EXPECT_EQ(matches("status != active"), "12");
  EXPECT_EQ(matches("age >= 18"), "012");
  EXPECT_EQ(matches("age <= 18"), "1");
  EXPECT_EQ(matches("name CONTAINS n"), "0");
  EXPECT_EQ(matches("tags = vip"), "2");
  EXPECT_EQ(matches("ok != true"), "1");
  EXPECT_EQ(matches("phone IS_NULL"), "0123456");
  EXPECT_EQ(matches("missing CONTAINS def"), "");
  EXPECT_EQ(matches("name > M"), "12");
  EXPECT_EQ(matches(". IS_NOT_NULL"), "012346");
}

TEST(FilterTest, OfALineOfText) {
  const auto matches = [](const char* filter, std::string_view line) {
    return ParseFilter(filter).value().MatchesLine(line);
  };
  EXPECT_TRUE(matches(". CONTAINS error:", "a.c:1: error: x"));
  EXPECT_TRUE(matches(". CONTAINS 404", "GET 404"));
  EXPECT_TRUE(matches(". STARTS_WITH FAIL", "FAIL t"));
  EXPECT_FALSE(matches(". != x", "x"));
  EXPECT_TRUE(matches(". != x", "y"));
  EXPECT_TRUE(matches(". > 9", "10"));
  EXPECT_TRUE(matches(". IS_NOT_NULL", ""));
  EXPECT_FALSE(matches(". IS_NULL", ""));
  EXPECT_TRUE(matches("a IS_NULL", "x"));
  EXPECT_FALSE(matches("a = x", "x"));
  // A line is a string, whatever stands in it.
  const JsonValue line = JsonValue::String("30");
  for (const char* filter :
       {". = 30", ". != 30", ". > 9", ". CONTAINS 3", ". STARTS_WITH 3", ". IS_NULL",
        ". IS_NOT_NULL", "a = 1", "a != 1", "a IS_NULL", "[0] IS_NOT_NULL", ". = true"}) {
    EXPECT_EQ(matches(filter, "30"), ParseFilter(filter).value().Matches(line)) << filter;
  }
}

TEST(FilterTest, Numbers) {
  const auto order = [](const char* left, const char* right) {
    return CompareNumbers(ParseJsonNumber(left).value(), ParseJsonNumber(right).value());
  };
  EXPECT_TRUE(order("-1", "18446744073709551615") < 0);
  EXPECT_TRUE(order("18446744073709551615", "18446744073709551614") > 0);
  EXPECT_TRUE(order("9223372036854775807", "9223372036854775808") < 0);
  EXPECT_TRUE(order("9007199254740993", "9007199254740993.0") > 0) << "a double has no such value";
  EXPECT_TRUE(order("18446744073709551616", "18446744073709551615") > 0);
  EXPECT_TRUE(order("1e3", "1000") == 0);
  EXPECT_TRUE(order("-0.0", "0") == 0);
  const std::string zeros(400, '0');
  for (const std::string& tiny : {std::string("1e-999"), std::string("-1e-99999999999999999999"),
                                  "0." + zeros + "1", "1" + zeros + "e-900"}) {
    EXPECT_EQ(ParseJsonNumber(tiny), JsonNumber(0.0)) << tiny;
  }
  for (const std::string& large : {"1" + zeros, "1" + zeros + "e-1", "0." + zeros + "1e900",
                                   std::string("1e99999999999999999999")}) {
    EXPECT_FALSE(ParseJsonNumber(large)) << large;
  }
  for (const char* none : {"", "-", "007", "+1", ".5", "1.", "1e", "0x10", "NaN", "Infinity", "1_0",
                           " 1", "1 ", "1e999", "-1e999"}) {
    EXPECT_FALSE(ParseJsonNumber(none)) << none;
  }
}

TEST(FilterTest, TheCanonicalForm) {
  constexpr std::pair<const char*, const char*> kPrinted[] = {
      {"a=b", R"(a = "b")"},          {"a  contains  'x y' ", R"(a CONTAINS "x y")"},
      {"['a'] is_null", "a IS_NULL"}, {"a >= 1.50", "a >= 1.50"},
      {"a = True", "a = True"},       {". != null", ". != null"},
      {"a = \"1\"", R"(a = "1")"},
  };
  for (const auto& [text, printed] : kPrinted) {
    EXPECT_EQ(ParseFilter(text).value().Print(), printed) << text;
  }
}

// Whatever parses is printed so that it parses to the same; from pieces that belong together and
// from such as do not.
TEST(FilterTest, WhatIsPrintedIsReadBack) {
  constexpr std::string_view kPieces[] = {
      "a",       "b.c",         "[0]",     "[*]", "[\"x y\"]", ".",  " ",        "  ",
      "=",       "!=",          ">",       "<=",  "<",         ">=", "CONTAINS", "starts_with",
      "IS_NULL", "is_not_null", "\"t\"",   "'u'", "1",         "-0", "1e3",      "true",
      "null",    "text",        "\\u00e9", "é",   "AND",       "\t"};
  std::mt19937 random(11);
  constexpr std::size_t kRounds = testing::Volume(200'000);
  std::size_t parsed_all = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::string text;
    for (std::size_t pieces = 2 + random() % 6; pieces > 0; --pieces) {
      text += kPieces[random() % std::size(kPieces)];
    }
    const auto parsed = ParseFilter(text);
    if (!parsed) {
      EXPECT_LE(parsed.error().column, text.size() + 1) << text;
      continue;
    }
    ++parsed_all;
    const std::string printed = parsed->Print();
    const auto again = ParseFilter(printed);
    ASSERT_TRUE(again) << text << " -> " << printed << ' ' << again.error().Message();
    EXPECT_EQ(*again, *parsed) << text << " -> " << printed;
    EXPECT_EQ(again->Print(), printed);
  }
  EXPECT_GT(parsed_all, kRounds / 200);
}

}  // namespace
}  // namespace pa
