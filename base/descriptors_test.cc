#include "base/descriptors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace pa {
namespace {

class DescriptorsTest : public ::testing::Test {
 protected:
  DescriptorsTest() { getrlimit(RLIMIT_NOFILE, &before_); }
  ~DescriptorsTest() override { setrlimit(RLIMIT_NOFILE, &before_); }
  void Limit(rlim_t most) const {
    const rlimit limit{most, before_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }

 private:
  rlimit before_{};
};

TEST_F(DescriptorsTest, AllowAsManyAsAnEighthHolds) {
  Limit(1024);
  EXPECT_EQ(DescriptorsAllow(64), 64u);
  EXPECT_EQ(DescriptorsAllow(1000), 128u);
  EXPECT_EQ(DescriptorsAllow(1000, 10), 12u);
  Limit(64);
  EXPECT_EQ(DescriptorsAllow(64), 8u);
  EXPECT_EQ(DescriptorsAllow(64, 10), 1u) << "one at least";
  EXPECT_EQ(DescriptorsAllow(4, 2), 4u);
}

}  // namespace
}  // namespace pa
