// What wants an approval, with the real tools and the real worker.
#include "supervisor/engine/approved_call.h"

#include <gtest/gtest.h>

#include <deque>

#include "supervisor/state/edit_journal.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

// Says what it was told to say, and keeps what it was asked.
class FakeApprover final : public Approver {
 public:
  Task<Answer> Ask(std::vector<Question> questions, CallContext&) override {
    std::string calls;
    for (const Question& question : questions) calls += question.call + ";";
    asked.push_back(calls);
    const Answer answer = answers.empty() ? Answer::kDecline : answers.front();
    if (!answers.empty()) answers.pop_front();
    co_return answer;
  }

  std::deque<Answer> answers;
  std::vector<std::string> asked;
};

class ApprovedCallTest : public ToolFixture {
 protected:
  ApprovedCallTest() { approver_ = &user_; }
  void AskAbout(policy::Rule rule) {
    rule.verdict = policy::Verdict::kAsk;
    rule.where = "policy";
    policy_->permissions.push_back(std::move(rule));
  }
  std::string InProject(const char* path) { return (project_ / path).string(); }

  FakeApprover user_;
};

TEST_F(ApprovedCallTest, RunsWithAYesAndNotWithoutOne) {
  Write("Makefile", ".PHONY: deploy test\ndeploy:\n\t@touch deployed\ntest:\n\t@echo tested\n");
  AskAbout({.tool = "make", .target = "deploy*", .reason = "touches production"});
  const std::string deploy = R"({"target":"deploy"})";
  for (const Answer no :
       {Answer::kDecline, Answer::kCancel, Answer::kTimeout, Answer::kUnavailable}) {
    user_.answers = {no};
    EXPECT_EQ(Code(Call("make", deploy)), "APPROVAL_DECLINED");
    EXPECT_FALSE(record_.allowed);
    ASSERT_EQ(record_.approvals.size(), 1u);
    EXPECT_EQ(record_.approvals[0].answer, AnswerName(no));
    EXPECT_EQ(record_.approvals[0].rule, "policy");
  }
  EXPECT_FALSE(fs::exists(project_ / "deployed"));
  user_.answers = {Answer::kAccept};
  EXPECT_EQ(Data(Call("make", deploy)).Find("exit_code")->AsInteger(), 0);
  EXPECT_TRUE(fs::exists(project_ / "deployed"));
  EXPECT_EQ(user_.asked, std::vector<std::string>(5, "make deploy;"));
  EXPECT_EQ(record_.approvals.at(0).answer, std::string("accept"));
  EXPECT_EQ(record_.rule, "policy");
  Data(Call("make", R"({"target":"test"})"));
  EXPECT_EQ(user_.asked.size(), 5u) << "nobody asks about that one";
}

TEST_F(ApprovedCallTest, AYesIsForOneCall) {
  AskAbout({.tool = "bash"});
  user_.answers = {Answer::kAccept};
  Data(Call("bash", R"({"command":"true"})"));
  EXPECT_EQ(Code(Call("bash", R"({"command":"true"})")), "APPROVAL_DECLINED");
}

TEST_F(ApprovedCallTest, WithoutAnybodyToAskTheAnswerIsNo) {
  approver_ = nullptr;
  AskAbout({.tool = "bash", .reason = "a shell"});
  const ToolResult result = Call("bash", R"({"command":"touch x"})");
  EXPECT_EQ(Code(result), "APPROVAL_DECLINED");
  EXPECT_NE(result.text.find("'bash touch x': a shell - by policy"), std::string::npos)
      << result.text;
  EXPECT_FALSE(fs::exists(project_ / "x"));
}

// Neither about what the schema refuses, nor about a target that there is not.
TEST_F(ApprovedCallTest, NobodyIsAskedAboutWhatCannotBe) {
  Write("Makefile", ".PHONY: test\ntest:\n\t@true\n");
  AskAbout({.tool = "make"});
  EXPECT_EQ(Code(Call("make", R"({"target":"nosuch"})")), "INVALID_TARGET");
  EXPECT_FALSE(record_.allowed);
  EXPECT_EQ(Code(Call("make", R"({"target":7})")), "INVALID_ARGUMENT");
  EXPECT_TRUE(user_.asked.empty());
  user_.answers = {Answer::kAccept};
  Data(Call("make", R"({"target":"test"})"));
  EXPECT_EQ(user_.asked.size(), 1u);
}

