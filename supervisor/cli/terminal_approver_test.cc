#include "supervisor/cli/terminal_approver.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "base/unique_fd.h"
#include "supervisor/results/result_files.h"
#include "supervisor/run/runner_test_support.h"
#include "supervisor/tools/target_cache.h"
#include "tests/support/fake_world.h"
#include "tests/support/run_until.h"

namespace pa {
namespace {

class TerminalApproverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    keyboard_.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(keyboard_);
    ASSERT_EQ(grantpt(keyboard_.get()), 0);
    ASSERT_EQ(unlockpt(keyboard_.get()), 0);
    terminal_.reset(open(ptsname(keyboard_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(terminal_);
  }
  ~TerminalApproverTest() override {
    runner_.Shutdown([] {});
    uv_run(loop_.get(), UV_RUN_DEFAULT);
  }
  void Type(std::string_view text) { ASSERT_TRUE(WriteAll(keyboard_.get(), text)); }
  // The question is asked; what is said to it comes after `then`.
  Answer AskAnd(const std::function<void()>& then) {
    TerminalApprover approver(loop_.get(), terminal_.get(), terminal_.get());
    call_.shown.arguments = "target = deploy";
    std::optional<Answer> answer;
    std::vector<Question> questions = {{"permissions[0]", "why", "make deploy"}};
    Task<Answer> task = approver.Ask(questions, call_);
    Detach(std::move(task), [&](Answer said) { answer = said; });
    then();
    testing::RunUntil(loop_.get(), [&] { return answer.has_value(); });
    return answer.value_or(Answer::kUnavailable);
  }
  Answer Say(std::string_view text) {
    return AskAnd([&] { Type(text); });
  }

  UniqueFd keyboard_, terminal_;
  TestLoop loop_;
  ResultStore results_{"/tmp", 1U << 20};
  ResultFiles result_files_{"/tmp"};
  Runner runner_{loop_.get(), {.worker_path = "/nonexistent", .tmp_base = "/tmp"}, results_};
  TargetCache targets_;
  const std::map<std::string, std::string> ambient_;
  CancelSource cancel_;
  CallContext call_{.policy = std::make_shared<policy::Policy>(),
                    .runner = runner_,
                    .targets = targets_,
                    .results = results_,
                    .result_files = result_files_,
                    .ambient = ambient_,
                    .cancel = cancel_};
};

TEST_F(TerminalApproverTest, OnlyYIsYes) {
  EXPECT_EQ(Say("y\n"), Answer::kAccept);
  EXPECT_EQ(Say("Yes\n"), Answer::kAccept);
  for (const char* no : {"n\n", "\n", "no y\n", " y\n"}) EXPECT_EQ(Say(no), Answer::kDecline) << no;
  EXPECT_EQ(Say("\x04"), Answer::kCancel) << "end of input";
}

TEST_F(TerminalApproverTest, WhatWasTypedBeforeIsNoAnswer) {
  Type("y\n");
  EXPECT_EQ(Say("n\n"), Answer::kDecline);
}

TEST_F(TerminalApproverTest, ACallThatIsCancelledWaitsNoLonger) {
  EXPECT_EQ(AskAnd([&] { cancel_.Cancel(); }), Answer::kCancel);
}

TEST_F(TerminalApproverTest, TheQuestionIsShown) {
  Say("n\n");
  std::string shown(4096, '\0');
  const ssize_t got = read(keyboard_.get(), shown.data(), shown.size());
  shown.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  EXPECT_NE(shown.find("    make deploy\r\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("Arguments: target = deploy\r\n\r\n[y/N] "), std::string::npos) << shown;
}

}  // namespace
}  // namespace pa
