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

}  // namespace
}  // namespace pa
