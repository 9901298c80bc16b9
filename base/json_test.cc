#include "base/json.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(JsonValue, Kinds) {
  EXPECT_STREQ(JsonValue().KindName(), "null");
  EXPECT_STREQ(JsonValue::Bool(false).KindName(), "boolean");
  EXPECT_STREQ(JsonValue::Number("1").KindName(), "number");
  EXPECT_STREQ(JsonValue::String("").KindName(), "string");
  EXPECT_STREQ(JsonValue::Array({}).KindName(), "array");
  EXPECT_STREQ(JsonValue::Object({}).KindName(), "object");
  EXPECT_TRUE(JsonValue().IsNull());
  EXPECT_FALSE(JsonValue::Bool(false).IsNull());
}

TEST(JsonValue, IntegersAsJsonSchemaHasThem) {
  const struct {
    const char* token;
    std::optional<std::int64_t> value;
  } cases[] = {
      {"0", 0},
      {"-0", 0},
      {"0.0", 0},
      {"0e99999999999999999999", 0},
      {"7", 7},
      {"-7", -7},
      {"7.0", 7},
      {"7.000", 7},
      {"1e3", 1000},
      {"1E+3", 1000},
      {"1.25e2", 125},
      {"1200e-2", 12},
      {"10", 10},
      {"0.1e1", 1},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"922337203685477580.7e1", INT64_MAX},
      {"9223372036854775808", std::nullopt},
      {"-9223372036854775809", std::nullopt},
      {"123456789012345678901234567890", std::nullopt},
      {"1e19", std::nullopt},
      {"1e2147483647", std::nullopt},
      {"1e99999999999999999999", std::nullopt},
      {"1e-99999999999999999999", std::nullopt},
      {"7.5", std::nullopt},
      {"0.1", std::nullopt},
      {"1e-1", std::nullopt},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(JsonValue::Number(c.token).AsInteger(), c.value) << c.token;
  }
}

TEST(JsonValue, OnlyNumbersAreIntegers) {
  EXPECT_EQ(JsonValue::String("7").AsInteger(), std::nullopt);
  EXPECT_EQ(JsonValue::Bool(true).AsInteger(), std::nullopt);
  EXPECT_EQ(JsonValue().AsInteger(), std::nullopt);
}

TEST(JsonValue, Find) {
  const JsonValue object =
      JsonValue::Object({{"a", JsonValue::Number("1")}, {"", JsonValue::Bool(true)}});
  ASSERT_NE(object.Find("a"), nullptr);
  EXPECT_EQ(object.Find("a")->NumberToken(), "1");
  EXPECT_TRUE(object.Find("")->AsBool());
  EXPECT_EQ(object.Find("b"), nullptr);
  EXPECT_EQ(JsonValue::String("a").Find("a"), nullptr);
}

TEST(JsonValue, TakeMovesOut) {
  JsonValue object = JsonValue::Object({{"a", JsonValue::String("text")}});
  std::optional<JsonValue> taken = std::move(object).Take("a");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->AsString(), "text");
  EXPECT_EQ(JsonValue::Object({{"a", JsonValue()}}).Take("none"), std::nullopt);
  EXPECT_EQ(JsonValue::Array({}).Take("a"), std::nullopt);
}

TEST(JsonValue, DumpIsOneLineInOrder) {
  const JsonValue value = JsonValue::Object(
      {{"z", JsonValue::Array({JsonValue(), JsonValue::Bool(true), JsonValue::Number("1.50")})},
       {"a", JsonValue::String("x\ny")},
       {"o", JsonValue::Object({})}});
  EXPECT_EQ(value.Dump(), R"({"z":[null,true,1.50],"a":"x\ny","o":{}})");
}

TEST(JsonValueDeathTest, AskingForTheWrongKindIsOurOwnMistake) {
#ifdef NDEBUG
  GTEST_SKIP() << "asserts are compiled out";
#else
  EXPECT_DEATH(JsonValue::Bool(true).AsString(), "IsString");
#endif
}

}  // namespace
}  // namespace pa
