#include "supervisor/tools/hidden_files.h"

#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

class HiddenFilesTest : public ToolFixture {
 protected:
  void Deny(const std::string& tool, const std::string& path) {
    policy_->permissions.push_back({.tool = tool, .path = path, .allow = false, .where = "policy"});
  }
  HiddenFiles FilesOf(const std::string& tool) {
    const CallContext call{policy_, *runner_, cache_, ambient_, nullptr, cancel_};
    const Work work{FindTool(tool), "", policy::ValidateWorkingDirectory(*policy_, "").value()};
    return {work, call};
  }
};

TEST_F(HiddenFilesTest, WhatARuleByPathRefuses) {
  Deny("grep", "secrets/");
  HiddenFiles files = FilesOf("grep");
  EXPECT_TRUE(files.any());
  EXPECT_TRUE(files.Hides("secrets/key"));
  EXPECT_TRUE(files.Hides((project_ / "secrets/key").string()));
  EXPECT_FALSE(files.Hides("src/a.c"));
  EXPECT_FALSE(files.Hides("secrets2/key"));
  EXPECT_EQ(files.hidden(), 2u);
}

TEST_F(HiddenFilesTest, OfThisToolOrOfAll) {
  Deny("grep", "a");
  Deny("*", "b");
  HiddenFiles files = FilesOf("glob");
  EXPECT_FALSE(files.Hides("a"));
  EXPECT_TRUE(files.Hides("b"));
}

TEST_F(HiddenFilesTest, RulesThatNameNoPathHideNothing) {
  Deny("glob", "");
  Deny("read", "a");
  HiddenFiles files = FilesOf("glob");
  EXPECT_FALSE(files.any());
  EXPECT_FALSE(files.Hides("a"));
  EXPECT_EQ(files.hidden(), 0u);
}

}  // namespace
}  // namespace pa
