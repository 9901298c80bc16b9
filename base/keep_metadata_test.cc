#include "base/keep_metadata.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

// Somebody who may give nothing away, and two groups of which he is in neither.
constexpr uid_t kSomebody = 1;
constexpr gid_t kHisGroup = 1;
constexpr gid_t kOther = 34;

class KeepMetadataTest : public ::testing::Test {
 protected:
  UniqueFd Make(const char* name, mode_t mode) {
    UniqueFd fd(open((dir_.path() / name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    EXPECT_EQ(fchmod(fd.get(), mode), 0);
    return fd;
  }
  static struct stat StatusOf(const UniqueFd& fd) {
    struct stat status{};
    EXPECT_EQ(fstat(fd.get(), &status), 0);
    return status;
  }
  // The status of `to`, after it was given what `from` has.
  static struct stat Keep(const UniqueFd& from, const UniqueFd& to) {
    const auto kept = KeepMetadata(from.get(), StatusOf(from), to.get(), StatusOf(to), "file");
    EXPECT_TRUE(kept);
    return StatusOf(to);
  }
  // The same as somebody to whom `to` belongs.
  static struct stat KeepAsSomebody(const UniqueFd& from, const UniqueFd& to) {
    EXPECT_EQ(fchown(to.get(), kSomebody, kHisGroup), 0);
    EXPECT_EQ(setegid(kHisGroup), 0);
    EXPECT_EQ(seteuid(kSomebody), 0);
    const struct stat status = Keep(from, to);
    EXPECT_EQ(seteuid(0), 0);
    EXPECT_EQ(setegid(0), 0);
    return status;
  }

  testing::TempDir dir_;
};

TEST_F(KeepMetadataTest, ModeAndAttributes) {
  const UniqueFd from = Make("from", 0741), to = Make("to", 0600);
  const bool attributes = fsetxattr(from.get(), "user.of", "mine", 4, 0) == 0;
  EXPECT_EQ(Keep(from, to).st_mode & 07777U, 0741U);
  if (!attributes) GTEST_SKIP() << "no extended attributes on this file system";
  char value[8] = {};
  EXPECT_EQ(fgetxattr(to.get(), "user.of", value, sizeof value), 4);
  EXPECT_STREQ(value, "mine");
}

TEST_F(KeepMetadataTest, OwnerGroupAndTheirBitsWhereWeMay) {
  if (geteuid() != 0) GTEST_SKIP() << "giving files away takes root";
  const UniqueFd from = Make("from", 0600), to = Make("to", 0600);
  ASSERT_EQ(fchown(from.get(), kSomebody, kOther), 0);
  ASSERT_EQ(fchmod(from.get(), 06755), 0);
  const struct stat is = Keep(from, to);
  EXPECT_EQ(is.st_uid, kSomebody);
  EXPECT_EQ(is.st_gid, kOther);
  EXPECT_EQ(is.st_mode & 07777U, 06755U);
}

TEST_F(KeepMetadataTest, NobodyGainsByWhatCannotBeKept) {
  if (geteuid() != 0) GTEST_SKIP() << "being somebody else takes root";
  const UniqueFd from = Make("from", 0600), to = Make("to", 0600);
  ASSERT_EQ(fchown(from.get(), 0, kOther), 0);
  ASSERT_EQ(fchmod(from.get(), 06764), 0);
  const struct stat is = KeepAsSomebody(from, to);
  EXPECT_EQ(is.st_uid, kSomebody);
  EXPECT_EQ(is.st_gid, kHisGroup);
  EXPECT_EQ(is.st_mode & 07777U, 0744U) << "no set-ID bits, and his group may what everybody may";
}

TEST_F(KeepMetadataTest, TheOwnersOwnBitsStayWhenOnlyTheGroupIsLost) {
  if (geteuid() != 0) GTEST_SKIP() << "being somebody else takes root";
  const UniqueFd from = Make("from", 0600), to = Make("to", 0600);
  ASSERT_EQ(fchown(from.get(), kSomebody, kOther), 0);
  ASSERT_EQ(fchmod(from.get(), 04750), 0);
  const struct stat is = KeepAsSomebody(from, to);
  EXPECT_EQ(is.st_gid, kHisGroup);
  EXPECT_EQ(is.st_mode & 07777U, 04700U);
}

}  // namespace
}  // namespace pa
