#include "policy/working_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/deny_call.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;

class WorkingDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "working_directory.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    base_ = fs::canonical(name);
    fs::create_directories(base_ / "root/sub dir/deep");
    fs::create_directories(base_ / "root2");
    fs::create_directories(base_ / "outside");
    policy_.roots = {base_ / "root", base_ / "root2"};
    policy_.home = "/nonexistent";
  }
  void TearDown() override { fs::remove_all(base_); }

  std::string Accepted(const std::string& requested) {
    auto directory = ValidateWorkingDirectory(policy_, requested);
    EXPECT_TRUE(directory.has_value()) << directory.error().message;
    return directory ? directory->path() : "";
  }
  std::string Refused(const std::string& requested) {
    auto directory = ValidateWorkingDirectory(policy_, requested);
    EXPECT_FALSE(directory.has_value()) << directory->path();
    return directory ? "" : directory.error().message;
  }

  fs::path base_;
  Policy policy_;
};

TEST_F(WorkingDirectoryTest, DefaultIsTheFirstRoot) {
  EXPECT_EQ(Accepted(""), base_ / "root");
  EXPECT_EQ(Accepted("."), base_ / "root");
}

TEST_F(WorkingDirectoryTest, RelativeAndAbsolutePathsWithinTheRoots) {
  EXPECT_EQ(Accepted("sub dir"), base_ / "root/sub dir");
  EXPECT_EQ(Accepted("sub dir/../sub dir/deep/"), base_ / "root/sub dir/deep");
  EXPECT_EQ(Accepted(base_ / "root2"), base_ / "root2");
}

TEST_F(WorkingDirectoryTest, NamesTheRootThatHoldsIt) {
  policy_.roots.push_back(base_ / "root/sub dir");
  auto directory = ValidateWorkingDirectory(policy_, "sub dir/deep");
  ASSERT_TRUE(directory.has_value());
  EXPECT_EQ(directory->root(), base_ / "root/sub dir");
}

TEST_F(WorkingDirectoryTest, DescriptorIsTheDirectoryWhateverHappensToItsName) {
  auto directory = ValidateWorkingDirectory(policy_, "sub dir");
  ASSERT_TRUE(directory.has_value());
  fs::rename(base_ / "root/sub dir", base_ / "root/moved");
  fs::create_directory_symlink(base_ / "outside", base_ / "root/sub dir");
  struct stat named{}, held{};
  ASSERT_EQ(stat((base_ / "root/moved").c_str(), &named), 0);
  ASSERT_EQ(fstat(directory->fd(), &held), 0);
  EXPECT_EQ(named.st_ino, held.st_ino);
}

TEST_F(WorkingDirectoryTest, SymlinksCountByWhereTheyLead) {
  fs::create_directory_symlink("sub dir", base_ / "root/inside");
  fs::create_directory_symlink(base_ / "root2", base_ / "root/other_root");
  fs::create_directory_symlink(base_ / "outside", base_ / "root/escape");
  fs::create_directory_symlink("/etc", base_ / "root/etc");
  EXPECT_EQ(Accepted("inside/deep"), base_ / "root/sub dir/deep");
  EXPECT_EQ(Accepted("other_root"), base_ / "root2");
  EXPECT_EQ(Refused("escape"),
            "working directory is outside the allowed roots: " + (base_ / "outside").string());
  EXPECT_EQ(Refused("etc"), "working directory cannot be a system directory: /etc");
}

TEST_F(WorkingDirectoryTest, OutsideTheRoots) {
  const std::string begins = "working directory is outside the allowed roots: ";
  EXPECT_EQ(Refused(base_ / "outside"), begins + (base_ / "outside").string());
  EXPECT_EQ(Refused("../outside"), begins + (base_ / "outside").string());
  EXPECT_EQ(Refused(base_), begins + base_.string());
  // A prefix of the name is no prefix of the path.
  fs::create_directory(base_ / "root-other");
  EXPECT_EQ(Refused(base_ / "root-other"), begins + (base_ / "root-other").string());
  // The same answer whether or not it exists.
  EXPECT_EQ(Refused(base_ / "missing"), begins + (base_ / "missing").string());
}

TEST_F(WorkingDirectoryTest, SystemDirectoriesEvenWhenARootHoldsThem) {
  policy_.roots = {"/"};
  for (const char* path : {"/", "/etc", "/usr", "/usr/bin", "/proc", "/proc/self", "/dev", "/home",
                           "/var", "/var/log", "/tmp", "/root", "/sys/kernel", "/etc/missing",
                           "/proc/self/cwd", "/var/lib", "/run", "/lib"}) {
    EXPECT_TRUE(Refused(path).starts_with("working directory cannot be a system directory: "))
        << path;
  }
  EXPECT_TRUE(Refused("").starts_with("working directory cannot be a system directory: "));
  EXPECT_EQ(Accepted(base_ / "root"), base_ / "root");  // the twin, beneath /tmp
}

