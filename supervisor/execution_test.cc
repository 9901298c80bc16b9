#include "supervisor/execution.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(Outcome, NamesAreThoseOfTheContract) {
  EXPECT_STREQ(OutcomeName(Outcome::kExited), "exited");
  EXPECT_STREQ(OutcomeName(Outcome::kSignaled), "signaled");
  EXPECT_STREQ(OutcomeName(Outcome::kTimedOut), "timed_out");
  EXPECT_STREQ(OutcomeName(Outcome::kCancelled), "cancelled");
  EXPECT_STREQ(OutcomeName(Outcome::kLimitExceeded), "limit_exceeded");
  EXPECT_STREQ(OutcomeName(Outcome::kSetupFailed), "setup_failed");
}

TEST(OutputGate, OpenRunsWhatWaitsOnce) {
  OutputGate gate;
  gate.Close();
  int runs = 0;
  gate.WhenOpen([&] { ++runs; });
  EXPECT_TRUE(gate.closed());
  gate.Open();
  gate.Open();
  EXPECT_FALSE(gate.closed());
  EXPECT_EQ(runs, 1);
}

TEST(OutputGate, ACallbackThatWaitsAgainWaitsForTheNextOpen) {
  OutputGate gate;
  int runs = 0;
  std::function<void()> again = [&] {
    ++runs;
    gate.Close();
    gate.WhenOpen(again);
  };
  gate.Close();
  gate.WhenOpen(again);
  gate.Open();
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(gate.closed());
  gate.Open();
  EXPECT_EQ(runs, 2);
}

TEST(CancelSource, TellsItsListenerOnce) {
  CancelSource source;
  int told = 0;
  source.OnCancel([&] { ++told; });
  source.Cancel();
  source.Cancel();
  EXPECT_TRUE(source.cancelled());
  EXPECT_EQ(told, 1);
}

TEST(CancelSource, ALateListenerIsToldAtOnceAndAForgottenOneNever) {
  CancelSource source;
  int forgotten = 0;
  source.OnCancel([&] { ++forgotten; });
  source.Forget();
  source.Cancel();
  int late = 0;
  source.OnCancel([&] { ++late; });
  EXPECT_EQ(forgotten, 0);
  EXPECT_EQ(late, 1);
}

}  // namespace
}  // namespace pa
