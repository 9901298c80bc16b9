#include "supervisor/janitor/janitor_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/await.h"
#include "tests/support/janitor_chores.h"
#include "tests/support/processes.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using testing::kTestCrash;
using testing::kTestDescriptors;
using testing::kTestEcho;
using testing::kTestHang;
using testing::kTestMemory;
using testing::kTestPid;
using testing::kTestRead;
using testing::kTestStay;

class JanitorProcessTest : public ::testing::Test {
 protected:
  static uv_loop_t* Begun(uv_loop_t* loop) {
    uv_loop_init(loop);
    return loop;
  }
  ~JanitorProcessTest() override {
    janitor_.Close();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    for (const pid_t pid : reaped_) waitpid(pid, nullptr, 0);
  }
  template <typename T, typename... Values>
  Result<T> Ask(JanitorOrder order, const Values&... values) {
    return testing::Await(loop_, pa::Ask<T>(janitor_, std::move(order), values...));
  }
  Result<std::string> Echo(const std::string& text) {
    return Ask<std::string>({.chore = kTestEcho}, text);
  }
  // Begins a chore that does not end by itself.
  std::shared_ptr<std::optional<Result<std::string>>> Hang(JanitorOrder order) {
    auto got = std::make_shared<std::optional<Result<std::string>>>();
    order.chore = kTestHang;
    Detach(pa::Ask<std::string>(janitor_, std::move(order), std::string()),
           [got](Result<std::string> answer) { *got = std::move(answer); });
    testing::RunUntil(&loop_, [&] { return !ChoresOf(janitor_.pid()).empty(); });
    return got;
  }
  // Without the one that waits for the next order.
  static std::vector<pid_t> ChoresOf(pid_t janitor) {
    std::vector<pid_t> chores = testing::ChildrenOf(janitor);
    std::erase_if(chores, [](pid_t pid) {
      return testing::ReadText("/proc/" + std::to_string(pid) + "/comm") != "pa-chore\n";
    });
    return chores;
  }

  uv_loop_t loop_;
  std::vector<pid_t> reaped_;
  JanitorProcess janitor_{Begun(&loop_), kOwnExecutable,
                          [this](pid_t pid) { reaped_.push_back(pid); }};
};

