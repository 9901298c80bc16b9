#include "supervisor/loop/cancel_source.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

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
