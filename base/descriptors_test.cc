#include "base/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

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

// In a child, since the tests need theirs.
TEST(CloseAllButTest, KeepsThoseAlone) {
  std::vector<int> opened;
  for (int i = 0; i < 6; ++i) opened.push_back(open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto is_open = [](int fd) { return fcntl(fd, F_GETFD) >= 0; };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool done = CloseAllBut({opened[4], -1, opened[1], 2, opened[1]});
    const bool kept = is_open(2) && is_open(opened[1]) && is_open(opened[4]);
    bool closed = !is_open(0) && !is_open(1);
    for (const int i : {0, 2, 3, 5}) closed = closed && !is_open(opened[static_cast<unsigned>(i)]);
    _exit(done && kept && closed ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int fd : opened) {
    EXPECT_TRUE(is_open(fd)) << "else the child shows nothing";
    close(fd);
  }
}

}  // namespace
}  // namespace pa