TEST_F(JanitorProcessTest, AnswersByAProcessForEachJob) {
  EXPECT_EQ(janitor_.pid(), -1) << "it is not started before it is needed";
  EXPECT_EQ(Echo("one").value(), "one");
  const pid_t pid = janitor_.pid();
  EXPECT_EQ(Echo("two").value(), "two");
  EXPECT_EQ(janitor_.pid(), pid);
  const std::string large(20u << 20, 'x');
  EXPECT_EQ(Echo(large).value(), large);
  const auto first = Ask<int>({.chore = kTestPid}, std::string());
  const auto second = Ask<int>({.chore = kTestPid}, std::string());
  EXPECT_NE(first.value(), second.value());
  for (int look = 0; look < 1000 && !ChoresOf(pid).empty(); ++look) usleep(10'000);
  EXPECT_TRUE(ChoresOf(pid).empty()) << "none stays";
}

TEST_F(JanitorProcessTest, AChoreReadsWhatItsOrderNamesAndNothingElse) {
  const testing::TempDir directory;
  const std::string base = directory.path();
  testing::WriteText(base + "/mine/x", "content");
  testing::WriteText(base + "/other/x", "secret");
  const auto read = [&](const std::string& path) {
    return Ask<Result<std::string>>({.chore = kTestRead, .read = {base + "/mine"}}, base + path);
  };
  EXPECT_EQ(read("/mine/x").value().value(), "content");
  EXPECT_EQ(read("/other/x").value().error().sys_errno, EACCES);
}

TEST_F(JanitorProcessTest, DescriptorsArriveInTheirOrder) {
  JanitorOrder order{.chore = kTestDescriptors};
  std::vector<std::uint64_t> inodes;
  for (std::size_t i = 0; i < kMaxJanitorDescriptors; ++i) {
    const testing::TempDir directory;
    order.descriptors.push_back(
        std::make_shared<const UniqueFd>(open(directory.path().c_str(), O_PATH | O_CLOEXEC)));
    struct stat status{};
    ASSERT_EQ(fstat(order.descriptors.back()->get(), &status), 0);
    inodes.push_back(status.st_ino);
  }
  EXPECT_EQ(Ask<std::vector<std::uint64_t>>(order, std::string()).value(), inodes);
  order.descriptors.push_back(order.descriptors.front());
  EXPECT_EQ(Ask<std::vector<std::uint64_t>>(order, std::string()).error().sys_errno, E2BIG);
}

TEST_F(JanitorProcessTest, WhatEndsWithoutAnAnswerIsAnError) {
  const auto crashed = Ask<std::string>({.chore = kTestCrash}, std::string());
  EXPECT_EQ(crashed.error().sys_errno, EPIPE) << crashed.error().Message();
  EXPECT_EQ(Ask<std::string>({.chore = "none"}, std::string()).error().sys_errno, ENOSYS);
  EXPECT_EQ(Ask<std::vector<int>>({.chore = kTestEcho}, std::string("x")).error().sys_errno,
            EBADMSG);
  EXPECT_EQ(Echo("still there").value(), "still there");
}

TEST_F(JanitorProcessTest, MemoryHasALimit) {
  if (testing::kAddressSanitizer) GTEST_SKIP() << "its shadow is more than any limit";
  EXPECT_EQ(Ask<std::string>({.chore = kTestMemory}, std::string()).error().sys_errno, ENOMEM);
}

TEST_F(JanitorProcessTest, WhatTakesTooLongIsKilled) {
  const auto hangs = Hang({.time = milliseconds(300)});
  testing::RunUntil(&loop_, [&] { return hangs->has_value(); });
  EXPECT_EQ((*hangs)->error().sys_errno, ETIME) << (*hangs)->error().Message();
}

TEST_F(JanitorProcessTest, WhatTakesLongHoldsUpNobody) {
  const auto given_up = std::make_shared<GiveUp>();
  const auto hangs = Hang({.given_up = given_up});
  EXPECT_EQ(Echo("meanwhile").value(), "meanwhile");
  EXPECT_FALSE(*hangs);
  given_up->Set();
  testing::RunUntil(&loop_, [&] { return hangs->has_value(); });
}

TEST_F(JanitorProcessTest, WhatNobodyWaitsForIsKilled) {
  const auto given_up = std::make_shared<GiveUp>();
  const auto hangs = Hang({.given_up = given_up});
  given_up->Set();
  testing::RunUntil(&loop_, [&] { return hangs->has_value(); });
  EXPECT_EQ((*hangs)->error().sys_errno, ECANCELED);
  EXPECT_EQ(
      Ask<std::string>({.chore = kTestHang, .given_up = given_up}, std::string()).error().sys_errno,
      ECANCELED);
}

TEST_F(JanitorProcessTest, KilledItIsStartedAgain) {
  EXPECT_EQ(Echo("one").value(), "one");
  const pid_t first = janitor_.pid();
  kill(first, SIGKILL);
  // Its last child may still do one order.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Echo("two").value(), "two");
  EXPECT_NE(janitor_.pid(), first);
  EXPECT_EQ(reaped_, std::vector<pid_t>{first});
}

// As one that hostile files took over: it says that it is done, and stays.
TEST_F(JanitorProcessTest, WhatHasAnsweredDoesNotStay) {
  EXPECT_EQ(Echo("one").value(), "one");
  const auto answer = Ask<std::string>({.chore = kTestStay}, std::string());
  EXPECT_EQ(answer.error().sys_errno, EPIPE) << "what it wrote is no answer";
  for (int look = 0; look < 1000 && !ChoresOf(janitor_.pid()).empty(); ++look) usleep(10'000);
  EXPECT_TRUE(ChoresOf(janitor_.pid()).empty());
}

TEST_F(JanitorProcessTest, ItRestsOnlyWhenItHasNothingToDo) {
  janitor_.Rest();
  const auto hangs = Hang({.time = milliseconds(300)});
  const pid_t first = janitor_.pid();
  janitor_.Rest();
  EXPECT_EQ(janitor_.pid(), first);
  testing::RunUntil(&loop_, [&] { return hangs->has_value(); });
  EXPECT_EQ((*hangs)->error().sys_errno, ETIME);
  janitor_.Rest();
  EXPECT_EQ(janitor_.pid(), -1);
  EXPECT_EQ(Echo("again").value(), "again");
}

// Three times; then nobody knows whether the next one would live.
TEST_F(JanitorProcessTest, AChoreThatIsKilledIsDoneAgainAFewTimes) {
  const auto hangs = Hang({});
  std::set<pid_t> killed;  // which may be there until they are reaped
  testing::RunUntil(&loop_, [&] {
    for (const pid_t pid : ChoresOf(janitor_.pid())) {
      if (kill(pid, SIGKILL) == 0) killed.insert(pid);
    }
    return hangs->has_value();
  });
  EXPECT_EQ((*hangs)->error().sys_errno, EPIPE);
  EXPECT_EQ(killed.size(), 3u);
}

// Ten seconds; its last child does one more order.
TEST_F(JanitorProcessTest, AStoppedOneIsReplaced) {
  EXPECT_EQ(Echo("one").value(), "one");
  const pid_t first = janitor_.pid();
  kill(first, SIGSTOP);
  for (const char* text : {"two", "three", "four"}) EXPECT_EQ(Echo(text).value(), text);
  EXPECT_NE(janitor_.pid(), first);
}

TEST_F(JanitorProcessTest, ClosedItAnswersNobodyAndLeavesNobody) {
  const auto hangs = Hang({});
  const pid_t pid = janitor_.pid();
  const std::vector<pid_t> chores = ChoresOf(pid);
  janitor_.Close();
  ASSERT_TRUE(*hangs);
  EXPECT_EQ((*hangs)->error().sys_errno, ECANCELED);
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(Echo("x").error().sys_errno, ECANCELED);
  bool gone = false;
  for (int look = 0; look < 1000 && !gone; ++look) {
    gone = waitpid(chores.at(0), nullptr, WNOHANG) > 0 || kill(chores[0], 0) != 0;
    if (!gone) usleep(10'000);
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace pa