TEST_F(WorkingDirectoryTest, ProjectsBeneathVarAreNoSystemDirectories) {
  std::string name = "/var/tmp/working_directory.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) GTEST_SKIP() << "/var/tmp is not writable here";
  policy_.roots = {name};
  EXPECT_EQ(Accepted(""), name);
  fs::remove(name);
}

TEST_F(WorkingDirectoryTest, HomeOnlyWhenItIsARoot) {
  policy_.home = base_ / "root2";
  policy_.roots = {base_};
  EXPECT_TRUE(Refused("root2").starts_with("working directory cannot be the home directory"));
  EXPECT_EQ(Accepted("root"), base_ / "root");
  policy_.roots = {base_ / "root2"};
  EXPECT_EQ(Accepted(""), base_ / "root2");
}

TEST_F(WorkingDirectoryTest, RootsHomeBelongsToRootAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "needs a directory in /root";
  std::string name = "/root/working_directory.XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  policy_.roots = {name};
  policy_.home = "/root";
  EXPECT_EQ(Accepted(""), name);
  policy_.home = "/home/somebody";
  EXPECT_EQ(Refused(""), "working directory cannot be a system directory: " + name);
  fs::remove(name);
}

TEST_F(WorkingDirectoryTest, NotWritableByItsOwner) {
  const fs::path path = base_ / "root/sub dir";
  ASSERT_EQ(chmod(path.c_str(), 0555), 0);
  EXPECT_TRUE(Refused("sub dir").starts_with("working directory not writable by current user: " +
                                             path.string()));
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_EQ(Accepted("sub dir"), path);
}

TEST_F(WorkingDirectoryTest, OwnedBySomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const fs::path path = base_ / "root/sub dir";
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  ASSERT_EQ(chmod(path.c_str(), 0777), 0);
  EXPECT_TRUE(Refused("sub dir").starts_with("working directory not writable by current user: " +
                                             path.string()));
}

TEST_F(WorkingDirectoryTest, GitsOwnData) {
  fs::create_directories(base_ / "root/.git/hooks");
  fs::create_directories(base_ / "root/.github");
  EXPECT_TRUE(Refused(".git").starts_with("working directory cannot be git's own data"));
  EXPECT_TRUE(Refused(".git/hooks").starts_with("working directory cannot be git's own data"));
  EXPECT_EQ(Accepted(".github"), base_ / "root/.github");
}

TEST_F(WorkingDirectoryTest, NorUnderAnotherName) {
  for (const char* part : {"p/.bare/hooks", "p/.bare/objects", "p/.bare/refs", "p/main"}) {
    fs::create_directories(base_ / "root" / part);
  }
  EXPECT_EQ(Accepted("p/.bare/hooks"), base_ / "root/p/.bare/hooks") << "no HEAD yet";
  std::ofstream(base_ / "root/p/.bare/HEAD") << "ref: refs/heads/main\n";
  for (const char* path : {"p/.bare", "p/.bare/hooks", "p/.bare/objects"}) {
    EXPECT_TRUE(Refused(path).starts_with("working directory cannot be git's own data")) << path;
  }
  EXPECT_EQ(Accepted("p"), base_ / "root/p");
  EXPECT_EQ(Accepted("p/main"), base_ / "root/p/main");
  policy_.roots.push_back(base_ / "root/p/.bare");  // on purpose
  EXPECT_EQ(Accepted("p/.bare"), base_ / "root/p/.bare");
  EXPECT_TRUE(Refused("p/.bare/hooks").starts_with("working directory cannot be git's own data"));
  fs::create_directories(base_ / "root/p/.bare/tree");
  std::ofstream(base_ / "root/p/.bare/tree/.git") << "gitdir: ../worktrees/tree\n";
  EXPECT_EQ(Accepted("p/.bare/tree"), base_ / "root/p/.bare/tree") << "a working tree in it";
}

TEST_F(WorkingDirectoryTest, NotADirectory) {
  ASSERT_EQ(mkfifo((base_ / "root/fifo").c_str(), 0600), 0);
  EXPECT_TRUE(Refused("fifo").starts_with("working directory cannot be opened: fifo"));
  EXPECT_TRUE(Refused("missing").starts_with("working directory cannot be opened: missing"));
}

TEST_F(WorkingDirectoryTest, HostileNames) {
  EXPECT_TRUE(
      Refused(std::string("sub dir\0/etc", 12)).starts_with("working directory cannot hold"));
  EXPECT_LT(Refused(std::string(1 << 20, 'x')).size(), 2000u);
  EXPECT_TRUE(Refused("sub dir\n\xff").starts_with("working directory cannot be opened: "));
}

TEST_F(WorkingDirectoryTest, NameThatLooksDeletedIsAName) {
  fs::create_directory(base_ / "root/gone (deleted)");
  EXPECT_EQ(Accepted("gone (deleted)"), base_ / "root/gone (deleted)");
}

