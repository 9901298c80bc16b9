#include "supervisor/clients/json_config.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"
#include "tests/support/sanitizers.h"

namespace pa {
namespace {

using enum JsonDialect;

const ServerEntry kJsonEntry{
    .section = "mcpServers", .name = "us", .command = "pa", .args = {"serve", "--x"}};

std::string MergedJson(std::string_view text, const ServerEntry& entry = kJsonEntry) {
  const auto now = MergeIntoJson(text, entry, kCommentsAndCommas);
  if (!now) {
    const LineAndColumn place = PlaceOf(text, now.error().at);
    return std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
           now.error().message;
  }
  EXPECT_EQ(MergeIntoJson(*now, entry, kCommentsAndCommas).value_or("refused"), *now);
  return *now;
}

TEST(JsonConfig, ANewFileIsADocumentOfItsOwn) {
  const std::string_view whole = R"({
  "mcpServers": {
    "us": {
      "command": "pa",
      "args": ["serve", "--x"]
    }
  }
}
)";
  EXPECT_EQ(MergedJson(""), whole);
  EXPECT_EQ(MergedJson(" \n\n"), whole);
  EXPECT_EQ(MergedJson("{}"), whole.substr(0, whole.size() - 1));
  EXPECT_EQ(MergedJson("{\n}\n"), whole);
  ServerEntry typed = kJsonEntry;
  typed.with_type = true;
  EXPECT_NE(MergedJson("", typed).find(R"(      "type": "stdio",
      "command": "pa",)"),
            std::string::npos);
}

TEST(JsonConfig, AFileWithoutServersGetsThemAtItsEnd) {
  EXPECT_EQ(MergedJson(R"({
    "theme": "dark" // as I like it
})"),
            R"({
    "theme": "dark", // as I like it
    "mcpServers": {
        "us": {
            "command": "pa",
            "args": ["serve", "--x"]
        }
    }
})");
}

TEST(JsonConfig, TheEntryComesBehindTheOthersAndTheirComments) {
  EXPECT_EQ(
      MergedJson("{\n\t\"mcpServers\": {\n\t\t\"b\": {\"url\": \"http://b\"}, // b\n"
                 "\t\t\"a\": {\"command\": \"a\"} /* a */ // a\n"
                 "\t\t// \"c\": {}\n"
                 "\t},\n\t\"z\": [1, 2.50, \"\\u00e4\"]\n}"),
      "{\n\t\"mcpServers\": {\n\t\t\"b\": {\"url\": \"http://b\"}, // b\n"
      "\t\t\"a\": {\"command\": \"a\"}, /* a */ // a\n"
      "\t\t// \"c\": {}\n"
      "\t\t\"us\": {\n\t\t\t\"command\": \"pa\",\n\t\t\t\"args\": [\"serve\", \"--x\"]\n\t\t}\n"
      "\t},\n\t\"z\": [1, 2.50, \"\\u00e4\"]\n}");
}

TEST(JsonConfig, WhatHasACommaAtItsEndKeepsOne) {
  EXPECT_EQ(MergedJson("{\n  \"mcpServers\": {\n    \"a\": {},\n  },\n}\n"),
            "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"us\": {\n      \"command\": \"pa\",\n"
            "      \"args\": [\"serve\", \"--x\"]\n    },\n  },\n}\n");
}

TEST(JsonConfig, WhatStandsOnOneLineStaysThere) {
  EXPECT_EQ(MergedJson(R"({"mcpServers": {"a": {}}})"),
            R"({"mcpServers": {"a": {}, "us": {"command": "pa", "args": ["serve", "--x"]}}})");
  EXPECT_EQ(MergedJson(R"({"mcpServers":{}})"),
            R"({"mcpServers":{"us":{"command":"pa","args":["serve","--x"]}}})");
  EXPECT_EQ(MergedJson(R"({ "a": 1 })"),
            R"({ "a": 1, "mcpServers": {"us": {"command": "pa", "args": ["serve", "--x"]}} })");
  EXPECT_EQ(MergedJson("{\n  \"mcpServers\": {\"a\": {}}\n}"),
            "{\n  \"mcpServers\": {\"a\": {}, \"us\": {\"command\": \"pa\", \"args\": [\"serve\", "
            "\"--x\"]}}\n}");
}

