#include "supervisor/results/row_query.h"

#include <gtest/gtest.h>

#include "base/json_view.h"

namespace pa {
namespace {

constexpr std::string_view kQueriedRows =
    R"([{"id":1,"tags":["a"],"n":1},{"id":2,"tags":["b"],"n":"2"},{"id":3,"tags":["a","b"]}])";

struct AppliedOrder {
  std::string rows;
  RowCounts counts;
  std::vector<std::string> stages;
  std::string warning;
};

AppliedOrder ApplyOrder(const ResultOrder& order, std::string_view rows = kQueriedRows) {
  RowQuery query(order);
  JsonReader reader;
  const JsonView all = reader.Read(rows).value();
  JsonWriter kept;
  kept.BeginArray();
  for (const JsonView& row : all.Items()) {
    if (query.Accepts(row)) query.Write(row, kept);
  }
  kept.EndArray();
  return {.rows = std::move(kept).Take(),
          .counts = query.counts(),
          .stages = query.Transformations(),
          .warning = query.Warning()};
}

using Stages = std::vector<std::string>;

TEST(RowQueryTest, FilterThenLimitThenFields) {
  ResultOrder order;
  order.filter = ParseFilter("tags CONTAINS a").value();
  order.limit = 1;
  order.fields = {ParseFieldPath("id").value()};
  order.mode = ReturnMode::kSummary;
  const AppliedOrder applied = ApplyOrder(order);
  EXPECT_EQ(applied.rows, R"([{"id":1}])");
  EXPECT_EQ(applied.counts.total, 3U);
  EXPECT_EQ(applied.counts.matched, 2U);
  EXPECT_EQ(applied.counts.returned, 1U);
  EXPECT_EQ(applied.stages,
            (Stages{"filter: 3 -> 2", "limit: 2 -> 1", "fields: id", "return_mode: summary"}));
  EXPECT_EQ(applied.warning, "");
}

TEST(RowQueryTest, WhatIsNotAskedForIsNotDone) {
  const AppliedOrder applied = ApplyOrder({});
  EXPECT_EQ(applied.rows, ParseJson(kQueriedRows).value().Dump());
  EXPECT_EQ(applied.stages, Stages{});
  EXPECT_EQ(applied.warning, "");
  ResultOrder none;
  none.limit = 0;
  EXPECT_EQ(ApplyOrder(none).rows, "[]");
  EXPECT_EQ(ApplyOrder(none).stages, Stages{"limit: 3 -> 0"});
}

TEST(RowQueryTest, RowsOfWhichNoneIsLeftSayWhatTheyHave) {
  const auto warning = [](const char* filter, std::string_view rows = kQueriedRows) {
    ResultOrder order;
    order.filter = ParseFilter(filter).value();
    return ApplyOrder(order, rows).warning;
  };
  EXPECT_EQ(warning("tags = a"),
            "none of 3 rows matches: tags is an array in 3 of 3: use CONTAINS or tags[*]; the "
            "first row has id, tags, n");
  EXPECT_EQ(warning("n = 3"),
            "none of 3 rows matches: n is a number in 1, a string in 1 of 3; the first row has id, "
            "tags, n");
  EXPECT_EQ(warning("tags[*] = c"),
            "none of 3 rows matches: tags[*] is a string in 3 of 3; the first row has id, tags, n")
      << "in so many rows, not so many values";
  EXPECT_EQ(warning(". = x", "[[1],[2]]"),
            "none of 2 rows matches: . is an array in 2 of 2: use CONTAINS or [*]; the first row "
            "has an array");
  EXPECT_TRUE(ParseFilter("[*] = 1")) << "what it advises is a path";
  EXPECT_EQ(warning("name = x"),
            "none of 3 rows matches: no row has name; the first row has id, tags, n");
  EXPECT_EQ(warning("a = x", R"(["x"])"),
            "none of 1 rows matches: no row has a; the first row has a string");
  EXPECT_EQ(warning("z = x", R"([{"a":1,"b":1,"c.d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1}])"),
            R"(none of 1 rows matches: no row has z; the first row has a, b, ["c.d"], e, f, g, h, )"
            "i, ...");
  EXPECT_EQ(warning("z = x", "[]"), "") << "nothing was filtered out";
  EXPECT_EQ(warning("id = 2"), "");
}

TEST(RowQueryTest, RowsWithoutFieldsAreTold) {
  ResultOrder order;
  order.fields = {ParseFieldPath("a").value()};
  const AppliedOrder applied = ApplyOrder(order, R"(["x",{"a":1,"b":2},7])");
  EXPECT_EQ(applied.rows, R"(["x",{"a":1},7])");
  EXPECT_EQ(applied.warning, "2 of 3 rows are no objects and stand as they are, without `fields`");
}

TEST(RowQueryTest, Lines) {
  ResultOrder order;
  order.filter = ParseFilter(". CONTAINS err").value();
  order.limit = 1;
  RowQuery query(order);
  EXPECT_FALSE(query.AcceptsLine("ok"));
  EXPECT_TRUE(query.AcceptsLine("err 1"));
  EXPECT_FALSE(query.AcceptsLine("err 2"));
  EXPECT_EQ(query.counts().matched, 2U);
  EXPECT_EQ(query.Transformations(), (Stages{"filter: 3 -> 2", "limit: 2 -> 1"}));
  RowQuery none(order);
  EXPECT_FALSE(none.AcceptsLine("ok"));
  EXPECT_EQ(none.Warning(), "none of 1 rows matches");
}

}  // namespace
}  // namespace pa
