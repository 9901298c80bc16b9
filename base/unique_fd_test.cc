#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <type_traits>

namespace pa {
namespace {

static_assert(!std::is_copy_constructible_v<UniqueFd> && !std::is_copy_assignable_v<UniqueFd>);
static_assert(!std::is_convertible_v<int, UniqueFd>, "owning must be said");

int OpenNull() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, ClosesWhatItOwns) {
  int fd = -1;
  {
    UniqueFd owner(OpenNull());
    ASSERT_TRUE(owner);
    fd = owner.get();
    EXPECT_TRUE(IsOpen(fd));
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(UniqueFd, OwnsNothingAtFirst) {
  UniqueFd owner;
  EXPECT_FALSE(owner);
  EXPECT_EQ(owner.get(), -1);
}

TEST(UniqueFd, DescriptorZeroIsOne) {
  UniqueFd owner(0);
  EXPECT_TRUE(owner);
  EXPECT_EQ(owner.release(), 0);
}

TEST(UniqueFd, MoveHandsOver) {
  UniqueFd first(OpenNull());
  const int fd = first.get();
  UniqueFd second(std::move(first));
  EXPECT_EQ(second.get(), fd);
  EXPECT_TRUE(IsOpen(fd));

  UniqueFd third(OpenNull());
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_EQ(third.get(), fd);
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_TRUE(IsOpen(fd));
}

TEST(UniqueFd, ReleaseGivesUpOwnership) {
  UniqueFd owner(OpenNull());
  const int fd = owner.release();
  EXPECT_FALSE(owner);
  EXPECT_TRUE(IsOpen(fd));
  close(fd);
}

TEST(UniqueFd, ResetClosesTheOldOne) {
  UniqueFd owner(OpenNull());
  const int old = owner.get();
  const int fresh = OpenNull();
  owner.reset(fresh);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_EQ(owner.get(), fresh);
}

}  // namespace
}  // namespace pa