// What says that there is no such target is make_targets, and that may not run.
TEST_F(ApprovedCallTest, WhereTargetsMayNotBeLookedAtTheUserIsAskedFirst) {
  Write("Makefile", "$(shell touch ../outside/seen)\n.PHONY: test\ntest:\n\t@true\n");
  AskAbout({.tool = "*"});
  EXPECT_EQ(Code(Call("make", R"({"target":"nosuch"})")), "APPROVAL_DECLINED");
  EXPECT_EQ(user_.asked, std::vector<std::string>{"make nosuch;"});
  EXPECT_TRUE(record_.run.commands.empty()) << "nothing has run";
}

TEST_F(ApprovedCallTest, SeveralFilesAreOneQuestion) {
  for (const char* name : {"secrets/a", "secrets/b", "c"}) Write(name, "old");
  AskAbout({.tool = "edit", .path = "secrets"});
  const std::string edits =
      R"({"edits":[{"path":"secrets/a","old":"old","new":"1"},{"path":"c","old":"old","new":"2"},)"
      R"({"path":"secrets/b","old":"old","new":"3"}]})";
  EXPECT_EQ(Code(Call("edit", edits)), "APPROVAL_DECLINED");
  EXPECT_EQ(Read("c"), "old");
  user_.answers = {Answer::kAccept};
  Data(Call("edit", edits));
  EXPECT_EQ(Read("secrets/a") + Read("c") + Read("secrets/b"), "123");
  const std::string both =
      "edit " + InProject("secrets/a") + ";edit " + InProject("secrets/b") + ";";
  EXPECT_EQ(user_.asked, (std::vector<std::string>{both, both}));
}

TEST_F(ApprovedCallTest, ADirectoryThatHoldsWhatIsAskedAbout) {
  Write("dir/secrets/key", "x");
  Write("dir/secrets/other", "x");
  AskAbout({.tool = "delete", .path = "secrets"});
  EXPECT_EQ(Code(Call("delete", R"({"path":"dir","recursive":true})")), "APPROVAL_DECLINED");
  EXPECT_TRUE(fs::exists(project_ / "dir/secrets/key"));
  user_.answers = {Answer::kAccept};
  Data(Call("delete", R"({"path":"dir","recursive":true})"));
  EXPECT_FALSE(fs::exists(project_ / "dir"));
  EXPECT_EQ(user_.asked, std::vector<std::string>(2, "delete " + InProject("dir") + ";"));
}

TEST_F(ApprovedCallTest, SearchesShowWhatWasApproved) {
  Write("secrets/key", "needle\n");
  Write("a", "needle\n");
  AskAbout({.tool = "grep", .path = "secrets"});
  const auto found = [&](const ToolResult& result) {
    return Data(result).Find("files")->Items().size();
  };
  EXPECT_EQ(found(Call("grep", R"({"pattern":"needle","mode":"files"})")), 1u);
  EXPECT_TRUE(user_.asked.empty()) << "nobody is asked about each file";
  const std::string there = R"({"pattern":"needle","mode":"files","path":"secrets"})";
  EXPECT_EQ(Code(Call("grep", there)), "APPROVAL_DECLINED");
  user_.answers = {Answer::kAccept};
  EXPECT_EQ(found(Call("grep", there)), 1u);
}

TEST_F(ApprovedCallTest, WhatAnApprovedEditLeftHalfDoneIsPutBackUnasked) {
  Write("secrets/a", "new");
  Write("secrets/b", "old");
  AskAbout({.tool = "edit", .path = "secrets"});
  const std::vector<JournalEntry> entries = {{project_, "secrets/a", Sha256Of("new"), "old"},
                                             {project_, "secrets/b", Sha256Of("new"), "old"}};
  {
    ASSERT_TRUE(EditJournal::Begin(base_ / "state/project-actions/edits", entries, false));
  }
  Write("b", "1");
  Data(Call("edit", R"({"edits":[{"path":"b","old":"1","new":"2"}]})"));
  EXPECT_EQ(Read("secrets/a"), "old");
  EXPECT_TRUE(user_.asked.empty());
}

TEST_F(ApprovedCallTest, GitIsAskedOnce) {
  Write("a", "x");
  AskAbout({.tool = "git_add"});
  user_.answers = {Answer::kAccept};
  EXPECT_NE(Code(Call("git_add", R"({"paths":["a"]})")), "APPROVAL_DECLINED");
  EXPECT_EQ(user_.asked, std::vector<std::string>{"git_add;"});
}

}  // namespace
}  // namespace pa
