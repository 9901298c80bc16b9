#include "supervisor/results/projection.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_view.h"

namespace pa {
namespace {

// Of a value and of a view of the same text, which give the same.
std::string Projected(std::string_view row, const std::vector<const char*>& fields) {
  std::vector<FieldPath> paths;
  for (const char* field : fields) paths.push_back(ParseFieldPath(field).value());
  const Projection projection(paths);
  JsonWriter of_value;
  projection.Write(ParseJson(row).value(), of_value);
  JsonReader reader;
  JsonWriter of_view;
  projection.Write(reader.Read(row).value(), of_view);
  const std::string written = std::move(of_value).Take();
  EXPECT_EQ(std::move(of_view).Take(), written);
  return written;
}

TEST(ProjectionTest, KeepsTheFieldsNestedAsTheyWere) {
  constexpr std::string_view kProjectedRow =
      R"({"id":1,"contact":{"email":"a","phone":"p"},"tags":["p","q","r"],)"
      R"("list":[{"a":1,"b":9},{"a":{"b":2}},{"c":3},4],"a.b":5})";
  EXPECT_EQ(Projected(kProjectedRow, {"id"}), R"({"id":1})");
  EXPECT_EQ(Projected(kProjectedRow, {"contact.email"}), R"({"contact":{"email":"a"}})");
  EXPECT_EQ(Projected(kProjectedRow, {"contact.email", "contact.phone"}),
            R"({"contact":{"email":"a","phone":"p"}})");
  EXPECT_EQ(Projected(kProjectedRow, {"contact.email", "contact"}),
            R"({"contact":{"email":"a","phone":"p"}})");
  EXPECT_EQ(Projected(kProjectedRow, {R"(["a.b"])"}), R"({"a.b":5})");
  EXPECT_EQ(Projected(kProjectedRow, {"tags[1]"}), R"({"tags":["q"]})") << "no null before it";
  EXPECT_EQ(Projected(kProjectedRow, {"tags[2]", "tags[0]"}), R"({"tags":["p","r"]})");
  EXPECT_EQ(Projected(kProjectedRow, {"list[*].a"}), R"({"list":[{"a":1},{"a":{"b":2}},{},{}]})");
  EXPECT_EQ(Projected(kProjectedRow, {"list[*].a", "list[0].b"}),
            R"({"list":[{"a":1,"b":9},{"a":{"b":2}},{},{}]})");
  EXPECT_EQ(Projected(kProjectedRow, {"list[3]"}), R"({"list":[4]})");
  EXPECT_EQ(Projected(kProjectedRow, {"."}), ParseJson(kProjectedRow).value().Dump());
}

TEST(ProjectionTest, WhatIsNotThereLeavesAnEmptyPlace) {
  EXPECT_EQ(Projected(R"({"a":1})", {"b"}), "{}");
  EXPECT_EQ(Projected(R"({"a":{"c":1}})", {"a.b"}), R"({"a":{}})");
  EXPECT_EQ(Projected(R"({"a":1})", {"a.b"}), "{}");
  EXPECT_EQ(Projected(R"({"a":[1]})", {"a[5]"}), R"({"a":[]})");
  EXPECT_EQ(Projected(R"({"a":null})", {"a"}), R"({"a":null})");
  EXPECT_EQ(Projected("[1]", {"a"}), "{}");
}

TEST(ProjectionTest, OfARowThatIsAList) {
  EXPECT_EQ(Projected(R"([{"id":1,"x":2},{"y":3}])", {"[*].id"}), R"([{"id":1},{}])");
  EXPECT_EQ(Projected(R"([1,2])", {"[1]"}), "[2]");
}

TEST(ProjectionTest, WhatIsNoObjectPassesUnchanged) {
  EXPECT_EQ(Projected("\"x\"", {"a"}), "\"x\"");
  EXPECT_EQ(Projected("7", {"a"}), "7");
  EXPECT_EQ(Projected("null", {"a"}), "null");
}

}  // namespace
}  // namespace pa
