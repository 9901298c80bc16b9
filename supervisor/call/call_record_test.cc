#include "supervisor/call/call_record.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(WaitingText, SaysForWhat) {
  CallRecord record;
  EXPECT_EQ(WaitingText(record), "");
  record.run.queue.calls_before = [] { return std::size_t{3}; };
  EXPECT_EQ(WaitingText(record), "waiting, 3 before it");
  record.asks_user = true;
  EXPECT_EQ(WaitingText(record), "waiting for the user's approval");
  record.doing = [] { return std::string("step a (1 of 2)"); };
  EXPECT_EQ(WaitingText(record), "step a (1 of 2)");
}

}  // namespace
}  // namespace pa
