#include "supervisor/results/query_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

using testing::Json;

class QueryRowsTest : public ::testing::Test {
 protected:
  static ResultOrder Order(const std::string& json) {
    const auto order = ReadResultOrder(*ParseJson(json));
    EXPECT_TRUE(order.has_value()) << json;
    return *order;
  }
  RowPlace Place() {
    return {.shown_bytes = shown_, .file_bytes = most_, .open = [this](RowForm) {
              ++files_;
              return MakeUnlinkedFile(directory_.path().string());
            }};
  }
  QueriedRows Lines(const std::string& text, const std::string& order) {
    return QueryLines({.text = text, .stored = {}}, Order(order), Place(), {});
  }
  QueriedRows Items(const std::string& text, const std::string& path, const std::string& order) {
    const auto steps = path.empty() ? FieldPath{} : ParseFieldPath(path).value();
    return QueryJson({.text = text, .stored = {}}, "json", steps.steps, Order(order), Place(), {});
  }
  // The same text on disk.
  RowSource Stored(const std::string& text) {
    UniqueFd file = MakeUnlinkedFile(directory_.path().string()).value();
    EXPECT_EQ(WriteAsFits(file.get(), text), text.size());
    return {.text = "", .stored = StoredBytes{.file = std::move(file), .size = text.size()}};
  }
  static std::string TextOf(const QueriedRows& rows) {
    if (!rows.rows.file) return "no file";
    return ReadBytesAt(rows.rows.file->file.get(), 0, rows.rows.file->size).value();
  }

  testing::TempDir directory_;
  std::size_t shown_ = 1000;
  std::uint64_t most_ = 1U << 20;
  int files_ = 0;
};

TEST_F(QueryRowsTest, TheLinesOfAText) {
  const QueriedRows rows = Lines("a 1\r\nb\n\na 2", R"({"filter":". STARTS_WITH a"})");
  EXPECT_EQ(rows.problem, "");
  EXPECT_EQ(rows.rows.shown, "a 1\na 2");
  EXPECT_EQ(rows.rows.text, "a 1\na 2");
  EXPECT_EQ(rows.counts.total, 4u);
  EXPECT_EQ(rows.counts.matched, 2u);
  EXPECT_EQ(rows.transformations, std::vector<std::string>{"filter: 4 -> 2"});
  EXPECT_EQ(Lines("", R"({"limit":3})").counts.total, 0u);
  EXPECT_EQ(Lines("\n\n", R"({"limit":3})").rows.shown, "\n");
  EXPECT_EQ(files_, 0);
}

