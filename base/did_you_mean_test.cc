#include "base/did_you_mean.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

constexpr std::string_view kNames[] = {"limits", "roots", "network", "git"};

TEST(DidYouMean, FindsTheNearestName) {
  EXPECT_EQ(DidYouMean("limts", kNames), " - did you mean 'limits'?");
  EXPECT_EQ(DidYouMean("netwrok", kNames), " - did you mean 'network'?");
  EXPECT_EQ(DidYouMean("gti", kNames), " - did you mean 'git'?");
}

TEST(DidYouMean, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(DidYouMean("sandbox", kNames), "");
  EXPECT_EQ(DidYouMean("", kNames), "");
  EXPECT_EQ(DidYouMean("limits", {}), "");
  EXPECT_EQ(DidYouMean(std::string(100'000, 'l'), kNames), "");
}

}  // namespace
}  // namespace pa
