#include "supervisor/results/result_order.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

ResultOrder ReadOrder(std::string_view text) {
  return ReadResultOrder(ParseJson(text).value()).value();
}

// `result.filter: column 3: ...`
std::string ProblemWith(std::string_view text) {
  const auto order = ReadResultOrder(ParseJson(text).value());
  return order ? "none" : order.error().member + ": " + order.error().message;
}

TEST(ResultOrderTest, EveryMember) {
  const ResultOrder order = ReadOrder(
      R"({"fields":["a.b","c"],"return_mode":"file","items":"json.x","limit":3,"filter":"a = 1"})");
  EXPECT_EQ(order.items->Print(), "json.x");
  EXPECT_EQ(order.filter->Print(), "a = 1");
  EXPECT_EQ(order.limit, 3U);
  ASSERT_EQ(order.fields.size(), 2U);
  EXPECT_EQ(order.fields[0].Print(), "a.b");
  EXPECT_EQ(order.mode, ReturnMode::kFile);
}

TEST(ResultOrderTest, NullIsAbsent) {
  for (const char* text :
       {"null", "{}",
        R"({"items":null,"filter":null,"limit":null,"fields":null,"return_mode":null})"}) {
    const ResultOrder order = ReadOrder(text);
    EXPECT_FALSE(order.items || order.filter || order.limit || !order.fields.empty()) << text;
    EXPECT_EQ(order.mode, ReturnMode::kInline);
  }
}

TEST(ResultOrderTest, LimitsAreRoundedDownAndAtLeastNone) {
  const auto limit = [](std::string_view number) {
    return ReadOrder(R"({"limit":)" + std::string(number) + "}").limit;
  };
  EXPECT_EQ(limit("2.9"), 2U);
  EXPECT_EQ(limit("\"2\""), 2U);
  EXPECT_EQ(limit("-3"), 0U);
  EXPECT_EQ(limit("0.5"), 0U);
  EXPECT_EQ(limit("1e300"), std::uint64_t{1'000'000'000'000'000});
  EXPECT_EQ(ProblemWith(R"({"limit":"two"})"), "result.limit: expected a number, got string");
  EXPECT_EQ(ProblemWith(R"({"limit":true})"), "result.limit: expected a number, got boolean");
}

TEST(ResultOrderTest, OtherWordsForTheSame) {
  EXPECT_EQ(ReadOrder(R"({"return_mode":"full"})").mode, ReturnMode::kInline);
  EXPECT_EQ(ReadOrder(R"({"fields":"a"})").fields.size(), 1U);
}

TEST(ResultOrderTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(ProblemWith("[]"), "result: expected an object, got array");
  EXPECT_EQ(ProblemWith(R"({"project":["a"]})"),
            "result.project: there is no such member - did you mean 'fields'?");
  EXPECT_EQ(ProblemWith(R"({"mode":"file"})"),
            "result.mode: there is no such member - did you mean 'return_mode'?");
  EXPECT_EQ(ProblemWith(R"({"filtr":"a = 1"})"),
            "result.filtr: there is no such member - did you mean 'filter'?");
  EXPECT_EQ(ProblemWith(R"({"xyzzy":1})"), "result.xyzzy: there is no such member");
  EXPECT_EQ(ProblemWith(R"({"filter":7})"), "result.filter: expected a string, got number");
  EXPECT_EQ(ProblemWith(R"({"filter":""})"),
            "result.filter: column 1: empty filter: leave `filter` out");
  EXPECT_EQ(ProblemWith(R"({"fields":[]})"),
            "result.fields: the array is empty: leave it out to get all fields");
  EXPECT_EQ(ProblemWith(R"({"fields":["a","b..c"]})"),
            "result.fields[1]: column 3: field name expected");
  EXPECT_EQ(ProblemWith(R"({"fields":[1]})"), "result.fields[0]: expected a string, got number");
  EXPECT_EQ(ProblemWith(R"({"items":"[x]"})"),
            R"(result.items: column 1: [0], [*] or ["name"] expected)");
  EXPECT_EQ(ProblemWith(R"({"return_mode":"sumary"})"),
            "result.return_mode: expected 'inline', 'summary' or 'file', got 'sumary' - did you "
            "mean 'summary'?");
}

TEST(ResultOrderTest, TheAdviceShowsThePlace) {
  const auto order = ReadResultOrder(ParseJson(R"({"filter":"n => 3"})").value());
  ASSERT_FALSE(order);
  EXPECT_TRUE(order.error().advice.starts_with("n => 3\n  ^\nA filter is `field OPERATOR value`"))
      << order.error().advice;
}

TEST(ResultOrder, SoManyFieldsAtMost) {
  std::string fields;
  for (int i = 0; i < 100; ++i) fields += R"(,"f)" + std::to_string(i) + '"';
  const auto read = [](const std::string& all) {
    return ReadResultOrder(ParseJson(R"({"fields":[)" + all.substr(1) + "]}").value());
  };
  EXPECT_EQ(read(fields)->fields.size(), 100u);
  EXPECT_EQ(read(fields + R"(,"x")").error().message, "101 fields; at most 100 are taken");
}

}  // namespace
}  // namespace pa
