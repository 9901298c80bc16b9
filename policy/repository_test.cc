#include "policy/repository.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace pa::policy {
namespace {

namespace fs = std::filesystem;

class RepositoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "repository.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    base_ = fs::canonical(name);
    root_ = base_ / "root";
    fs::create_directories(root_);
    policy_.roots = {root_};
    policy_.home = "/nonexistent";
  }
  void TearDown() override { fs::remove_all(base_); }

  void Write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // What git takes for a repository.
  void MakeGitDirectory(const fs::path& path) {
    fs::create_directories(path / "objects");
    fs::create_directories(path / "refs");
    fs::create_directories(path / "hooks");
    Write(path / "HEAD", "ref: refs/heads/main\n");
  }
  // `git worktree add`, as gitrepository-layout(5) describes what it leaves.
  void MakeWorktree(const fs::path& common, const fs::path& tree) {
    const fs::path git_dir = common / "worktrees" / tree.filename();
    Write(git_dir / "HEAD", "ref: refs/heads/side\n");
    Write(git_dir / "commondir", "../..\n");
    Write(git_dir / "gitdir", (tree / ".git").string() + "\n");
    Write(tree / ".git", "gitdir: " + git_dir.string() + "\n");
  }
  std::expected<std::optional<Repository>, DirectoryRefusal> Find(const fs::path& path) {
    auto directory = ValidateWorkingDirectory(policy_, path);
    EXPECT_TRUE(directory.has_value()) << directory.error().message;
    RepositoryTexts texts;
    for (;;) {
      RepositoryOr found = FindRepository(directory->path(), VisiblePaths(policy_), texts);
      if (found) return *found;
      const RepositoryRefusal& refusal = found.error();
      if (!refusal.needed_line.empty()) {
        texts.lines[refusal.needed_line] = ReadLinkLine(refusal.needed_line).value();
      } else if (!refusal.needed_work_tree.empty()) {
        texts.work_trees.emplace(refusal.needed_work_tree, ReadWorkTree(refusal.needed_work_tree));
      } else {
        return std::unexpected(refusal);
      }
    }
  }
  Repository Found(const fs::path& path) {
    auto found = Find(path);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    EXPECT_TRUE(found && found->has_value());
    return found && *found ? **found : Repository{};
  }
  std::string Refused(const fs::path& path) {
    auto found = Find(path);
    EXPECT_FALSE(found.has_value());
    return found ? "" : found.error().message;
  }
  static bool Grants(const Repository& repository, const fs::path& path, sandbox::Access access) {
    for (const sandbox::PathGrant& grant : repository.grants) {
      if (grant.path == path.string() && grant.access == access) return true;
    }
    return false;
  }

  fs::path base_, root_;
  Policy policy_;
};

TEST_F(RepositoryTest, NoneIsNoError) {
  auto found = Find(root_);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_FALSE(found->has_value());
}

TEST_F(RepositoryTest, InTheWorkingDirectoryNothingMoreIsGranted) {
  MakeGitDirectory(root_ / ".git");
  const Repository repository = Found(root_);
  EXPECT_EQ(repository.top_level, root_);
  EXPECT_EQ(repository.git_dir, root_ / ".git");
  EXPECT_EQ(repository.common_dir, root_ / ".git");
  EXPECT_TRUE(repository.grants.empty());
}

TEST_F(RepositoryTest, AnEmptyGitDirectoryIsNoRepository) {
  MakeGitDirectory(root_ / ".git");
  fs::create_directories(root_ / "sub/.git");
  EXPECT_EQ(Found(root_ / "sub").top_level, root_);
}

TEST_F(RepositoryTest, SubdirectoryWithinTheRootSeesTheWholeTree) {
  MakeGitDirectory(root_ / ".git");
  fs::create_directories(root_ / "sub/deep");
  const Repository repository = Found(root_ / "sub/deep");
  EXPECT_EQ(repository.top_level, root_);
  EXPECT_TRUE(Grants(repository, root_ / ".git", sandbox::kReadWrite));
  EXPECT_TRUE(Grants(repository, root_ / ".git/hooks", sandbox::kReadExecute));
  EXPECT_TRUE(Grants(repository, root_, sandbox::kReadExecute));
  EXPECT_EQ(repository.grants.size(), 3u);
}

TEST_F(RepositoryTest, AWorkingTreeBeyondTheRootsIsRefused) {
  MakeGitDirectory(base_ / ".git");
  fs::create_directories(root_ / "sub");
  EXPECT_NE(Refused(root_ / "sub").find(base_.string() + " reaches beyond"), std::string::npos);
  policy_.filesystem = {{base_, sandbox::kReadExecute, "policy filesystem.read[0]"}};
  EXPECT_TRUE(Grants(Found(root_ / "sub"), base_, sandbox::kReadExecute));
  policy_.filesystem.clear();
  policy_.roots.push_back(base_);  // not the one that the directory was found in
  EXPECT_EQ(Found(root_ / "sub").top_level, base_);
}

