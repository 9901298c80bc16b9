#include "policy/host_files.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pa::policy {
namespace {

TEST(HostFiles, EachIsNamedOnceAndNamesSomethingBeneath) {
  std::set<std::string_view> names;
  for (const HostFile& file : HostFiles()) {
    EXPECT_TRUE(names.insert(file.path).second) << file.path;
    const std::string whole = "/" + std::string(file.path) + "/";
    EXPECT_FALSE(whole.contains("//") || whole.contains("/../") || whole.contains("/./")) << whole;
    EXPECT_EQ(FindHostFile(file.path), &file);
    EXPECT_EQ(file.Reason(),
              "executed by " + std::string(file.host) + " (" + std::string(file.why) + ")");
  }
}

// What agents work with, and what no program of this machine executes.
TEST(HostFiles, NoneHoldsWhatAgentsWorkWith) {
  for (const char* free :
       {".claude", ".claude/worktrees", ".claude/skills", ".agents/skills", ".vscode",
        ".vscode/extensions.json", ".idea", ".github/workflows", ".github/skills", ".husky",
        ".cursor/rules", ".devcontainer", ".pi/skills", "CLAUDE.md", "AGENTS.md", ".env"}) {
    for (const HostFile& file : HostFiles()) {
      if (file.base == HostFile::Base::kHome) continue;
      EXPECT_FALSE((std::string(free) + "/").starts_with(std::string(file.path) + "/")) << free;
    }
  }
}

TEST(HostFiles, WhatSaysHowWeAreStartedIsNotGivenUp) {
  for (const char* ours :
       {".mcp.json", ".gemini/settings.json", ".cursor/mcp.json", ".vscode/mcp.json"}) {
    EXPECT_NE(CheckUnprotected(ours).find("cannot be unprotected"), std::string::npos) << ours;
    EXPECT_EQ(FindHostFile(ours)->Line(), "") << ours;
  }
  EXPECT_EQ(CheckUnprotected(".vscode/tasks.json"), "");
  EXPECT_EQ(FindHostFile(".vscode/tasks.json")->Line(),
            "filesystem: {unprotect: [.vscode/tasks.json]}");
}

TEST(HostFiles, OnlyNamesOfTheTableAreGivenUp) {
  EXPECT_EQ(CheckUnprotected(".vscode/task.json"),
            "'.vscode/task.json' is not protected by default - did you mean '.vscode/tasks.json'?");
  EXPECT_NE(CheckUnprotected(".vscode"), "");
  EXPECT_NE(CheckUnprotected(".git/hooks"), "");
  EXPECT_NE(CheckUnprotected(""), "");
}

TEST(HostFiles, PackagesAreThoseBeneathTheTop) {
  EXPECT_TRUE(HoldsPackages("/p/node_modules/x", "/p"));
  EXPECT_TRUE(HoldsPackages("/p/a/vendor", "/p"));
  EXPECT_FALSE(HoldsPackages("/p/vendors/x", "/p"));
  EXPECT_FALSE(HoldsPackages("/vendor/p", "/vendor/p"));
  EXPECT_FALSE(HoldsPackages("/vendor/p/x", "/vendor/p"));
  EXPECT_FALSE(HoldsPackages("/other/vendor", "/p"));
}

}  // namespace
}  // namespace pa::policy
