#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <climits>

namespace pa {
namespace {

TEST(Error, NamesAttemptObjectAndErrno) {
  EXPECT_EQ(Error("openat2", "/srv/x", ENOENT).Message(),
            "openat2 \"/srv/x\": ENOENT (No such file or directory)");
}

TEST(Error, WithoutAnObject) {
  EXPECT_EQ(Error("landlock_restrict_self", "", EPERM).Message(),
            "landlock_restrict_self: EPERM (Operation not permitted)");
}

TEST(Error, WithoutAnErrno) {
  EXPECT_EQ(Error("parse policy", "unknown key").Message(), "parse policy: unknown key");
  EXPECT_EQ(Error("seal", "").Message(), "seal");
}

TEST(Error, UnknownErrno) {
  EXPECT_EQ(Error("open", "x", 9999).Message(), "open \"x\": errno 9999");
  EXPECT_EQ(Error("open", "", INT_MAX).Message(), "open: errno 2147483647");
}

TEST(Error, ASubjectCannotForgeALineOfTheLog) {
  EXPECT_EQ(Error("open", "a\nb\xFF", ENOENT).Message(),
            "open \"a?b\uFFFD\": ENOENT (No such file or directory)");
}

TEST(Error, OwnsWhatSysErrorBorrowed) {
  Error error;
  {
    const std::string path = "/a/path/that/is/not/kept/in/place";
    error = SysError{"open", path, EACCES};
  }
  EXPECT_EQ(error.subject, "/a/path/that/is/not/kept/in/place");
  EXPECT_EQ(error.sys_errno, EACCES);
}

TEST(MeansUsedUp, IsSaidOfWhatMayBeThereAgainLater) {
  for (const int code : {EMFILE, ENFILE, EAGAIN, ENOMEM, ENOSPC, EDQUOT}) {
    EXPECT_TRUE(MeansUsedUp(code)) << code;
  }
  for (const int code : {0, ENOENT, EACCES, EIO, EROFS}) EXPECT_FALSE(MeansUsedUp(code)) << code;
}

}  // namespace
}  // namespace pa
