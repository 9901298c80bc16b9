#include "supervisor/tools/dry_run.h"

#include <gtest/gtest.h>

#include <memory>
#include <variant>

#include "base/json.h"
#include "policy/decide.h"
#include "policy/system_paths.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

class DryRunTest : public ::testing::Test {
 protected:
  ToolResult Render(std::optional<std::string> would_print,
                    policy::Purpose purpose = policy::Purpose::kBuild) {
    policy::Policy policy;
    policy.relaxations = relaxations_;
    policy.roots = {std::filesystem::canonical(dir_.path())};
    policy.enable_all = true;
    policy.system = policy::SystemPaths();
    const auto directory = policy::ValidateWorkingDirectory(policy, "");
    const policy::Decision decision =
        policy::Decide(policy, {.tool = "make", .target = "t", .directory = &directory.value()});
    const CommandReport report{.what = "make t",
                               .argv = {"make", "--", "a b"},
                               .working_dir = directory->path(),
                               .decision = "rule"};
    const auto allow = std::get<policy::Permission>(decision).For({.purpose = purpose});
    return RenderDryRun(report, allow, sandbox::DetectKernel(), std::move(would_print));
  }

  static JsonValue TmpDir(const ToolResult& result) {
    return ParseJson(result.data)->Find("confinement")->Find("paths")->Items().back();
  }

  testing::TempDir dir_;
  std::vector<policy::Relaxation> relaxations_;
};

TEST_F(DryRunTest, DataHoldsWhatIsGrantedBeyondTheUsualAndWhatIsNotEnforced) {
  const ToolResult result = Render("cc x\n");
  const auto data = ParseJson(result.data);
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(data->Find("command")->AsString(), "make -- 'a b'");
  EXPECT_EQ(data->Find("argv")->Dump(), R"(["make","--","a b"])");
  EXPECT_EQ(data->Find("would_print")->AsString(), "cc x\n");
  const JsonValue* confinement = data->Find("confinement");
  ASSERT_NE(confinement, nullptr);
  EXPECT_EQ(confinement->Find("network")->AsString(), "none");
  EXPECT_EQ(confinement->Find("limits")->Find("processes")->AsInteger(), 512);
  for (const JsonValue& path : confinement->Find("paths")->Items()) {
    EXPECT_FALSE(path.Find("reason")->AsString().empty());
    EXPECT_FALSE(path.Find("access")->AsString().empty());
  }
  EXPECT_EQ(TmpDir(result).Find("path")->AsString(), "$TMPDIR");
  EXPECT_GT(confinement->Find("system_paths")->AsInteger(), 10);
  EXPECT_FALSE(result.data.contains("/etc/passwd") || result.text.contains("/etc/passwd"));
  const auto& enforcement = confinement->Find("enforcement")->Items();
  EXPECT_FALSE(enforcement.empty());
  for (const JsonValue& protection : enforcement) {
    EXPECT_NE(protection.Find("level")->AsString(), "enforced");
  }
  EXPECT_EQ(result.decision, "rule");
}

// For a recipe of one line: 300 tokens of four bytes.
TEST_F(DryRunTest, ItIsShort) {
  const ToolResult result = Render("cc x\n");
  EXPECT_LT(result.data.size(), 1200u) << result.data;
  EXPECT_LT(result.text.size(), 1200u) << result.text;
}

TEST_F(DryRunTest, TextSaysTheSame) {
  const ToolResult result = Render(std::nullopt);
  EXPECT_EQ(ParseJson(result.data)->Find("would_print"), nullptr);
  EXPECT_TRUE(result.text.starts_with("dry run, nothing was changed: make -- 'a b'\n"));
  EXPECT_NE(result.text.find("(read, write, execute): working directory"), std::string::npos);
  EXPECT_NE(result.text.find("network: none"), std::string::npos);
}

TEST_F(DryRunTest, WhatThePolicyRelaxesForThisCallIsNamed) {
  const auto relaxations = [](const ToolResult& result) {
    return *ParseJson(result.data)->Find("confinement")->Find("relaxations");
  };
  const ToolResult plain = Render(std::nullopt);
  EXPECT_EQ(relaxations(plain).Dump(), "[]");
  EXPECT_EQ(plain.text.find("relaxed"), std::string::npos);
  relaxations_ = {{policy::FullNetwork(), "network", "full", {"policy.yaml", 2, 10}, ""}};
  const ToolResult build = Render(std::nullopt);
  EXPECT_EQ(relaxations(build).Items().at(0).Find("name")->AsString(), "full_network");
  EXPECT_NE(
      build.text.find("relaxed by the policy: full_network (network: full, policy.yaml:2:10): "),
      std::string::npos);
  EXPECT_EQ(relaxations(Render(std::nullopt, policy::Purpose::kInspect)).Dump(), "[]");
}

TEST_F(DryRunTest, TmpDirIsExecutableOnlyWhereBuildsAre) {
  const ToolResult build = Render(std::nullopt);
  EXPECT_EQ(TmpDir(build).Find("access")->AsString(), "read, write, execute");
  EXPECT_NE(build.text.find("$TMPDIR (read, write, execute)"), std::string::npos);
  const ToolResult create = Render(std::nullopt, policy::Purpose::kWriteFile);
  EXPECT_EQ(TmpDir(create).Find("access")->AsString(), "read, write");
  EXPECT_NE(create.text.find("$TMPDIR (read, write)"), std::string::npos);
}

}  // namespace
}  // namespace pa
