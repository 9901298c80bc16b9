#include "supervisor/tools/hidden_files.h"

#include "supervisor/tools/registry.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

class HiddenFilesTest : public ToolFixture {
 protected:
  void Deny(const std::string& tool, const std::string& path) {
    policy_->permissions.push_back(
        {.tool = tool, .path = path, .verdict = policy::Verdict::kDeny, .where = "policy"});
  }
  HiddenFiles FilesOf(const std::string& tool) {
    call_.emplace(policy_, *runner_, cache_, *store_, *result_files_, ambient_, nullptr, cancel_);
    const Work work{FindTool(tool), "", policy::ValidateWorkingDirectory(*policy_, "").value()};
    return {work, *call_};
  }

  std::optional<CallContext> call_;
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

TEST_F(HiddenFilesTest, WhatTheUserIsAskedAboutUntilHeHasSaidYes) {
  policy_->permissions.push_back(
      {.tool = "grep", .path = "keys", .verdict = policy::Verdict::kAsk, .where = "policy"});
  HiddenFiles files = FilesOf("grep");
  EXPECT_TRUE(files.Hides("a/keys/x"));
  EXPECT_EQ(files.rule(), &policy_->permissions[0]);
  const auto grant = [&](const char* call) {
    call_->approvals.Grant(DigestOf({"policy", "", call + (project_ / "a/keys").string()}));
  };
  grant("read ");
  EXPECT_TRUE(files.Hides("a/keys/x")) << "of another tool";
  grant("grep ");
  EXPECT_FALSE(files.Hides("a/keys/x"));
  EXPECT_FALSE(files.Hides("a/keys"));
  EXPECT_TRUE(files.Hides("b/keys/x"));
}

}  // namespace
}  // namespace pa
