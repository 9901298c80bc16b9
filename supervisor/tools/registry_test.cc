#include "supervisor/tools/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/json.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

TEST(RegistryTest, TheToolsOfTheContract) {
  std::vector<std::string_view> names;
  for (const Tool* tool : AllTools()) names.push_back(tool->name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"make_targets", "make", "makefile_generate",
                                                  "git_add", "git_commit", "read", "write", "edit",
                                                  "delete", "glob", "grep", "bash",
                                                  "project_actions", "pipeline", "batch", "job"}));
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
    EXPECT_TRUE(ParseJson(OutputSchema(tool->data)).has_value()) << tool->name;
    EXPECT_FALSE(tool->data.empty()) << tool->name;
    EXPECT_FALSE(tool->title.empty());
    EXPECT_FALSE(tool->description.empty());
  }
}

// A client shows a model all of them in each conversation. A token has about four characters.
TEST(RegistryTest, SchemasAreShort) {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  for (const Tool* tool : AllTools()) {
    const std::size_t input =
        tool->name.size() + tool->description.size() + InputSchema(tool->params).size();
    const std::size_t output = tool->has_output_schema ? OutputSchema(tool->data).size() : 0;
    std::printf("%-18s %4zu tokens, and %4zu of outputSchema\n", std::string(tool->name).c_str(),
                input / 4, output / 4);
    inputs += input;
    outputs += output;
  }
  std::printf("%-18s %4zu tokens, and %4zu of outputSchema\n", "all", inputs / 4, outputs / 4);
  EXPECT_LT(inputs / 4, 4500u);
  EXPECT_LE(outputs / 4, 2500u);
}

TEST(RegistryTest, EachToolTakesAResult) {
  for (const Tool* tool : AllTools()) {
    const auto result = std::ranges::find(tool->params, ParamKind::kResult, &Param::kind);
    ASSERT_NE(result, tool->params.end()) << tool->name;
    EXPECT_EQ(result->name, "result");
    EXPECT_EQ(result->description.empty(), !tool->items.empty())
        << tool->name << ": typed where lists are made";
    for (const std::string_view item : tool->items) {
      const auto field = std::ranges::find(tool->data, item, &ResultField::name);
      const bool known =
          item == "json" || tool->name == "project_actions" || field != tool->data.end();
      EXPECT_TRUE(known) << tool->name << " " << item;
    }
  }
}

TEST(RegistryTest, RequestsAreValidated) {
  const auto good = ParseJson(R"({"target":"test"})");
  EXPECT_TRUE(MakeToolRequest(*FindTool("make"), &*good).has_value());
  const auto bad = ParseJson(R"({"target":1})");
  EXPECT_EQ(CodeText(MakeToolRequest(*FindTool("make"), &*bad).error().code), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeText(MakeToolRequest(*FindTool("make"), nullptr).error().code), "INVALID_ARGUMENT");
  EXPECT_TRUE(MakeToolRequest(*FindTool("make_targets"), nullptr).has_value());
}

class EveryTool : public ToolFixture {
 protected:
  EveryTool() {
    Write("Makefile",
          "SEEN := $(shell touch seen ../outside/seen $(HOME)/seen; echo x > file)\n"
          ".PHONY: x\nx:\n\t@true\n");
    Write("file", "content\n");
    testing::WriteText(home_ / "file", "x");
    testing::WriteText(outside_ / "file", "x");
  }
  // What lies in the project and around it, and when it was last written to.
  std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> Everything() {
    std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> all;
    for (const auto& top : {project_, home_, outside_}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
        const bool file = entry.is_regular_file();
        all[entry.path()] = {file ? testing::ReadText(entry.path()) : "", entry.last_write_time()};
      }
    }
    return all;
  }
  // Of a call that would succeed.
  static const std::map<std::string_view, std::string>& Calls() {
    static const std::map<std::string_view, std::string> calls = {
        {"make_targets", "{}"},
        {"read", R"({"path":"file"})"},
        {"glob", R"({"pattern":"*"})"},
        {"grep", R"({"pattern":"content"})"},
        {"make", R"({"target":"x"})"},
        {"write", R"({"path":"new","content":"x"})"},
        {"edit", R"({"edits":[{"path":"file","old":"content","new":"x"}]})"},
        {"delete", R"({"path":"file"})"},
        {"bash", R"({"command":"touch new"})"}};
    return calls;
  }
};

TEST_F(EveryTool, ThatOnlyReadsChangesNothing) {
  const auto before = Everything();
  for (const Tool* tool : AllTools()) {
    if (!tool->annotations.read_only) continue;
    ASSERT_TRUE(Calls().contains(tool->name)) << tool->name;
    Data(Call(std::string(tool->name), Calls().at(tool->name)));
    EXPECT_TRUE(Everything() == before) << tool->name;
  }
  Data(Call("make", Calls().at("make")));
  EXPECT_TRUE(std::filesystem::exists(project_ / "seen")) << "what may change the project does";
  EXPECT_FALSE(std::filesystem::exists(outside_ / "seen"));
}

TEST_F(EveryTool, ThatIsCancelledBeforeItsTurnDoesNothing) {
  cancel_.Cancel();
  for (const auto& [name, arguments] : Calls()) {
    EXPECT_EQ(Code(Call(std::string(name), arguments)), "CANCELLED") << name;
  }
  EXPECT_EQ(Read("file"), "content\n");
  for (const char* name : {"new", "seen"}) EXPECT_FALSE(std::filesystem::exists(project_ / name));
}

}  // namespace
}  // namespace pa
