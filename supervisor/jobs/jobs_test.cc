#include "supervisor/jobs/jobs.h"

#include <gtest/gtest.h>

#include "tests/support/fake_calls.h"
#include "tests/support/parsed_json.h"
#include "tests/support/run_until.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using testing::ParsedJson;

class JobsTest : public ::testing::Test {
 protected:
  std::shared_ptr<Job> Begun(const std::string& command = "make test") {
    auto job = jobs_.Begin("make", calls_.outer());
    EXPECT_TRUE(job);
    jobs_.Start(*job, command);
    return *job;
  }
  void Print(std::string_view text) { calls_.outer().sink->OnOutput(Stream::kStdout, text); }
  static ToolResult Exited(int code) {
    ToolResult result;
    result.data = "{}";
    result.ending = Ending{.outcome = Outcome::kExited, .exit_code = code};
    return result;
  }
  // Runs the loop until `task` is done.
  bool Await(Task<bool> task) {
    std::optional<bool> value;
    Detach(std::move(task), [&](bool done) { value = done; });
    testing::RunUntil(calls_.loop(), [&] { return value.has_value(); });
    return value.value_or(false);
  }

  FakeCalls calls_;
  Jobs jobs_;
};

TEST_F(JobsTest, AreListedFromTheirStartNewestFirst) {
  auto begun = jobs_.Begin("make", calls_.outer());
  ASSERT_TRUE(begun);
  EXPECT_TRUE(jobs_.all().empty()) << "the user is asked, maybe";
  jobs_.Start(*begun, "make test");
  const auto second = Begun("make run");
  ASSERT_EQ(jobs_.all().size(), 2u);
  EXPECT_EQ(jobs_.all().front(), second);
  EXPECT_EQ(jobs_.Find(second->id), second);
  EXPECT_EQ(jobs_.Find("nosuch"), nullptr);
  EXPECT_NE((*begun)->id, second->id);
}

TEST_F(JobsTest, TheHandleSaysWhatThereIs) {
  const auto job = Begun();
  const JsonValue handle = ParsedJson(HandleOf(*job).data);
  const JsonValue& told = *handle.Find("job");
  EXPECT_EQ(told.Find("id")->AsString(), job->id);
  EXPECT_EQ(told.Find("state")->AsString(), "running");
  EXPECT_EQ(told.Find("command")->AsString(), "make test");
  EXPECT_EQ(told.Find("uris")->Find("output")->AsString(), job->uri);
  EXPECT_GT(job->expires - job->started, kKeepJobs);
}

TEST_F(JobsTest, TheLogHasWhatIsPrintedAsItComes) {
  const auto job = Begun();
  Print("one\n");
  calls_.outer().sink->OnOutput(Stream::kStderr, "two\n");
  ASSERT_NE(job->log(), nullptr);
  EXPECT_EQ(job->log()->lines(), 2u);
  const auto chunk = calls_.results().Read(job->uri);
  ASSERT_TRUE(chunk && *chunk);
  EXPECT_EQ((*chunk)->bytes, "one\ntwo\n");
}

TEST_F(JobsTest, StatesAreThoseOfTheirCommands) {
  const auto state = [&](const ToolResult& result) {
    const auto job = Begun();
    jobs_.End(*job, result);
    return std::string(job->State());
  };
  EXPECT_EQ(state(Exited(0)), "exited");
  EXPECT_EQ(state(Exited(2)), "exited");
  const std::pair<Outcome, const char*> outcomes[] = {{Outcome::kSignaled, "signaled"},
                                                      {Outcome::kTimedOut, "timed_out"},
                                                      {Outcome::kCancelled, "cancelled"},
                                                      {Outcome::kLimitExceeded, "limit_exceeded"},
                                                      {Outcome::kSetupFailed, "lost"}};
  for (const auto& [outcome, name] : outcomes) {
    ToolResult result;
    result.ending = Ending{.outcome = outcome};
    EXPECT_EQ(state(result), name);
  }
  EXPECT_EQ(state(RefusedCall(Cancelled("the pipeline"))), "cancelled");
  EXPECT_EQ(state(RefusedCall(Busy())), "lost") << "nothing ran";
}

TEST_F(JobsTest, WhoeverWaitsHearsOfOutputAndOfTheEnd) {
  const auto job = Begun();
  CancelSource cancel;
  std::optional<bool> heard;
  Detach(job->Change(calls_.loop(), std::chrono::minutes(1), cancel), [&](bool v) { heard = v; });
  EXPECT_FALSE(heard);
  Print("x\n");
  EXPECT_EQ(heard, true);
  heard.reset();
  Detach(job->Change(calls_.loop(), std::chrono::minutes(1), cancel), [&](bool v) { heard = v; });
  jobs_.End(*job, Exited(0));
  EXPECT_EQ(heard, true);
  EXPECT_TRUE(job->ended);
}

TEST_F(JobsTest, NobodyWaitsForever) {
  const auto job = Begun();
  CancelSource cancel;
  EXPECT_FALSE(Await(job->Change(calls_.loop(), milliseconds(5), cancel)));
  std::optional<bool> heard;
  Detach(job->Change(calls_.loop(), std::chrono::minutes(1), cancel), [&](bool v) { heard = v; });
  cancel.Cancel();
  EXPECT_EQ(heard, false);
  Print("x\n");  // nobody is there any more
  CancelSource late;
  late.Cancel();
  EXPECT_FALSE(Await(job->Change(calls_.loop(), std::chrono::minutes(1), late)));
}

