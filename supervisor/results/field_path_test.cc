#include "supervisor/results/field_path.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"

namespace pa {
namespace {

JsonValue ParsedValue(std::string_view text) { return ParseJson(text).value(); }

std::string ValuesAt(std::string_view value, std::string_view path) {
  const JsonValue json = ParsedValue(value);
  std::string all;
  ForEachAt(json, ParseFieldPath(path).value().steps, [&](const JsonValue& found) {
    all += (all.empty() ? "" : " ") + found.Dump();
    return true;
  });
  return all;
}

TEST(FieldPathTest, NamesValues) {
  constexpr std::string_view kPathRow =
      R"({"a":{"b":1,"a.b":2,"":3},"l":[{"k":1},{"k":[2,3]},4],"x y":5,"ü":6})";
  EXPECT_EQ(ValuesAt(kPathRow, "a.b"), "1");
  EXPECT_EQ(ValuesAt(kPathRow, R"(a["a.b"])"), "2");
  EXPECT_EQ(ValuesAt(kPathRow, R"(a[""])"), "3");
  EXPECT_EQ(ValuesAt(kPathRow, "l[0].k"), "1");
  EXPECT_EQ(ValuesAt(kPathRow, "l[*].k"), "1 [2,3]");
  EXPECT_EQ(ValuesAt(kPathRow, "l[*].k[*]"), "2 3");
  EXPECT_EQ(ValuesAt(kPathRow, "['x y']"), "5");
  EXPECT_EQ(ValuesAt(kPathRow, "ü"), "6");
  EXPECT_EQ(ValuesAt(kPathRow, R"(["\u00fc"])"), "6");
  for (const char* missing :
       {"b", "a.b.c", "l[9]", "l.k", "a[0]", "a[*]", "l[18446744073709551615]"}) {
    EXPECT_EQ(ValuesAt(kPathRow, missing), "") << missing;
  }
  EXPECT_EQ(ValuesAt("[1,2]", "[*]"), "1 2");
  EXPECT_EQ(ValuesAt("[1,2]", "[1]"), "2");
  EXPECT_EQ(ValuesAt("7", "."), "7");
}

TEST(FieldPathTest, StopsWhenItHasSeenEnough) {
  const JsonValue row = ParsedValue("[1,2,3]");
  int seen = 0;
  const auto steps = ParseFieldPath("[*]").value().steps;
  EXPECT_FALSE(ForEachAt(row, steps, [&](const JsonValue&) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

TEST(FieldPathTest, WhatIsNoPathIsAnErrorAtItsPlace) {
  constexpr struct {
    const char* text;
    std::size_t column;
    const char* message;
  } kBad[] = {
      {"", 1, "field name expected"},
      {".id", 1, "field name expected"},
      {"id.", 4, "field name expected"},
      {"a..b", 3, "field name expected"},
      {"a b", 2, "the path ends here"},
      {"ü b", 2, "the path ends here"},
      {"tags[x]", 5, R"([0], [*] or ["name"] expected)"},
      {"tags[0", 5, R"([0], [*] or ["name"] expected)"},
      {"tags[01]", 5, R"([0], [*] or ["name"] expected)"},
      {"tags[]", 5, R"([0], [*] or ["name"] expected)"},
      {"tags[-1]", 5, R"([0], [*] or ["name"] expected)"},
      {"tags[18446744073709551616]", 5, R"([0], [*] or ["name"] expected)"},
      {"a[\"b]", 3, "quote not closed"},
      {"a['\\x']", 4, R"(no such escape: \\ \" \' \/ \b \f \n \r \t \uXXXX expected)"},
      {"a['\\ud800']", 4, "half a surrogate pair is no character"},
      {"a['\\u12']", 6, "four hexadecimal digits expected"},
  };
  for (const auto& bad : kBad) {
    const auto path = ParseFieldPath(bad.text);
    ASSERT_FALSE(path) << bad.text;
    EXPECT_EQ(path.error().column, bad.column) << bad.text;
    EXPECT_EQ(path.error().message, bad.message) << bad.text;
  }
  EXPECT_FALSE(ParseFieldPath(std::string(kMaxQueryBytes + 1, 'a')));
  EXPECT_TRUE(ParseFieldPath(std::string(kMaxQueryBytes, 'a')));
}

TEST(FieldPathTest, PrintsBracketsOnlyWhereTheyAreNeeded) {
  constexpr std::pair<const char*, const char*> kPrinted[] = {
      {".", "."},
      {"[\"a\"]", "a"},
      {"a['b']", "a.b"},
      {"a['b.c'][0][*]", R"(a["b.c"][0][*])"},
      {R"(['"'])", R"(["\""])"},
      {R"(["\u0001\\"])", R"(["\u0001\\"])"},
  };
  for (const auto& [text, printed] : kPrinted) {
    EXPECT_EQ(ParseFieldPath(text).value().Print(), printed) << text;
  }
}

// Of any names, also such as look like operators, numbers or the path itself.
TEST(FieldPathTest, WhatIsPrintedIsReadBack) {
  constexpr std::string_view kNames[] = {"a",
                                         "",
                                         ".",
                                         "[0]",
                                         "x y",
                                         "\"",
                                         "'",
                                         "\\",
                                         "\t",
                                         "\n",
                                         "=",
                                         "<",
                                         "IS_NULL",
                                         "0",
                                         "*",
                                         "ü",
                                         "\xF0\x9F\x98\x80"};
  std::mt19937 random(7);
  const auto below = [&](std::size_t end) { return random() % end; };
  for (int round = 0; round < 5000; ++round) {
    FieldPath path;
    for (std::size_t steps = below(5); steps > 0; --steps) {
      PathStep step{.kind = static_cast<PathStep::Kind>(below(3)), .name = "", .index = 0};
      if (step.kind == PathStep::Kind::kName) {
        step.name = std::string(kNames[below(std::size(kNames))]) +
                    std::string(kNames[below(std::size(kNames))]);
      }
      if (step.kind == PathStep::Kind::kIndex) step.index = below(200);
      path.steps.push_back(step);
    }
    const auto read = ParseFieldPath(path.Print());
    ASSERT_TRUE(read) << path.Print() << ' ' << read.error().Message();
    EXPECT_EQ(*read, path) << path.Print();
  }
}

TEST(FieldPathTest, TheCaretStandsBelowThePlace) {
  const QueryError plain = ParseFieldPath("tags[x]").error();
  EXPECT_EQ(plain.Message(), R"(column 5: [0], [*] or ["name"] expected)");
  EXPECT_EQ(plain.caret, "tags[x]\n    ^");
  const QueryError wide = ParseFieldPath("üü b").error();
  EXPECT_EQ(wide.caret, "üü b\n  ^");
  const QueryError far =
      ParseFieldPath(std::string(100, 'a') + ' ' + std::string(100, 'b')).error();
  EXPECT_EQ(far.column, 101U);
  const std::string line = far.caret.substr(0, far.caret.find('\n'));
  EXPECT_EQ(line, "..." + std::string(40, 'a') + ' ' + std::string(19, 'b') + "...");
  EXPECT_EQ(far.caret.substr(line.size()), "\n" + std::string(43, ' ') + '^');
}

}  // namespace
}  // namespace pa
