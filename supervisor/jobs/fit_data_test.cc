#include "supervisor/jobs/fit_data.h"

#include <gtest/gtest.h>

#include "tests/support/fake_calls.h"
#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using testing::ParsedJson;

JsonValue Text(std::size_t size, char c = 'x') { return JsonValue::String(std::string(size, c)); }

TEST(FitData, LeavesWhatFits) {
  const JsonValue data = ParsedJson(R"({"a":"x","b":[1,2,{"c":null}],"d":1.50})");
  const FittedData fitted = FitData(data, {.all = 1000, .text = 100}, "");
  EXPECT_FALSE(fitted.cut);
  EXPECT_EQ(fitted.json, data.Dump());
}

TEST(FitData, CutsLongTextsInTheirMiddle) {
  const std::string text = "head" + std::string(10'000, 'x') + "tail";
  const JsonValue data = JsonValue::Object({{"a", JsonValue::String(text)}, {"b", Text(50)}});
  const FittedData fitted = FitData(data, {.all = 24 << 10, .text = 4096}, "URI");
  EXPECT_TRUE(fitted.cut);
  const JsonValue cut = ParsedJson(fitted.json);
  const std::string& a = cut.Find("a")->AsString();
  EXPECT_TRUE(a.starts_with("headx") && a.ends_with("xtail")) << a;
  EXPECT_NE(a.find("[... 5912 bytes left out; all of it: URI ...]"), std::string::npos);
  EXPECT_EQ(cut.Find("b")->AsString(), std::string(50, 'x'));
}

TEST(FitData, CutsWhatIsTooMuchTogether) {
  std::vector<JsonValue::Member> members;
  for (int i = 0; i < 20; ++i) members.emplace_back("m" + std::to_string(i), Text(4000));
  const FittedData texts =
      FitData(JsonValue::Object(members), {.all = 24 << 10, .text = 4096}, "URI");
  EXPECT_LE(texts.json.size(), 24U << 10);
  EXPECT_EQ(ParsedJson(texts.json).Members().size(), 20u);
  std::vector<JsonValue> items(100'000, JsonValue::Number("1"));
  const JsonValue list = JsonValue::Object({{"list", JsonValue::Array(items)}, {"n", Text(3)}});
  const FittedData lists = FitData(list, {.all = 24 << 10, .text = 4096}, "URI");
  EXPECT_TRUE(lists.cut);
  EXPECT_EQ(ParsedJson(lists.json).Find("list")->Items().size(), 64u);
  EXPECT_EQ(ParsedJson(lists.json).Find("n")->AsString(), "xxx");
}

TEST(FitData, EndsHoweverTheDataIsMade) {
  std::vector<JsonValue::Member> members;
  for (int i = 0; i < 10'000; ++i) members.emplace_back("m" + std::to_string(i), Text(1));
  const FittedData fitted = FitData(JsonValue::Object(members), {.all = 1000, .text = 100}, "");
  EXPECT_TRUE(fitted.cut);
  EXPECT_EQ(fitted.json, "{}");
}

TEST(FitResult, KeepsAllOfIt) {
  FakeCalls calls;
  ToolResult result;
  result.data = JsonValue::Object({{"a", Text(30'000, 'y')}, {"b", Text(3)}}).Dump();
  const std::string all = result.data;
  FitResult(result, calls.outer(), 4096, "pipeline: all");
  EXPECT_LT(result.data.size(), 6000u);
  EXPECT_TRUE(result.truncated);
  const auto kept = calls.results().Read(result.result_uri);
  ASSERT_TRUE(kept && *kept);
  EXPECT_EQ(ParsedJson((*kept)->bytes).Dump(), all);
  EXPECT_EQ(result.links.at(0).size, (*kept)->bytes.size());
  ToolResult small;
  small.data = R"({"a":1})";
  FitResult(small, calls.outer(), 4096, "");
  EXPECT_EQ(small.data, R"({"a":1})");
  EXPECT_FALSE(small.truncated);
}

// It is not sent because it is too large to be cut.
TEST(FitResult, WhatIsTooLargeToBeReadIsKeptAndNotShown) {
  FakeCalls calls;
  ToolResult result;
  result.data = R"({"a":")" + std::string(65U << 20, 'y') + R"("})";
  FitResult(result, calls.outer(), 4096, "pipeline: all");
  EXPECT_EQ(result.data, "{}");
  EXPECT_TRUE(result.truncated);
  EXPECT_FALSE(result.warnings.empty());
}

}  // namespace
}  // namespace pa
