#include "supervisor/state/user_directories.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(UserDirectories, FirstEntryOfANameCountsAndBrokenOnesAreLeftOut) {
  const char* entries[] = {"A=1", "B=x=y", "A=2", "novalue", "=nameless", "C=", nullptr};
  EXPECT_EQ(ReadEnvironment(entries), (Environment{{"A", "1"}, {"B", "x=y"}, {"C", ""}}));
}

TEST(UserDirectories, HomeMustBeAbsolute) {
  EXPECT_EQ(HomeDirectory({{"HOME", "/home/a"}}), "/home/a");
  EXPECT_NE(HomeDirectory({{"HOME", "relative"}}), "relative");
  EXPECT_EQ(HomeDirectory({}), HomeDirectory({{"HOME", ""}}));
}

TEST(UserDirectories, StateHomeMustBeAbsolute) {
  EXPECT_EQ(StateHome({{"HOME", "/home/a"}}), "/home/a/.local/state");
  EXPECT_EQ(StateHome({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "/state"}}), "/state");
  EXPECT_EQ(StateHome({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "state"}}), "/home/a/.local/state");
}

}  // namespace
}  // namespace pa
