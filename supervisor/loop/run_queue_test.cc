#include "supervisor/loop/run_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <new>
#include <vector>

namespace pa {
namespace {

class RunQueueTest : public ::testing::Test {
 protected:
  RunQueue::Ticket Enter(const std::string& name, const std::string& key = "") {
    return queue_.Enter(key, limits_, [this, name](bool granted) {
      heard_.push_back(name + (granted ? "+" : "-"));
    });
  }
  using Heard = std::vector<std::string>;
  RunQueue queue_;
  RunQueue::Limits limits_{.concurrent = 2, .waiting = 2};
  Heard heard_;
};

TEST_F(RunQueueTest, RunsUpToTheLimitThenInOrderOfArrival) {
  const auto a = Enter("a");
  const auto b = Enter("b");
  Enter("c");
  Enter("d");
  EXPECT_EQ(heard_, (Heard{"a+", "b+"}));
  EXPECT_EQ(queue_.running(), 2u);
  queue_.Leave(b);
  queue_.Leave(a);
  EXPECT_EQ(heard_, (Heard{"a+", "b+", "c+", "d+"}));
}

TEST_F(RunQueueTest, SaysHowManyAreBeforeOne) {
  const auto a = Enter("a");
  const auto b = Enter("b");
  const auto c = Enter("c");
  const auto d = Enter("d");
  EXPECT_EQ(queue_.Before(d), 3u);
  queue_.Refuse(c);
  EXPECT_EQ(queue_.Before(d), 2u);
  queue_.Leave(c);
  queue_.Leave(a);
  EXPECT_EQ(heard_, (Heard{"a+", "b+", "c-", "d+"}));
  EXPECT_EQ(queue_.Before(b), 0u);
}

TEST_F(RunQueueTest, IsFullWhenTooManyWait) {
  const auto a = Enter("a");
  Enter("b");
  Enter("c");
  Enter("d");
  EXPECT_EQ(Enter("e"), RunQueue::kFull);
  queue_.Leave(a);
  EXPECT_NE(Enter("f"), RunQueue::kFull);
  EXPECT_EQ(heard_, (Heard{"a+", "b+", "c+"}));
}

TEST_F(RunQueueTest, NoPlaceToWaitStillMeansAPlaceToRun) {
  limits_ = {.concurrent = 1, .waiting = 0};
  EXPECT_NE(Enter("a"), RunQueue::kFull);
  EXPECT_EQ(Enter("b"), RunQueue::kFull);
}

TEST_F(RunQueueTest, OneKeyRunsOneAtATimeAndHoldsUpNobodyElse) {
  const auto a = Enter("a", "repository");
  const auto b = Enter("b", "repository");
  Enter("c", "other");
  EXPECT_EQ(heard_, (Heard{"a+", "c+"}));
  queue_.Leave(a);
  EXPECT_EQ(heard_, (Heard{"a+", "c+", "b+"}));
  queue_.Leave(b);
  EXPECT_EQ(queue_.running(), 1u);
}

// The policy was changed meanwhile: more may run, but who waits came first.
TEST_F(RunQueueTest, WhoWaitsForAPlaceIsNotPassedOverByWhoMayRunBesideMore) {
  limits_ = {.concurrent = 4, .waiting = 2};
  const auto a = Enter("a");
  limits_.concurrent = 1;
  const auto b = Enter("b");
  limits_ = {.concurrent = 4, .waiting = 1};
  EXPECT_EQ(Enter("x"), RunQueue::kFull) << "it would have to wait";
  limits_.waiting = 2;
  const auto c = Enter("c");
  EXPECT_EQ(heard_, (Heard{"a+"}));
  queue_.Leave(a);
  EXPECT_EQ(heard_, (Heard{"a+", "b+", "c+"})) << "beside one there is a place";
  queue_.Leave(b);
  queue_.Leave(c);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(RunQueueTest, RefusedWhileWaitingNeverRuns) {
  const auto a = Enter("a");
  Enter("b");
  const auto c = Enter("c");
  queue_.Refuse(c);
  queue_.Refuse(c);
  queue_.Refuse(a);  // runs already: too late
  EXPECT_EQ(heard_, (Heard{"a+", "b+", "c-"}));
  queue_.Leave(a);
  queue_.Leave(c);
  EXPECT_EQ(heard_, (Heard{"a+", "b+", "c-"}));
  EXPECT_EQ(queue_.running(), 1u);
}

TEST_F(RunQueueTest, RefuseAllLeavesTheRunning) {
  const auto a = Enter("a");
  const auto b = Enter("b");
  const auto c = Enter("c");
  queue_.RefuseAll();
  EXPECT_EQ(heard_, (Heard{"a+", "b+", "c-"}));
  for (const auto ticket : {a, b, c}) queue_.Leave(ticket);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(RunQueueTest, ACallbackThatThrowsKeepsNobodyWaiting) {
  const auto a = Enter("a");
  const auto b = Enter("b");
  queue_.Enter("", limits_, [](bool) { throw std::bad_alloc(); });
  Enter("d");
  EXPECT_THROW(queue_.Leave(a), std::bad_alloc);
  queue_.Leave(b);
  EXPECT_EQ(heard_, (Heard{"a+", "b+", "d+"}));
}

TEST_F(RunQueueTest, CallbacksMayLeaveAndEnter) {
  limits_ = {.concurrent = 1, .waiting = 100};
  const auto first = Enter("first");
  std::map<int, RunQueue::Ticket> tickets;
  int ran = 0;
  int within = 0;
  for (int i = 0; i < 50; ++i) {
    tickets[i] = queue_.Enter("k", limits_, [&, i](bool) {
      EXPECT_EQ(++within, 1) << "a stack has an end";
      ++ran;
      queue_.Leave(tickets[i]);
      --within;
    });
  }
  queue_.Leave(first);
  EXPECT_EQ(ran, 50);
  EXPECT_TRUE(queue_.empty());
}

}  // namespace
}  // namespace pa
