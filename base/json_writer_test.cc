#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"
#include "base/utf8.h"
#include "tests/support/sanitizers.h"

namespace pa {
namespace {

std::string WrittenString(std::string_view bytes) {
  JsonWriter writer;
  writer.String(bytes);
  return std::move(writer).Take();
}

TEST(JsonWriter, Structure) {
  JsonWriter writer;
  writer.BeginObject()
      .Key("id")
      .Raw("7")
      .Field("text", "a")
      .Field("flag", true)
      .Field("int", -1)
      .Field("wide", std::int64_t{INT64_MIN})
      .Field("unsigned", std::uint64_t{UINT64_MAX});
  writer.Key("list").BeginArray().Int(1).Null().BeginArray().EndArray().BeginObject().EndObject();
  writer.Uint(2).Bool(false).EndArray().Key("empty").BeginObject().EndObject().EndObject();
  EXPECT_EQ(std::move(writer).Take(),
            R"({"id":7,"text":"a","flag":true,"int":-1,"wide":-9223372036854775808,)"
            R"("unsigned":18446744073709551615,"list":[1,null,[],{},2,false],"empty":{}})");
}

TEST(JsonWriter, ScalarDocument) { EXPECT_EQ(WrittenString("a"), "\"a\""); }

TEST(JsonWriter, Escapes) {
  EXPECT_EQ(WrittenString(std::string_view("\"\\/\b\f\n\r\t\0\x1f\x7f", 11)),
            "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"");
}

TEST(JsonWriter, EveryByteAtEveryOffsetOfTheFastPath) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 20; ++at) {
      std::string text(20, ' ');
      text[at] = static_cast<char>(byte);
      const Result<JsonValue> back = ParseJson(WrittenString(text));
      ASSERT_TRUE(back.has_value()) << byte << " at " << at;
      EXPECT_EQ(back->AsString(), RepairUtf8(text));
    }
  }
}

TEST(JsonWriter, KeysAreEscapedToo) {
  JsonWriter writer;
  writer.BeginObject().Field("a\"\n\xFF", 1).EndObject();
  EXPECT_EQ(std::move(writer).Take(), "{\"a\\\"\\n\uFFFD\":1}");
}

TEST(JsonWriter, RepairsWhatIsNoUtf8) {
  EXPECT_EQ(WrittenString("a\xFFz\u00e9\xE2\x82"), "\"a\uFFFDz\u00e9\uFFFD\"");
}

TEST(JsonWriter, IsOneLineToEveryReader) {
  // U+0085, U+2028 and U+2029 end lines for Python's splitlines and JavaScript's readline.
  EXPECT_EQ(WrittenString("a\xC2\x85"
                          "b\xE2\x80\xA8"
                          "c\xE2\x80\xA9"
                          "d"),
            R"("a\u0085b\u2028c\u2029d")");
  EXPECT_EQ(WrittenString("\xC2\x84\xE2\x80\xA7"), "\"\xC2\x84\xE2\x80\xA7\"");
}

TEST(JsonWriter, WhateverIsWrittenParsesBackRepaired) {
  std::mt19937 random(20261121);
  for (std::size_t round = 0; round < testing::Volume(50'000); ++round) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes) {
      const auto bits = static_cast<unsigned char>(random());
      c = static_cast<char>(random() % 3 == 0 ? bits | 0x80 : bits & 0x7F);
    }
    const std::string json = WrittenString(bytes);
    const Result<JsonValue> value = ParseJson(json);
    ASSERT_TRUE(value) << json << value.error().Message();
    ASSERT_EQ(value->AsString(), RepairUtf8(bytes)) << json;
    ASSERT_EQ(json.find_first_of("\n\r"), std::string::npos);
  }
}

TEST(JsonWriter, ValueIsWrittenAsItWasRead) {
  const std::string json = R"({"a":[1,-2.50e+3,123456789012345678901234567890,null,true],)"
                           R"("b":{"c":"\"\\\u0001é"},"":[]})";
  JsonWriter writer;
  writer.Value(*ParseJson(json));
  EXPECT_EQ(std::move(writer).Take(), json);
}

TEST(JsonWriterDeathTest, AnOpenObjectIsOurOwnMistake) {
#ifdef NDEBUG
  GTEST_SKIP() << "asserts are compiled out";
#else
  JsonWriter writer;
  writer.BeginObject();
  EXPECT_DEATH(std::move(writer).Take(), "empty");
#endif
}

}  // namespace
}  // namespace pa
