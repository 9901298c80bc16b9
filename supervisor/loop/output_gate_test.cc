#include "supervisor/loop/output_gate.h"

#include <gtest/gtest.h>

#include <functional>

namespace pa {
namespace {

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

}  // namespace
}  // namespace pa