TEST_F(RepositoryTest, AWorkingTreeElsewhereIsRefused) {
  MakeGitDirectory(root_ / ".git");
  Write(root_ / ".git/config", "[core]\n\tworktree = ../..\n");
  EXPECT_NE(Refused(root_).find("core.worktree names ../.."), std::string::npos);
  Write(root_ / ".git/config", "[core]\n\tworktree = ..\n");
  EXPECT_EQ(Found(root_).top_level, root_);
  Write(root_ / ".git/config.worktree", "[core] worktree = \"" + base_.string() + "\"\n");
  EXPECT_NE(Refused(root_).find("core.worktree"), std::string::npos);
  fs::remove(root_ / ".git/config.worktree");
  fs::remove(root_ / ".git/config");
  fs::create_directory(root_ / ".git/config");
  EXPECT_NE(Refused(root_).find("not used"), std::string::npos);
}

TEST_F(RepositoryTest, LinkedWorktree) {
  MakeGitDirectory(base_ / "main/.git");
  MakeWorktree(base_ / "main/.git", root_ / "side");
  const Repository repository = Found(root_ / "side");
  EXPECT_EQ(repository.top_level, root_ / "side");
  EXPECT_EQ(repository.git_dir, base_ / "main/.git/worktrees/side");
  EXPECT_EQ(repository.common_dir, base_ / "main/.git");
  EXPECT_TRUE(Grants(repository, base_ / "main/.git", sandbox::kReadWrite));
  EXPECT_FALSE(Grants(repository, base_ / "main", sandbox::kReadExecute));
}

TEST_F(RepositoryTest, LinkedWorktreeWithRelativeLinks) {
  MakeGitDirectory(base_ / "main/.git");
  MakeWorktree(base_ / "main/.git", root_ / "side");
  Write(base_ / "main/.git/worktrees/side/gitdir", "../../../../root/side/.git\n");
  Write(root_ / "side/.git", "gitdir: ../../main/.git/worktrees/side\n");
  EXPECT_EQ(Found(root_ / "side").common_dir, base_ / "main/.git");
}

TEST_F(RepositoryTest, ForgedLinkToAWorktreeOfAnotherDirectory) {
  MakeGitDirectory(base_ / "main/.git");
  MakeWorktree(base_ / "main/.git", base_ / "elsewhere");
  Write(root_ / ".git", "gitdir: " + (base_ / "main/.git/worktrees/elsewhere").string() + "\n");
  EXPECT_NE(Refused(root_).find("does not name"), std::string::npos);
}

TEST_F(RepositoryTest, ForgedLinkToAWholeRepository) {
  MakeGitDirectory(base_ / "victim/.git");
  Write(root_ / ".git", "gitdir: " + (base_ / "victim/.git").string() + "\n");
  EXPECT_NE(Refused(root_).find("does not name"), std::string::npos);
}

// The agent makes the git directory itself, back-link and all, and lets it borrow from the victim.
TEST_F(RepositoryTest, ForgedCommondirInAGitDirectoryOfTheAgents) {
  MakeGitDirectory(base_ / "victim/.git");
  const fs::path forged = root_ / "forged/worktrees/x";
  Write(forged / "HEAD", "ref: refs/heads/main\n");
  Write(forged / "commondir", (base_ / "victim/.git").string() + "\n");
  Write(forged / "gitdir", (root_ / ".git").string() + "\n");
  Write(root_ / ".git", "gitdir: " + forged.string() + "\n");
  EXPECT_NE(Refused(root_).find("does not name"), std::string::npos);
}

TEST_F(RepositoryTest, ForgedCommondirInAPlainGitDirectory) {
  MakeGitDirectory(base_ / "victim/.git");
  MakeGitDirectory(root_ / ".git");
  Write(root_ / ".git/commondir", (base_ / "victim/.git").string() + "\n");
  EXPECT_NE(Refused(root_).find("commondir"), std::string::npos);
}

TEST_F(RepositoryTest, GitDirectoryBehindASymlink) {
  MakeGitDirectory(base_ / "victim/.git");
  fs::create_directory_symlink(base_ / "victim/.git", root_ / ".git");
  EXPECT_NE(Refused(root_).find("leads out of the working directory"), std::string::npos);
  fs::remove(root_ / ".git");
  MakeGitDirectory(root_ / "real");
  fs::create_directory_symlink("real", root_ / ".git");
  EXPECT_EQ(Found(root_).git_dir, root_ / "real");
}