TEST_F(WorkingDirectoryTest, RefusalSaysWhatToPassInstead) {
  auto directory = ValidateWorkingDirectory(policy_, "/etc");
  ASSERT_FALSE(directory.has_value());
  EXPECT_NE(directory.error().ai_message.find(base_ / "root2"), std::string::npos);
}

TEST_F(WorkingDirectoryTest, RefusalOfARootSaysThatNoArgumentHelps) {
  const fs::path root = policy_.roots.front();
  ASSERT_EQ(chmod(root.c_str(), 0555), 0);
  auto directory = ValidateWorkingDirectory(policy_, "");
  ASSERT_EQ(chmod(root.c_str(), 0755), 0);
  ASSERT_FALSE(directory.has_value());
  EXPECT_EQ(directory.error().ai_message.find("Leave working_directory out"), std::string::npos);
  EXPECT_NE(directory.error().ai_message.find("--root"), std::string::npos);
}

// In a process of its own, because the filter stays for good.
int RunWithoutOpenat2(const Policy& policy) {
  if (!pa::testing::DenyCall(SYS_openat2, EPERM)) return 11;
  if (!ValidateWorkingDirectory(policy, "sub dir")) return 12;
  if (ValidateWorkingDirectory(policy, "escape")) return 13;
  if (ValidateWorkingDirectory(policy, "/proc/self/root")) return 14;
  return 0;
}

TEST_F(WorkingDirectoryTest, WorksWhereOpenat2IsDenied) {
  fs::create_directory_symlink(base_ / "outside", base_ / "root/escape");
  const pid_t child = fork();
  if (child == 0) _exit(RunWithoutOpenat2(policy_));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// `relative|name`, or the errno's number.
std::string Beneath(const WorkingDirectory& top, const std::string& path) {
  const Result<FoundBeneath> found = FindBeneath(top, path);
  if (!found) return std::to_string(found.error().sys_errno);
  EXPECT_EQ(found->directory.path(),
            top.path() + (found->relative.empty() ? "" : "/" + found->relative));
  return found->relative + "|" + found->name;
}

TEST_F(WorkingDirectoryTest, WhatLiesBeneath) {
  const auto top = ValidateWorkingDirectory(policy_, "");
  ASSERT_TRUE(top.has_value());
  const fs::path root = base_ / "root";
  std::ofstream(root / "sub dir/file") << "x";
  fs::create_symlink("deep", root / "sub dir/inside");
  fs::create_symlink("file", root / "sub dir/to_file");
  fs::create_symlink(root / "sub dir", root / "absolute");
  fs::create_symlink("../outside", root / "out");
  fs::create_symlink("loop", root / "loop");
  EXPECT_EQ(Beneath(*top, ""), "|");
  EXPECT_EQ(Beneath(*top, "."), "|");
  EXPECT_EQ(Beneath(*top, "sub dir/deep/"), "sub dir/deep|");
  EXPECT_EQ(Beneath(*top, "sub dir/../sub dir"), "sub dir|") << ".. is fine inside";
  EXPECT_EQ(Beneath(*top, "sub dir/inside"), "sub dir/deep|");
  EXPECT_EQ(Beneath(*top, "sub dir/to_file"), "sub dir|file");
  EXPECT_EQ(Beneath(*top, "none"), std::to_string(ENOENT));
  EXPECT_EQ(Beneath(*top, "sub dir/file/x"), std::to_string(ENOTDIR));
  EXPECT_EQ(Beneath(*top, "loop"), std::to_string(ELOOP));
  for (const char* path : {"..", "../root", "out", "out/x", "absolute", "/", "/etc"}) {
    EXPECT_EQ(Beneath(*top, path), std::to_string(EXDEV)) << path;
  }
}

// Whatever somebody does to the name meanwhile, it leads nowhere else.
TEST_F(WorkingDirectoryTest, NothingBeneathIsOutsideWhileNamesAreSwapped) {
  const auto top = ValidateWorkingDirectory(policy_, "");
  ASSERT_TRUE(top.has_value());
  const fs::path root = base_ / "root";
  fs::create_directories(base_ / "outside/deep");
  fs::create_symlink(base_ / "outside", root / "evil");
  struct stat forbidden{};
  ASSERT_EQ(stat((base_ / "outside/deep").c_str(), &forbidden), 0);
  const std::string one = root / "sub dir";
  const std::string other = root / "evil";
  const pid_t swapper = fork();
  if (swapper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  }
  int inside = 0;
  int stopped = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Result<FoundBeneath> found = FindBeneath(*top, "sub dir/deep");
    struct stat status{};
    if (!found) {
      stopped += found.error().sys_errno == EXDEV ? 1 : 0;
    } else if (fstat(found->directory.fd(), &status) == 0) {
      ++inside;
      ASSERT_NE(status.st_ino, forbidden.st_ino);
    }
  }
  kill(swapper, SIGKILL);
  waitpid(swapper, nullptr, 0);
  EXPECT_GT(inside, 0);
  EXPECT_GT(stopped, 0) << "nobody was in the way";
}

}  // namespace
}  // namespace pa::policy
