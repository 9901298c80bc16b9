#include "supervisor/cli/init_command.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

std::string ArgsFor(const char* client, const CommonOptions& options) {
  const auto entry = EntryFor(*FindClient(client), options, "pa");
  if (!entry) return entry.error();
  std::string args;
  for (const std::string& arg : entry->args) args += (args.empty() ? "" : " ") + arg;
  return args;
}

TEST(InitCommand, TheRootIsGivenWhereTheClientNeedsIt) {
  EXPECT_EQ(ArgsFor("codex", {.roots = {"/p"}}), "serve --root /p");
  EXPECT_EQ(ArgsFor("cursor", {.roots = {"/p", "/q"}}), "serve --root /p --root /q");
  EXPECT_EQ(ArgsFor("vscode", {.roots = {"/p", "/q"}}),
            "serve --root ${workspaceFolder} --root /q");
  EXPECT_EQ(ArgsFor("claude-code", {.roots = {}}), "serve");
  EXPECT_EQ(ArgsFor("claude-code", {.roots = {"/p"}}), "serve");
  EXPECT_EQ(ArgsFor("claude-code", {.roots = {"/p", "/q"}}), "serve --root /p --root /q");
}

TEST(InitCommand, OptionsArePassedOn) {
  EXPECT_EQ(ArgsFor("claude-code", {.enable = {"make", "bash"},
                                    .policy_file = "/etc/p.yaml",
                                    .worker = "/opt/worker",
                                    .verbose = true}),
            "serve --enable make,bash --policy /etc/p.yaml --worker /opt/worker");
}

TEST(InitCommand, WhatTheClientWouldNotReadAsItStandsIsRefused) {
  EXPECT_NE(ArgsFor("gemini", {.roots = {"/p/$x"}}).find("has a $, which Gemini CLI takes for"),
            std::string::npos);
  EXPECT_EQ(ArgsFor("codex", {.roots = {"/p/$x"}}), "serve --root /p/$x");
  EXPECT_NE(
      ArgsFor("codex", {.roots = {"/p/\xFF"}}).find("is not UTF-8, and the configuration must be"),
      std::string::npos);
  EXPECT_FALSE(EntryFor(*FindClient("vscode"), {}, "/opt/$b/pa"));
}

TEST(InitCommand, EachClientHasItsShape) {
  const auto vscode = EntryFor(*FindClient("vscode"), {}, "pa");
  ASSERT_TRUE(vscode);
  EXPECT_TRUE(vscode->with_type);
  EXPECT_EQ(vscode->section, "servers");
  EXPECT_EQ(vscode->name, "project-actions");
  EXPECT_EQ(vscode->command, "pa");
  const auto codex = EntryFor(*FindClient("codex"), {}, "pa");
  ASSERT_TRUE(codex);
  EXPECT_FALSE(codex->with_type);
  EXPECT_EQ(codex->tool_timeout_sec, 600);
}

}  // namespace
}  // namespace pa