TEST(JsonConfig, EmptyObjectsAreOpened) {
  constexpr std::string_view kEntryLines =
      "    \"us\": {\n      \"command\": \"pa\",\n      \"args\": [\"serve\", \"--x\"]\n    }\n  "
      "}\n}";
  const auto opened = [&](std::string_view inside) { return std::string(inside) + "\n"; };
  for (const char* empty : {"{}", "{ }", "{\n  }"}) {
    EXPECT_EQ(MergedJson("{\n  \"mcpServers\": " + std::string(empty) + "\n}"),
              opened("{\n  \"mcpServers\": {") + std::string(kEntryLines))
        << empty;
  }
  EXPECT_EQ(MergedJson("{\n  \"mcpServers\": { /* none */ }\n}"),
            opened("{\n  \"mcpServers\": { /* none */") + std::string(kEntryLines));
  EXPECT_EQ(MergedJson("{\n  \"mcpServers\": {\n    // none\n  }\n}"),
            opened("{\n  \"mcpServers\": {\n    // none") + std::string(kEntryLines));
}

TEST(JsonConfig, LineEndsStay) {
  EXPECT_EQ(
      MergedJson("{\r\n  \"a\": 1\r\n}\r\n"),
      "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"us\": {\r\n      \"command\": \"pa\",\r\n"
      "      \"args\": [\"serve\", \"--x\"]\r\n    }\r\n  }\r\n}\r\n");
}

TEST(JsonConfig, OfAnEntryThatIsThereOurMembersAloneChange) {
  EXPECT_EQ(MergedJson(R"({
  "mcpServers": {
    "us": {
      "args": [
        "serve"
      ],
      "env": {"TOKEN": "t"}, // mine
      "command": "/old/pa", /* there */
      "disabled": false
    }
  }
})"),
            R"({
  "mcpServers": {
    "us": {
      "args": [
        "serve",
        "--x"
      ],
      "env": {"TOKEN": "t"}, // mine
      "command": "pa", /* there */
      "disabled": false
    }
  }
})");
  EXPECT_EQ(MergedJson(R"({"mcpServers": {"us": {"env": {}}}})"),
            R"({"mcpServers": {"us": {"env": {}, "command": "pa", "args": ["serve", "--x"]}}})");
  EXPECT_EQ(MergedJson("{\n \"mcpServers\": {\n  \"us\": {\n   \"command\": \"old\"\n  }\n }\n}"),
            "{\n \"mcpServers\": {\n  \"us\": {\n   \"command\": \"pa\",\n   \"args\": [\"serve\", "
            "\"--x\"]\n  }\n }\n}");
  EXPECT_EQ(
      MergedJson(R"({"mcpServers": {"us": {"type": "sse", "args": 1, "command": {}}}})"),
      R"({"mcpServers": {"us": {"type": "stdio", "args": ["serve", "--x"], "command": "pa"}}})");
}

TEST(JsonConfig, AnEntryThatSaysTheSameStaysAsItIs) {
  constexpr std::string_view kText =
      "{\"mcpServers\":\n{\"us\" :{ \"command\":\"p\\u0061\" , \"args\":[ \"serve\" /* ! */,\n"
      "\"\\u002d-x\" ]}}}";
  EXPECT_EQ(MergedJson(kText), kText);
}

TEST(JsonConfig, WhatCannotBeMergedIsRefusedWithAdvice) {
  EXPECT_EQ(MergedJson("[]"), "1:1: expected an object: {");
  EXPECT_TRUE(MergedJson("// all of it\n").starts_with("2:1: expected a value"));
  EXPECT_EQ(MergedJson("{\"mcpServers\": null}"),
            "1:16: expected an object as 'mcpServers'; make it {} or remove it");
  EXPECT_EQ(MergedJson("{\"mcpServers\": {\"us\": []}}"),
            "1:23: expected an object as 'us'; make it {} or remove it");
  EXPECT_TRUE(
      MergedJson("{\"mcpServers\": {\"us\": {\"url\": \"http://us\"}}}")
          .starts_with("1:24: expected an entry that starts a program; this one has 'url'"));
  EXPECT_TRUE(MergedJson("{\"mcpServers\": {\"us\": {\"args\": [\"a\" /* why */]}}}")
                  .starts_with("1:32: expected 'args' without a comment"));
  EXPECT_TRUE(MergedJson("{\"mcpServers\": {}, \"mcpServers\": {}}").starts_with("1:20: expected"));
  EXPECT_TRUE(MergedJson("{\"mcpServers\": {}").starts_with("1:18: expected , or }"));
}

// A document of random shape and layout, without our section.
class RandomDocument {
 public:
  explicit RandomDocument(unsigned seed) : random_(seed) {}

