#include "base/json_view.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "base/json_writer.h"

namespace pa {
namespace {

std::string WrittenView(const JsonView& view) {
  JsonWriter writer;
  writer.Value(view);
  return std::move(writer).Take();
}

TEST(JsonViewTest, HasWhatAValueHas) {
  JsonReader reader;
  const JsonView row =
      reader.Read(R"({"a": [1, {"b": "x\ny"}, [], "z"], "t": true, "f": false, "n": null})")
          .value();
  ASSERT_TRUE(row.IsObject());
  ASSERT_TRUE(row.Find("a"));
  const JsonView list = *row.Find("a");
  ASSERT_TRUE(list.IsArray());
  EXPECT_EQ(list.Items().size(), 4U);
  EXPECT_EQ(std::distance(list.Items().begin(), list.Items().end()), 4);
  auto item = list.Items().begin();
  EXPECT_EQ((*item++).NumberToken(), "1");
  EXPECT_EQ((*item).Find("b")->AsString(), "x\ny");
  EXPECT_EQ((*std::next(item, 2)).AsString(), "z") << "what is nested is passed over";
  EXPECT_TRUE(row.Find("t")->AsBool());
  EXPECT_FALSE(row.Find("f")->AsBool());
  EXPECT_TRUE(row.Find("n")->IsNull());
  EXPECT_FALSE(row.Find("b")) << "a member of a member";
  EXPECT_FALSE(list.Find("a"));
  std::string names;
  for (const auto& [name, value] : row.Members()) names += name;
  EXPECT_EQ(names, "atfn");
}

TEST(JsonViewTest, IsWrittenAndCopiedAsTheValueIs) {
  JsonReader reader;
  for (const char* text : {R"({"a":[1,{"b":"x\ny"},[],{}],"t":true,"":null,"e":1e3})", "[]", "7",
                           R"("\u00e9\ud83d\ude00")", "[[[[[\"x\"]]]],-0.5]"}) {
    const std::string value = ParseJson(text).value().Dump();
    EXPECT_EQ(WrittenView(reader.Read(text).value()), value);
    EXPECT_EQ(reader.Read(text).value().ToValue().Dump(), value);
  }
}

// A document leaves nothing behind that the next one shows, whichever of them is larger or refused.
TEST(JsonViewTest, OneReaderReadsManyDocuments) {
  JsonReader reader;
  const std::string large = R"({"k":")" + std::string(100000, 'x') + "\"}";
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(WrittenView(reader.Read("[1,2]").value()), "[1,2]");
    EXPECT_EQ(WrittenView(reader.Read(large).value()), large);
    EXPECT_FALSE(reader.Read(R"({"a":1,"a":2})"));
    EXPECT_FALSE(reader.Read("[1,2"));
    EXPECT_FALSE(reader.Read(""));
    EXPECT_EQ(WrittenView(reader.Read("[3]").value()), "[3]");
  }
}

TEST(JsonViewTest, RefusesWhatParseJsonRefuses) {
  JsonReader reader({.max_bytes = 100, .max_depth = 3, .max_values = 10});
  for (const char* text :
       {"[[[[1]]]]", "[1,1,1,1,1,1,1,1,1,1]", "tru", "01", R"(["\udc00"])", R"({"\udc00":1})",
        R"({"a":1,"b":{"c":1,"c":2}})", "1]", "[1],[2]", "\"\xFF\""}) {
    const auto view = reader.Read(text);
    const auto value = ParseJson(text, {.max_bytes = 100, .max_depth = 3, .max_values = 10});
    ASSERT_FALSE(view) << text;
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(view.error().Message(), value.error().Message());
  }
  EXPECT_FALSE(reader.Read(std::string(101, ' ')));
  EXPECT_TRUE(reader.Read("[[[1]]]")) << "as deep as may be";
  EXPECT_TRUE(reader.Read("[1,1,1,1,1,1,1,1,1]")) << "as many as may be";
}

// The two ways of looking for a key that stands twice.
TEST(JsonViewTest, AKeyThatStandsTwiceIsFoundAmongFewAndMany) {
  JsonReader reader;
  for (const int keys : {2, 16, 17, 300}) {
    std::string members;
    for (int i = 0; i < keys; ++i) members += "\"k" + std::to_string(i) + "\":0,";
    EXPECT_TRUE(reader.Read("{" + members + "\"other\":0}")) << keys;
    const auto twice = reader.Read("{" + members + "\"k1\":0}");
    ASSERT_FALSE(twice) << keys;
    EXPECT_TRUE(twice.error().Message().contains("duplicate key 'k1'"));
  }
}

}  // namespace
}  // namespace pa