TEST_F(RepositoryTest, Submodule) {
  MakeGitDirectory(root_ / ".git");
  MakeGitDirectory(root_ / ".git/modules/lib");
  Write(root_ / ".git/modules/lib/config", "[core]\n\tbare = false\n\tworktree = ../../../lib\n");
  Write(root_ / "lib/.git", "gitdir: ../.git/modules/lib\n");
  const Repository repository = Found(root_ / "lib");
  EXPECT_EQ(repository.top_level, root_ / "lib");
  EXPECT_EQ(repository.git_dir, root_ / ".git/modules/lib");
  EXPECT_TRUE(Grants(repository, root_ / ".git/modules/lib", sandbox::kReadWrite));
  EXPECT_FALSE(Grants(repository, root_ / ".git", sandbox::kReadWrite));
}

TEST_F(RepositoryTest, SubmoduleOfASubmodule) {
  MakeGitDirectory(root_ / ".git");
  MakeGitDirectory(root_ / ".git/modules/lib");
  MakeGitDirectory(root_ / ".git/modules/lib/modules/inner");
  Write(root_ / ".git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n");
  Write(root_ / ".git/modules/lib/modules/inner/config",
        "[core]\n\tworktree = ../../../../../lib/inner\n");
  Write(root_ / "lib/.git", "gitdir: ../.git/modules/lib\n");
  Write(root_ / "lib/inner/.git", "gitdir: ../../.git/modules/lib/modules/inner\n");
  EXPECT_EQ(Found(root_ / "lib/inner").git_dir, root_ / ".git/modules/lib/modules/inner");
}

TEST_F(RepositoryTest, TheGitDirectoryOfAnotherSubmodule) {
  MakeGitDirectory(root_ / ".git");
  MakeGitDirectory(root_ / ".git/modules/other");
  Write(root_ / ".git/modules/other/config", "[core]\n\tworktree = ../../../other\n");
  fs::create_directories(root_ / "other");
  Write(root_ / "lib/.git", "gitdir: ../.git/modules/other\n");
  EXPECT_NE(Refused(root_ / "lib").find("does not name"), std::string::npos);
  fs::remove(root_ / ".git/modules/other/config");
  EXPECT_NE(Refused(root_ / "lib").find("does not name"), std::string::npos);
}

TEST_F(RepositoryTest, SubmoduleOfSomebodyElse) {
  MakeGitDirectory(base_ / "victim/.git");
  MakeGitDirectory(base_ / "victim/.git/modules/lib");
  MakeGitDirectory(root_ / ".git");
  Write(root_ / "lib/.git", "gitdir: " + (base_ / "victim/.git/modules/lib").string() + "\n");
  EXPECT_NE(Refused(root_ / "lib").find("does not name"), std::string::npos);
}

TEST_F(RepositoryTest, SeparateGitDirectoryWithinTheWorkingDirectory) {
  MakeGitDirectory(root_ / "store");
  Write(root_ / ".git", "gitdir: store\n");
  const Repository repository = Found(root_);
  EXPECT_EQ(repository.git_dir, root_ / "store");
  EXPECT_TRUE(repository.grants.empty());
}

TEST_F(RepositoryTest, BrokenLinks) {
  Write(root_ / ".git", "gitdir: missing\n");
  EXPECT_NE(Refused(root_).find("does not exist"), std::string::npos);
  Write(root_ / ".git", "something else\n");
  EXPECT_NE(Refused(root_).find("no link of git's"), std::string::npos);
  Write(root_ / ".git", "gitdir: " + std::string(100'000, 'x'));
  EXPECT_NE(Refused(root_).find("no link of git's"), std::string::npos);
  fs::remove(root_ / ".git");
  ASSERT_EQ(mkfifo((root_ / ".git").c_str(), 0600), 0);
  const auto found = Find(root_);
  EXPECT_TRUE(found.has_value() && !found->has_value());
}

TEST_F(RepositoryTest, HooksBehindASymlinkAreNotGranted) {
  MakeGitDirectory(root_ / ".git");
  fs::create_directories(root_ / "sub");
  fs::remove(root_ / ".git/hooks");
  fs::create_directory_symlink(base_, root_ / ".git/hooks");
  EXPECT_FALSE(Grants(Found(root_ / "sub"), root_ / ".git/hooks", sandbox::kReadExecute));
}

TEST_F(RepositoryTest, OfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  MakeGitDirectory(root_ / ".git");
  ASSERT_EQ(chown((root_ / ".git").c_str(), 12345, 12345), 0);
  EXPECT_NE(Refused(root_).find("another user"), std::string::npos);
}

}  // namespace
}  // namespace pa::policy