TEST_F(QueryRowsTest, AStoredTextIsReadInSlicesAndHasNoEscapes) {
  std::string text;
  for (int i = 0; i < 40'000; ++i)
    text += "line " + std::to_string(i) + std::string(50, '.') + "\n";
  text += "\x1b[31mred\x1b[0m " + std::string(3U << 20, 'x') + "\n" +
          "\xc2\x9b"
          "31mlast";
  const RowSource source = Stored(text);
  shown_ = 4U << 20;
  const QueriedRows rows = QueryLines(source, Order(R"({"filter":". CONTAINS r"})"), Place(), {});
  EXPECT_EQ(rows.counts.total, 40'002u);
  ASSERT_EQ(rows.counts.matched, 1u);
  EXPECT_TRUE(rows.rows.shown.starts_with("red xxx")) << rows.rows.shown.substr(0, 20);
  EXPECT_LE(rows.rows.shown.size(), kMaxRowLine);
  ASSERT_EQ(rows.warnings.size(), 1u);
  EXPECT_TRUE(rows.warnings[0].starts_with("a line is longer than 1 MiB")) << rows.warnings[0];
  EXPECT_EQ(QueryLines(source, Order(R"({"filter":". = 31mlast"})"), Place(), {}).rows.shown,
            "31mlast");
  EXPECT_EQ(QueryLines(source, Order(R"({"filter":". STARTS_WITH \"line 39999.\""})"), Place(), {})
                .counts.matched,
            1u);
}

// Programs print JSON in colours, too; where it is kept decides nothing.
TEST_F(QueryRowsTest, StoredJsonHasNoEscapesEither) {
  const std::string line =
      "\x1b[1;39m{\"a\":\x1b[0;32m\"x\xc2\x9b"
      "31m\"\x1b[0m}\n";
  for (const std::string& text : {line + line, "[\n" + line + "]\n"}) {
    const QueriedRows rows = QueryJson(Stored(text), "json", {}, Order("{}"), Place(), {});
    EXPECT_EQ(rows.problem, "");
    EXPECT_TRUE(rows.warnings.empty());
    EXPECT_TRUE(rows.rows.shown.starts_with(R"([{"a":"x31m"})")) << rows.rows.shown;
  }
}

TEST_F(QueryRowsTest, WhatIsNotShownIsInAFileWithTheRest) {
  shown_ = 10;
  const QueriedRows rows = Lines("one\ntwo\nthree\nfour\n", R"({"filter":". != two"})");
  EXPECT_EQ(rows.rows.shown, "one\nthree");
  EXPECT_EQ(rows.rows.shown_rows, 2u);
  EXPECT_EQ(rows.rows.rows, 3u);
  EXPECT_EQ(TextOf(rows), "one\nthree\nfour\n");
  EXPECT_EQ(rows.rows.file_rows, 3u);
  EXPECT_EQ(rows.rows.file->lines.lines(), 3u);
  const QueriedRows json = Items(R"([{"a":1},{"a":2},{"a":3}])", "", "{}");
  EXPECT_EQ(json.rows.shown, R"([{"a":1}])");
  EXPECT_EQ(TextOf(json), "[\n{\"a\":1},\n{\"a\":2},\n{\"a\":3}\n]\n");
  EXPECT_EQ(files_, 2);
}

TEST_F(QueryRowsTest, AFirstRowThatIsTooLong) {
  shown_ = 5;
  const QueriedRows line = Lines("0123456789\nx\n", "{}");
  EXPECT_EQ(line.rows.shown, "01234");
  EXPECT_EQ(line.rows.shown_rows, 0u);
  EXPECT_EQ(TextOf(line), "0123456789\nx\n");
  const QueriedRows json = Items(R"([{"a":1}])", "", "{}");
  EXPECT_EQ(json.rows.shown, "[]");
  EXPECT_EQ(TextOf(json), "[\n{\"a\":1}\n]\n");
}

TEST_F(QueryRowsTest, AFileHoldsWholeRowsUpToItsLimit) {
  most_ = 20;
  const QueriedRows rows = Items(R"([{"a":1},{"a":2},{"a":3}])", "", R"({"return_mode":"file"})");
  EXPECT_EQ(TextOf(rows), "[\n{\"a\":1}\n]\n");
  EXPECT_EQ(rows.rows.file_rows, 1u);
  EXPECT_EQ(rows.rows.rows, 3u);
  EXPECT_TRUE(Json::accept(TextOf(rows)));
  const QueriedRows none = Lines("", R"({"return_mode":"file"})");
  EXPECT_EQ(TextOf(none), "");
  EXPECT_EQ(TextOf(Items("[]", "", R"({"return_mode":"file"})")), "[\n\n]\n");
}

TEST_F(QueryRowsTest, WithoutAFileWhatIsShownStays) {
  shown_ = 4;
  RowPlace place = Place();
  place.open = [](RowForm) -> Result<UniqueFd> {
    return std::unexpected(Error("open", "nowhere", ENOSPC));
  };
  const QueriedRows rows =
      QueryLines({.text = "one\ntwo\n", .stored = {}}, Order("{}"), std::move(place), {});
  EXPECT_EQ(rows.rows.shown, "one");
  EXPECT_FALSE(rows.rows.file.has_value());
  EXPECT_TRUE(rows.rows.file_error.contains("ENOSPC")) << rows.rows.file_error;
}

TEST_F(QueryRowsTest, ASummaryIsCountAndSample) {
  const QueriedRows rows = Lines("1\n2\n3\n4\n", R"({"return_mode":"summary"})");
  EXPECT_EQ(rows.rows.sample, (std::vector<std::string>{"\"1\"", "\"2\"", "\"3\""}));
  EXPECT_EQ(rows.rows.rows, 4u);
  EXPECT_EQ(files_, 0);
  const std::string long_line(kMaxSampleBytes + 1, 'x');
  EXPECT_TRUE(Lines(long_line, R"({"return_mode":"summary"})").rows.sample[0].ends_with("x...\""));
  EXPECT_TRUE(
      Items("[\"" + long_line + "\"]", "", R"({"return_mode":"summary"})").rows.sample.empty());
}

TEST_F(QueryRowsTest, OneDocument) {
  const std::string text = R"({
    "n": 1,
    "items": [{"a": 1, "tags": ["x", "y"]}, {"a": 2, "tags": []}],
    "more": {"list": ["s", "t\nu"]}
  })";
  EXPECT_EQ(Items(text, "items", R"({"filter":"a > 1"})").rows.shown, R"([{"a":2,"tags":[]}])");
  EXPECT_EQ(Items(text, "items[*].a", "{}").rows.shown, "[1,2]");
  EXPECT_EQ(Items(text, "items[*].tags[*]", "{}").rows.shown, R"(["x","y"])");
  EXPECT_EQ(Items(text, "items[0].tags", "{}").rows.shown, R"(["x","y"])");
  EXPECT_EQ(Items(text, "more.list", "{}").rows.text, "s\nt\nu");
  EXPECT_EQ(Items(text, "", "{}").problem,
            "json is an object and no list; its lists are json.items");
  EXPECT_EQ(Items(text, "n", "{}").problem, "json.n is a number and no list");
  EXPECT_EQ(Items(text, "more", "{}").problem,
            "json.more is an object and no list; its lists are json.more.list");
  EXPECT_EQ(Items(text, "itms", "{}").problem, "there is no json.itms; the lists are json.items");
  EXPECT_EQ(Items("[1]", "x", "{}").problem, "there is no json.x; json is a list itself");
  EXPECT_EQ(Items("[3, 1]", "", R"({"filter":". > 1"})").rows.shown, "[3]");
}

