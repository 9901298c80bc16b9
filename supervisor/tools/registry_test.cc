#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "supervisor/tool.h"

namespace pa {
namespace {

TEST(RegistryTest, TheToolsOfTheContract) {
  std::vector<std::string_view> names;
  for (const Tool* tool : AllTools()) names.push_back(tool->name);
  EXPECT_EQ(names, (std::vector<std::string_view>{
                       "make_targets", "make", "makefile_generate", "git_add", "git_commit", "read",
                       "write", "edit", "delete", "glob", "grep", "bash", "project_actions"}));
}

TEST(RegistryTest, FoundByName) {
  EXPECT_EQ(FindTool("make")->name, "make");
  EXPECT_EQ(FindTool("makes"), nullptr);
  EXPECT_EQ(FindTool(""), nullptr);
}

TEST(RegistryTest, OnlyReadOnlyToolsAreOnByDefault) {
  const std::set<std::string_view> read_only = {"make_targets", "read", "glob", "grep"};
  for (const Tool* tool : AllTools()) {
    EXPECT_EQ(tool->annotations.read_only, read_only.contains(tool->name)) << tool->name;
    EXPECT_FALSE(tool->annotations.read_only && tool->annotations.destructive);
  }
}

TEST(RegistryTest, SchemasAreJson) {
  for (const Tool* tool : AllTools()) {
    EXPECT_TRUE(ParseJson(InputSchema(tool->params)).has_value()) << tool->name;
    EXPECT_TRUE(ParseJson(tool->data_schema).has_value()) << tool->name;
    EXPECT_FALSE(tool->title.empty());
    EXPECT_FALSE(tool->description.empty());
  }
}

TEST(RegistryTest, RequestsAreValidated) {
  const auto good = ParseJson(R"({"target":"test"})");
  EXPECT_TRUE(MakeToolRequest(*FindTool("make"), &*good).has_value());
  const auto bad = ParseJson(R"({"target":1})");
  EXPECT_EQ(MakeToolRequest(*FindTool("make"), &*bad).error().code, "INVALID_ARGUMENT");
  EXPECT_EQ(MakeToolRequest(*FindTool("make"), nullptr).error().code, "INVALID_ARGUMENT");
  EXPECT_TRUE(MakeToolRequest(*FindTool("make_targets"), nullptr).has_value());
}

}  // namespace
}  // namespace pa
