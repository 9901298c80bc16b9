#include "base/path_parts.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(PathParts, OfWhatLiesAtTheTopAndBelow) {
  EXPECT_EQ(ParentOf("/a/b"), "/a");
  EXPECT_EQ(ParentOf("/a"), "/");
  EXPECT_EQ(ParentOf("/"), "/");
  EXPECT_EQ(NameOf("/a/b"), "b");
  EXPECT_EQ(NameOf("b"), "b");
  EXPECT_EQ(Join("/a", "b/c"), "/a/b/c");
  EXPECT_EQ(Join("/", "b"), "/b");
  EXPECT_EQ(Join("/a", "/b"), "/b");
}

}  // namespace
}  // namespace pa
