#include "supervisor/state/readers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

constexpr uid_t kReader = 59001;

bool CanRead(uid_t user, const std::string& file) {
  const pid_t child = fork();
  if (child == 0) {
    const bool became = setgid(user) == 0 && setuid(user) == 0;
    _exit(became && access(file.c_str(), R_OK) == 0 && access(file.c_str(), W_OK) != 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

class Readers : public ::testing::Test {
 protected:
  void SetUp() override {
    chmod(base_.path().c_str(), 0755);
    ASSERT_EQ(mkdir(directory_.c_str(), 0700), 0);
    const Result<void> granted = GrantReader(directory_, kReader);
    if (!granted && granted.error().sys_errno == EOPNOTSUPP) {
      GTEST_SKIP() << "the file system of " << base_.path() << " has no access lists";
    }
    ASSERT_TRUE(granted) << granted.error().Message();
    testing::WriteText(file_, "version: 1\n");
  }

  testing::TempDir base_;
  std::string directory_ = base_.path() / "1000";
  std::string file_ = directory_ + "/policy.yaml";
};

TEST_F(Readers, ModesSayThatTheGroupMayRead) {
  struct stat status{};
  stat(directory_.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0750u);
  stat(file_.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_FALSE(GrantReader(directory_ + "/none", kReader));
}

TEST_F(Readers, OneUserMoreCanRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can try it as another user";
  EXPECT_TRUE(CanRead(kReader, file_));
  EXPECT_FALSE(CanRead(kReader + 1, file_));
}

}  // namespace
}  // namespace pa
