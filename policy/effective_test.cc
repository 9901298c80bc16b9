#include "policy/effective.h"

#include <gtest/gtest.h>

namespace pa::policy {
namespace {

std::string Json(const char* name, const PolicyFragment& fragment) {
  JsonWriter writer;
  WriteValue(writer, *FindKey(name), fragment);
  return std::move(writer).Take();
}

PolicyFragment Sample() {
  PolicyFragment fragment;
  const SourceLocation at{"p.yaml", 2, 1};
  fragment.roots = {{{"/a", at}, {"/b \"c\"", at}}, at};
  fragment.network = {"full", {"p.yaml", 3, 10}};
  fragment.permissions = {
      {{.at = at, .tool = "make", .target = "x*", .reason = "why"},
       {.at = at, .tool = "*", .verdict = Verdict::kAllow},
       {.at = at, .tool = "read", .path = "a", .examples = {{"a/b", at}}},
       {.at = at, .tool = "bash", .command = "c d", .verdict = Verdict::kAllow}},
      at};
  fragment.environment_set = {{{{"A", {"p.yaml", 5, 3}}, "1"}}, at};
  fragment.limits["limits.memory"] = {1u << 30, at};
  fragment.limits["limits.queue"] = {0, at};
  return fragment;
}

TEST(Effective, ValuesOfEveryType) {
  const PolicyFragment fragment = Sample();
  EXPECT_EQ(Json("roots", fragment), R"(["/a","/b \"c\""])");
  EXPECT_EQ(Json("network", fragment), R"("full")");
  EXPECT_EQ(Json("permissions", fragment),
            R"([{"tool":"make","target":"x*","decision":"deny","reason":"why"},)"
            R"({"tool":"*","decision":"allow"},)"
            R"({"tool":"read","path":"a","decision":"deny","examples":["a/b"]},)"
            R"({"tool":"bash","command":"c d","decision":"allow"}])");
  EXPECT_EQ(Json("environment.set", fragment), R"({"A":"1"})");
  EXPECT_EQ(Json("limits.memory", fragment), R"("1GiB")");
  EXPECT_EQ(Json("limits.queue", fragment), "0");
}

TEST(Effective, OnlyWhatIsSetHasAValue) {
  const PolicyFragment fragment = Sample();
  EXPECT_TRUE(HasValue(*FindKey("network"), fragment));
  EXPECT_TRUE(HasValue(*FindKey("limits.queue"), fragment));
  for (const char* name : {"limits.processes", "git.hooks", "version", "tenants"}) {
    EXPECT_FALSE(HasValue(*FindKey(name), fragment)) << name;
  }
}

TEST(Effective, PlacesAndItems) {
  const PolicyFragment fragment = Sample();
  EXPECT_EQ(PlaceOf(*FindKey("network"), fragment), (SourceLocation{"p.yaml", 3, 10}));
  const std::vector<Item> items = ItemsOf(*FindKey("environment.set"), fragment);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].name, "A");
  EXPECT_EQ(items[0].json, "\"1\"");
  EXPECT_EQ(items[0].at.line, 5);
  EXPECT_EQ(ItemsOf(*FindKey("roots"), fragment).size(), 2u);
  EXPECT_TRUE(ItemsOf(*FindKey("network"), fragment).empty());
  EXPECT_TRUE(ItemsOf(*FindKey("limits.memory"), fragment).empty());
}

}  // namespace
}  // namespace pa::policy