TEST_F(JobsTest, AStopIsACancelOfTheCall) {
  const auto job = Begun();
  job->Stop();
  EXPECT_TRUE(calls_.cancel().cancelled());
  jobs_.End(*job, RefusedCall(Cancelled("make test")));
  job->Stop();  // without effect: the call is gone
}

TEST_F(JobsTest, OnlySoManyRunAndAreKept) {
  std::vector<std::shared_ptr<Job>> running;
  for (std::size_t i = 0; i < kMaxJobs; ++i) running.push_back(Begun());
  const auto refused = jobs_.Begin("make", calls_.outer());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  for (const auto& job : running) jobs_.End(*job, Exited(0));
  for (std::size_t i = 0; i < kMaxJobs; ++i) jobs_.End(*Begun(), Exited(0));
  EXPECT_EQ(jobs_.all().size(), kMaxJobs);
  EXPECT_EQ(jobs_.Find(running.front()->id), nullptr) << "the oldest are forgotten first";
}

// A call that may become a job keeps its output, in memory first, and shows it to its client.
TEST_F(JobsTest, WhatIsPreparedIsNoJobUntilItIsListed) {
  class Seen final : public OutputSink {
   public:
    void OnOutput(Stream, std::string_view bytes) override { text += bytes; }
    std::string text;
  } seen;
  const auto job = Jobs::Prepare("make", calls_.outer());
  job->ShowOutputTo(&seen);
  EXPECT_FALSE(job->begun());
  Print("one\n");
  job->Begins("make test");
  EXPECT_TRUE(job->begun());
  EXPECT_TRUE(jobs_.all().empty());
  EXPECT_EQ(job->log(), nullptr) << "most calls end before they are jobs";
  ASSERT_TRUE(jobs_.List(job));
  job->ShowOutputTo(nullptr);
  Print("two\n");
  EXPECT_EQ(jobs_.Find(job->id), job);
  EXPECT_EQ(seen.text, "one\n");
  EXPECT_EQ((*calls_.results().Read(job->uri))->bytes, "one\ntwo\n");
  jobs_.End(*job, Exited(0));
  EXPECT_STREQ(job->State(), "exited");
}

TEST_F(JobsTest, MuchOutputIsNotKeptInMemory) {
  const auto job = Jobs::Prepare("make", calls_.outer());
  job->Begins("make test");
  const std::string much(40'000, 'x');
  Print(much);
  EXPECT_EQ(job->log(), nullptr);
  Print(much);
  ASSERT_NE(job->log(), nullptr);
  EXPECT_EQ(job->log()->size(), 2 * much.size());
  EXPECT_TRUE(job->uri.empty()) << "nobody knows of it yet";
}

TEST_F(JobsTest, NoMoreAreListedThanMayRun) {
  std::vector<std::shared_ptr<Job>> running;
  for (std::size_t i = 0; i < kMaxJobs; ++i) running.push_back(Begun());
  const auto late = Jobs::Prepare("make", calls_.outer());
  late->Begins("make test");
  EXPECT_FALSE(jobs_.List(late));
  EXPECT_FALSE(late->listed());
  jobs_.End(*running.front(), Exited(0));
  EXPECT_TRUE(jobs_.List(late));
}

TEST_F(JobsTest, OnlySoManyPortsAreServed) {
  std::vector<std::shared_ptr<Job>> jobs;
  const std::vector<std::uint16_t> eight = {1, 2, 3, 4, 5, 6, 7, 8};
  for (std::size_t i = 0; i < kMaxPorts / eight.size(); ++i) {
    jobs.push_back(Begun());
    EXPECT_FALSE(jobs_.Serve(*jobs.back(), eight));
  }
  const JsonValue handle = ParsedJson(HandleOf(*jobs.front()).data);
  EXPECT_EQ(handle.Find("job")->Find("ports")->Items().size(), eight.size());
  const auto late = Begun();
  const std::vector<std::uint16_t> one = {9};
  const auto refused = jobs_.Serve(*late, one);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kBusy);
  jobs_.End(*jobs.front(), Exited(0));
  EXPECT_TRUE(jobs.front()->ports().empty()) << "closed with the job";
  EXPECT_FALSE(jobs_.Serve(*late, one));
  jobs_.End(*late, Exited(0));
  for (std::size_t i = 1; i < jobs.size(); ++i) jobs_.End(*jobs[i], Exited(0));
}

// Those about which the user is still asked may all begin at once.
TEST_F(JobsTest, WhatMayBeginIsCountedToo) {
  std::vector<std::shared_ptr<Job>> begun;
  for (std::size_t i = 0; i < kMaxJobs; ++i) begun.push_back(*jobs_.Begin("make", calls_.outer()));
  EXPECT_FALSE(jobs_.Begin("make", calls_.outer()));
  jobs_.End(*begun.front(), RefusedCall(Busy()));
  EXPECT_TRUE(jobs_.Begin("make", calls_.outer()));
}

}  // namespace
}  // namespace pa