  std::string Object(int depth, std::string_view fixed = "") {
    std::string out = "{" + Blank();
    const int members = Below(4);
    const int place = Below(members + 1);
    bool any = false;
    for (int i = 0; i <= members; ++i) {
      const bool put = i == place && !fixed.empty();
      if (!put && i == members) break;
      if (any) out += "," + Blank();
      any = true;
      out += put ? std::string(fixed)
                 : "\"k" + std::to_string(i) + "\"" + Blank() + ":" + Blank() + Value(depth + 1);
      out += Blank();
    }
    if (any && Below(3) == 0) out += "," + Blank();
    return out + "}";
  }
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::string Blank() {
    static constexpr const char* kAll[] = {"",          "",
                                           " ",         "\n",
                                           "\n  ",      "\n\t\t",
                                           "\r\n    ",  " // c, } \"\n",
                                           "/* , { */", " \n// x\n\n "};
    return kAll[Below(std::size(kAll))];
  }

 private:
  std::string Value(int depth) {
    static constexpr const char* kScalars[] = {
        "null", "1.50", "\"\"", "\"a, } // \\\" \xC3\xBC\"", "true", "[]", "[1 ,\n2,]", "{}"};
    const int kind = Below(10);
    if (kind < 3 && depth < 5) return Object(depth);
    return kScalars[Below(std::size(kScalars))];
  }
  std::mt19937 random_;
};

// Whether `part` is what is left of `whole` when some of it is taken away.
bool IsWithin(std::string_view part, std::string_view whole) {
  for (const char c : whole) {
    if (!part.empty() && part[0] == c) part.remove_prefix(1);
  }
  return part.empty();
}

// Those alone may go, before a bracket that comes to stand on a line of its own.
std::string WithoutBlanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  return text;
}

TEST(JsonConfig, WhateverADocumentLooksLikeItKeepsEveryByte) {
  for (unsigned seed = 0; seed < testing::Volume(3000); ++seed) {
    RandomDocument random(seed);
    std::string servers = random.Object(1);
    // Half of them have the section already.
    const std::string text =
        random.Blank() + random.Object(0, seed % 2 == 0 ? "" : "\"mcpServers\":" + servers);
    const auto now = MergeIntoJson(text, kJsonEntry, kCommentsAndCommas);
    ASSERT_TRUE(now) << text << "\n" << now.error().message;
    ASSERT_TRUE(IsWithin(WithoutBlanks(text), WithoutBlanks(*now))) << text << "\n->\n" << *now;
    // What came in between is the entry, with what separates it.
    ASSERT_LE(now->size(), text.size() + 200) << text << "\n->\n" << *now;
    const auto document = ReadJsonc(text, kCommentsAndCommas);
    const auto after = ReadJsonc(*now, kCommentsAndCommas);
    ASSERT_TRUE(document && after);
    ASSERT_EQ(document->comments.size(), after->comments.size()) << text << "\n->\n" << *now;
    EXPECT_EQ(MergeIntoJson(*now, kJsonEntry, kCommentsAndCommas).value_or("refused"), *now);
    const Result<JsonValue> value = ParseJson(PlainJson(*now, *after));
    ASSERT_TRUE(value);
    EXPECT_EQ(value->Find("mcpServers")->Find("us")->Dump(),
              R"({"command":"pa","args":["serve","--x"]})");
  }
}

using JsonStrings = std::vector<std::string>;

// `b` and `c` come into the list `deny` of `p`, and go again.
std::string ListedJson(std::string_view text) {
  constexpr auto kAll = JsonDialect::kCommentsAndCommas;
  const auto now = AddToJsonList(text, "p", "deny", {"b", "c"}, kAll);
  if (!now) return now.error().message;
  const JsonStrings before = StringsInJson(text, "p", "deny", kAll);
  JsonStrings wanted = before;
  wanted.insert(wanted.end(), {"b", "c"});
  EXPECT_EQ(StringsInJson(*now, "p", "deny", kAll), wanted) << *now;
  const auto gone = RemoveFromJsonList(*now, "p", "deny", {"c", "b", "x"}, kAll);
  EXPECT_EQ(StringsInJson(gone.value_or(""), "p", "deny", kAll), before) << gone.value_or("");
  return *now;
}