TEST_F(QueryRowsTest, JsonLines) {
  const std::string text = "{\"a\":1,\"l\":[1]}\n\n{\"a\":2,\"l\":[2,3]}\noops\n{\"a\":3}";
  const QueriedRows rows = Items(text, "", R"({"filter":"a >= 2","fields":["a"]})");
  EXPECT_EQ(rows.rows.shown, R"([{"a":2},{"a":3}])");
  ASSERT_EQ(rows.warnings.size(), 1u);
  EXPECT_TRUE(rows.warnings[0].starts_with("1 line is no JSON and left out: line 4: "))
      << rows.warnings[0];
  EXPECT_EQ(Items(text, "[*].l[*]", "{}").rows.shown, "[1,2,3]");
  EXPECT_EQ(Items(text, "[1].l", "{}").rows.shown, "[2,3]");
  EXPECT_EQ(Items(text, "l", "{}").problem,
            "json is JSON Lines, a list of documents: json or json[*].l");
  EXPECT_EQ(Items("{\"a\":1}\n", "", "{}").problem, "json is an object and no list, and has none");
}

TEST_F(QueryRowsTest, WhatIsNoJson) {
  EXPECT_EQ(Items("", "", "{}").problem, "json is empty");
  EXPECT_EQ(Items(" \n\t\n", "", "{}").problem, "json is empty");
  const std::string problem = Items("building\nok\n", "", "{}").problem;
  EXPECT_TRUE(problem.starts_with("json is neither one JSON document (")) << problem;
  EXPECT_TRUE(problem.contains("nor JSON Lines (line 1: ")) << problem;
}

TEST_F(QueryRowsTest, ItCanBeStopped) {
  const RowSource source = Stored(std::string(3U << 20, '\n'));
  int asked = 0;
  const QueriedRows rows = QueryLines(source, Order("{}"), Place(), [&] { return ++asked == 2; });
  EXPECT_EQ(rows.problem, "the call was cancelled");
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace pa
