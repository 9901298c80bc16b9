#include "supervisor/clients/client_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace pa {
namespace {

TEST(ClientConfig, EachClientHasItsNameAndItsFile) {
  const ConfigBases bases{.project = "/p", .config_home = "/h/.config", .codex_home = "/h/.codex"};
  const std::set<std::string> expected = {
      "claude-code /p/.mcp.json",
      "claude-desktop /h/.config/Claude/claude_desktop_config.json",
      "codex /h/.codex/config.toml",
      "cursor /p/.cursor/mcp.json",
      "gemini /p/.gemini/settings.json",
      "vscode /p/.vscode/mcp.json",
  };
  std::set<std::string> found;
  for (const Client& client : Clients()) {
    found.insert(std::string(client.name) + " " + ConfigFile(client, bases));
    EXPECT_EQ(FindClient(client.name), &client);
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(FindClient("emacs"), nullptr);
}

// As its own reader takes it: Claude no comments, Gemini no trailing commas
// (tests/clients/readers).
TEST(ClientConfig, EachClientsDialectIsRead) {
  const auto accepted = [](const char* name, const char* text) {
    const Client& client = *FindClient(name);
    const ServerEntry entry{.section = std::string(client.section), .name = "us", .command = "pa"};
    return MergeInto(text, client, entry).has_value();
  };
  for (const char* name : {"claude-code", "claude-desktop"}) {
    EXPECT_TRUE(accepted(name, "{\"a\": 1}")) << name;
    EXPECT_FALSE(accepted(name, "{\"a\": 1 /* */}")) << name;
  }
  EXPECT_TRUE(accepted("gemini", "{\"a\": 1 /* */}"));
  EXPECT_FALSE(accepted("gemini", "{\"a\": 1,}"));
  for (const char* name : {"vscode", "cursor"}) EXPECT_TRUE(accepted(name, "{\"a\": 1, /* */}"));
  EXPECT_TRUE(accepted("codex", "a = 1"));
  EXPECT_FALSE(accepted("codex", "{\"a\": 1}"));
}

TEST(ClientConfig, AByteOrderMarkStays) {
  for (const Client& client : Clients()) {
    const ServerEntry entry{.section = std::string(client.section), .name = "us", .command = "pa"};
    const auto now = MergeInto("\xEF\xBB\xBF", client, entry);
    ASSERT_TRUE(now) << client.name;
    EXPECT_EQ(*now, "\xEF\xBB\xBF" + MergeInto("", client, entry).value_or("")) << client.name;
    const auto broken = MergeInto("\xEF\xBB\xBF<", client, entry);
    ASSERT_FALSE(broken);
    EXPECT_EQ(PlaceOf("\xEF\xBB\xBF<", broken.error().at).line, 1u);
    EXPECT_GE(broken.error().at, 3u) << client.name;
  }
}

TEST(ClientConfig, TheArgumentsOfAnEntryAreRead) {
  using Args = std::vector<std::string>;
  const ServerEntry entry{
      .section = "", .name = "us", .command = "p", .args = {"serve", "\xC3\xBC"}};
  for (const Client& client : Clients()) {
    ServerEntry ours = entry;
    ours.section = std::string(client.section);
    const std::string text = "\xEF\xBB\xBF" + MergeInto("", client, ours).value();
    EXPECT_EQ(ArgsIn(text, client, "us"), entry.args) << client.name;
    EXPECT_EQ(ArgsIn(text, client, "them"), std::nullopt) << client.name;
    for (const char* none : {"", "[", "7"}) EXPECT_EQ(ArgsIn(none, client, "us"), std::nullopt);
  }
  EXPECT_EQ(ArgsIn("[mcp_servers]\nus = {args = [1]}", *FindClient("codex"), "us"), std::nullopt);
  EXPECT_EQ(ArgsIn(R"({"servers": {"us": {"args": ["a", 1]}}})", *FindClient("vscode"), "us"),
            std::nullopt);
  EXPECT_EQ(ArgsIn(R"({"servers": {"us": {"args": []}}})", *FindClient("vscode"), "us"), Args{});
}

TEST(ClientConfig, TheClientsOwnToolsAreSwitchedOffAndOnAgain) {
  for (const Client& client : Clients()) {
    const std::vector<std::string> all = SwitchesOf(client);
    EXPECT_EQ(all.empty(), client.own_tools.file.empty()) << client.name;
    EXPECT_TRUE(!all.empty() || !client.own_tools.rest.empty()) << client.name;
    if (all.empty()) continue;
    const std::string mark = "\xEF\xBB\xBF";
    const std::string off = WithSwitches(mark, client, all).value();
    EXPECT_TRUE(off.starts_with(mark)) << client.name;
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), SwitchesIn(off, client).size()) << off;
    const std::string some = WithoutSwitches(off, client, {all.front()}).value();
    EXPECT_EQ(SwitchesIn(some, client).size(), all.size() - 1) << some;
    EXPECT_EQ(SwitchesIn(WithoutSwitches(some, client, all).value(), client).size(), 0u) << some;
  }
  const Client& codex = *FindClient("codex");
  const auto problem =
      WithSwitches("sandbox_mode = \"workspace-write\"\n", codex, {"sandbox_mode"});
  ASSERT_FALSE(problem);
  EXPECT_TRUE(problem.error().message.contains("sandbox_mode = \"read-only\""));
}

TEST(ClientConfig, AnEntryIsRemoved) {
  for (const Client& client : Clients()) {
    const ServerEntry entry{.section = std::string(client.section), .name = "us", .command = "p"};
    const std::string text = MergeInto("", client, entry).value();
    const std::string gone = WithoutEntry(text, client, "us").value();
    EXPECT_FALSE(gone.contains("us\"") || gone.contains(".us")) << gone;
    EXPECT_EQ(WithoutEntry(gone, client, "us").value(), gone);
    EXPECT_FALSE(WithoutEntry("[", client, "us"));
  }
}

}  // namespace
}  // namespace pa