TEST(JsonConfig, StringsComeIntoAListAndGo) {
  EXPECT_EQ(ListedJson(""), "{\n  \"p\": {\n    \"deny\": [\"b\", \"c\"]\n  }\n}\n");
  EXPECT_EQ(ListedJson(R"({"a": 1})"), R"({"a": 1, "p": {"deny": ["b", "c"]}})");
  EXPECT_EQ(ListedJson("{\n\t\"p\": {\n\t\t\"allow\": [] // a\n\t}\n}\n"),
            "{\n\t\"p\": {\n\t\t\"allow\": [], // a\n\t\t\"deny\": [\"b\", \"c\"]\n\t}\n}\n");
  EXPECT_EQ(ListedJson(R"({"p":{"deny":["a"]}})"), R"({"p":{"deny":["a","b","c"]}})");
  EXPECT_EQ(ListedJson(R"({"p": {"deny": []}})"), R"({"p": {"deny": ["b", "c"]}})");
  EXPECT_EQ(ListedJson("{\"p\": {\n  \"deny\": [\n    \"a\", // a\n    \"d\" // d\n  ]}}"),
            "{\"p\": {\n  \"deny\": [\n    \"a\", // a\n    \"d\", // d\n    \"b\",\n    \"c\"\n"
            "  ]}}");
  EXPECT_EQ(ListedJson("{\"p\": {\"deny\": [\n  1,\n],},}"),
            "{\"p\": {\"deny\": [\n  1,\n  \"b\",\n  \"c\",\n],},}");
  EXPECT_TRUE(ListedJson(R"({"p": []})").contains("expected an object as 'p'"));
  EXPECT_TRUE(ListedJson(R"({"p": {"deny": "a"}})").contains("expected a list as 'deny'"));
  EXPECT_TRUE(ListedJson("[]").contains("expected an object: {"));
  EXPECT_TRUE(ListedJson("{").contains("expected"));
}

TEST(JsonConfig, WhatIsRemovedTakesItsCommaAndLeavesTheComments) {
  const auto without = [](std::string_view text, const char* gone) {
    return RemoveFromJsonList(text, "p", "d", {gone}, JsonDialect::kCommentsAndCommas)
        .value_or("refused");
  };
  EXPECT_EQ(without(R"({"p": {"d": ["a", "b", "c"]}})", "a"), R"({"p": {"d": ["b", "c"]}})");
  EXPECT_EQ(without(R"({"p": {"d": ["a", "b", "c"]}})", "b"), R"({"p": {"d": ["a", "c"]}})");
  EXPECT_EQ(without(R"({"p": {"d": ["a", "b", "c"]}})", "c"), R"({"p": {"d": ["a", "b"]}})");
  EXPECT_EQ(without("{\"p\": {\"d\": [\n  \"a\",\n]}}", "a"), "{\"p\": {\"d\": []}}");
  EXPECT_EQ(without("{\"p\": {\"d\": [\"a\" /* 1 */ , // 2\n \"b\"]}}", "a"),
            "{\"p\": {\"d\": [ /* 1 */  // 2\n \"b\"]}}");
  EXPECT_EQ(without("{\"p\": {\"d\": [\"b\" /* , */ , // 2\n \"a\", // 3\n]}}", "a"),
            "{\"p\": {\"d\": [\"b\" /* , */ , // 2\n  // 3\n]}}");
  EXPECT_EQ(without("{\"p\": {\"d\": [/* 1 */ \"a\", /* 2 */]}}", "a"),
            "{\"p\": {\"d\": [/* 1 */  /* 2 */]}}");
  EXPECT_EQ(without(R"({"p": {"d": 7}})", "a"), R"({"p": {"d": 7}})");
  EXPECT_EQ(without("{", "a"), "refused");
}

TEST(JsonConfig, AnEntryGoesAsItCame) {
  for (const char* text :
       {"{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n",
        R"({"mcpServers": {"x": {}}})", "{\"mcpServers\": {\n  \"x\": {}, // x\n}}"}) {
    const std::string gone =
        RemoveJsonEntry(MergedJson(text), "mcpServers", "us", JsonDialect::kCommentsAndCommas)
            .value_or("refused");
    EXPECT_EQ(gone, text);
  }
  for (const char* none : {"", "{}", R"({"mcpServers": {}})", R"({"mcpServers": 1})"}) {
    EXPECT_EQ(RemoveJsonEntry(none, "mcpServers", "us", JsonDialect::kPlain).value_or("refused"),
              none);
  }
  EXPECT_FALSE(RemoveJsonEntry("[", "mcpServers", "us", JsonDialect::kPlain));
}

}  // namespace
}  // namespace pa
