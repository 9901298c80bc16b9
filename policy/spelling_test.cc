#include "policy/spelling.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace pa::policy {
namespace {

TEST(Spelling, WhatCaseTailsAndStreamsHide) {
  for (const char* spelling : {".git", ".GIT", ".Git...", ".git ", ".git . ", ".git:x",
                               ".git::$INDEX_ALLOCATION", ".git .:x"}) {
    EXPECT_TRUE(Spells(spelling, ".git")) << spelling;
  }
  for (const char* other :
       {"git", ".gitx", ".git.bak", ".git.x", " .git", "..git", ".gi", "", ".", ":x", "/"}) {
    EXPECT_FALSE(Spells(other, ".git")) << other;
  }
  EXPECT_TRUE(Spells("", "")) << "before the first slash";
}

TEST(Spelling, ShortNames) {
  for (const auto& [spelling, name] : {std::pair("GIT~1", ".git"),
                                       {"git~9", ".git"},
                                       {"VSCODE~1", ".vscode"},
                                       {"vscode~2", ".vscode"},
                                       {"VS1A9f~1", ".vscode"},
                                       {"MCP~1.JSO", ".mcp.json"},
                                       {"mcp~1.jso ", ".mcp.json"},
                                       {"SETTIN~1.JSO", "settings.json"},
                                       {"SETTIN~3.JSO", "settings.local.json"},
                                       {"EXTENS~1", "extensions"},
                                       {"ENVRC~1", ".envrc"}}) {
    EXPECT_TRUE(Spells(spelling, name)) << spelling;
  }
  for (const auto& [other, name] : {std::pair("VSCODE~x", ".vscode"),
                                    {"VSCODE~", ".vscode"},
                                    {"VSCODE~12", ".vscode"},
                                    {"VSCODE~1.bak", ".vscode"},
                                    {".vscode~1", ".vscode"},
                                    {"VSCO~1", ".vscode"},
                                    {"VS1A9x~1", ".vscode"},
                                    {"foo~1", ".vscode"},
                                    {"~1", ".vscode"},
                                    {"mcp~1.json", ".mcp.json"},
                                    {".mcp.json~1", ".mcp.json"},
                                    {"hooks~1", "hooks"},
                                    {"commands~1", "commands"},
                                    {"COMMAN~1", "commands"}}) {
    EXPECT_FALSE(Spells(other, name)) << other << ": another file, or " << name << " has none";
  }
}

TEST(Spelling, PathsAreTakenByComponents) {
  const auto left = [](std::string_view spelled, std::string_view named) {
    TakeSame(spelled, named);
    return std::string(spelled) + "|" + std::string(named);
  };
  EXPECT_EQ(left("/p/VSCODE~1/tasks.json", "/p/.vscode/tasks.json"), "|");
  EXPECT_EQ(left("/p/VSCODE~1/x/y", "/p/.vscode"), "x/y|");
  EXPECT_EQ(left("/p/.Vscode", "/p/.vscode/tasks.json"), "|tasks.json");
  EXPECT_EQ(left("/p/.vscode2/tasks.json", "/p/.vscode/tasks.json"),
            ".vscode2/tasks.json|.vscode/tasks.json");
  EXPECT_EQ(left("a/b", "/a/b"), "a/b|/a/b");
  EXPECT_EQ(left("/p/a/b", "/p/a/b"), "|");
  EXPECT_EQ(left("/p/a/bc", "/p/a/b"), "bc|b");
  EXPECT_EQ(left("/p/a/b", "/p/a/bc"), "b|bc");
  EXPECT_EQ(left("/p/A/b", "/p/a/b"), "|");
  EXPECT_EQ(left("", "/p"), "|/p");
}

}  // namespace
}  // namespace pa::policy
