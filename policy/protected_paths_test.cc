// What git executes and where from, in every shape that a repository can have; made by git itself.
#include "policy/protected_paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using Kind = ProtectedPath::Kind;
using Found = ProtectedPath::Found;

// In each git directory: remotes, branches, and what git writes of an operation that goes on.
constexpr std::size_t kState = 19;

class ProtectedPathsTest : public ::testing::Test {
 protected:
  ProtectedPathsTest() {
    fs::create_directories(root_);
    fs::create_directories(home_);
  }
  void Git(const fs::path& directory, std::vector<std::string> arguments) {
    std::vector<std::string> command = {
        "git", "-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=b"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const pa::testing::ProgramResult git =
        pa::testing::RunProgram({.command = std::move(command),
                                 .environment = {"HOME=" + home_.string(), "GIT_CONFIG_NOSYSTEM=1"},
                                 .directory = directory});
    ASSERT_EQ(git.exit_code, 0) << git.output << git.errors;
  }
  void Init(const fs::path& directory) {
    fs::create_directories(directory);
    Git(directory, {"init", "-q"});
    Git(directory, {"commit", "-q", "--allow-empty", "-m", "first"});
  }
  void Config(const fs::path& directory, const std::string& name, const std::string& value) {
    Git(directory, {"config", name, value});
  }

  ProtectionQuery Query() {
    return {.directory = directory_,
            .writable = writable_.empty() ? std::vector<std::string>{directory_} : writable_,
            .places = places_,
            .unprotected = unprotected_,
            .roots = roots_,
            .audit_directory = audit_directory_,
            .home = home_,
            .config_home = home_ / ".config",
            .repositories = below_,
            .mounts = mounts_,
            .git_read_only = git_read_only_,
            .system_configuration = base_ / "gitconfig"};
  }
  // Relative to base_.
  std::map<std::string, ProtectedPath> Find() {
    const Result<ProtectedPaths> found = FindProtectedPaths(Query());
    std::map<std::string, ProtectedPath> paths;
    EXPECT_TRUE(found.has_value()) << found.error().Message();
    if (!found) return paths;
    EXPECT_TRUE(found->InputsHold());
    for (const ProtectedPath& path : found->paths) {
      EXPECT_TRUE(path.path.starts_with(path.area + "/")) << path.path;
      EXPECT_EQ(path.stamp, LookAt(path.path)) << path.path;
      EXPECT_EQ(path.found == Found::kAbsent, !path.stamp.exists) << path.path;
      EXPECT_NE(path.reason, "");
      if ((path.host != nullptr) != hosts_) continue;
      paths.emplace(fs::path(path.path).lexically_relative(base_), path);
    }
    return paths;
  }
  // `kind found`, or "" of what is free.
  std::string Of(const std::string& path) {
    const auto paths = Find();
    const auto found = paths.find(path);
    if (found == paths.end()) return "";
    constexpr const char* kKinds[] = {"pinned", "file",   "tree",   "names",
                                      "state",  "sealed", "frozen", "read-only"};
    constexpr const char* kFound[] = {"absent", "file", "directory", "symlink", "other"};
    return std::string(kKinds[static_cast<int>(found->second.kind)]) + " " +
           kFound[static_cast<int>(found->second.found)];
  }

  pa::testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const fs::path root_ = base_ / "root";
  const fs::path home_ = base_ / "home";
  std::string directory_ = root_;
  std::vector<std::string> roots_ = {root_};
  std::vector<std::string> writable_;
  std::vector<ConfiguredPath> places_;
  std::string audit_directory_;
  std::vector<std::string> unprotected_;
  std::vector<RepositoryBelow> below_;
  bool mounts_ = false;
  bool git_read_only_ = false;
  bool hosts_ = false;  // what other programs than git execute, and nothing else
};

// Each takes two mounts: itself, and the directory in which it lies.
// filesystem.protect is relative to the project, and holds in each directory of it.
TEST_F(ProtectedPathsTest, PlacesOfThePolicyHoldInTheirMidst) {
  places_ = {{"ci", "policy filesystem.protect"}, {"tools/deploy", "policy filesystem.protect"}};
  fs::create_directories(root_ / "ci/sub");
  fs::create_directories(root_ / "tools/other");
  directory_ = root_ / "tools";
  EXPECT_EQ(Of("root/tools/deploy"), "tree absent");
  directory_ = root_ / "tools/other";
  EXPECT_TRUE(FindProtectedPaths(Query()));
  for (const char* within : {"ci", "ci/sub"}) {
    directory_ = root_ / within;
    const auto found = FindProtectedPaths(Query());
    ASSERT_FALSE(found) << within;
    EXPECT_EQ(found.error().kind, ProtectionFailure::Kind::kWithin);
  }
}

TEST_F(ProtectedPathsTest, RepositoriesBelowAreFrozenAsFarAsMountsGo) {
  constexpr int kMany = 100;
  for (int i = 0; i < kMany; ++i) {
    const fs::path git = root_ / ("r" + std::to_string(100 + i)) / ".git";
    for (const char* part : {"objects", "refs", "hooks"}) fs::create_directories(git / part);
    for (const char* file : {"HEAD", "config"}) pa::testing::WriteText(git / file, "");
    below_.push_back({.path = git, .kind = RepositoryBelow::Kind::kDirectory});
  }
  EXPECT_EQ(Of("root/r100/.git"), "pinned directory") << "without mounts";
  EXPECT_EQ(Of("root/r100/.git/config"), "file file");
  mounts_ = true;
  EXPECT_EQ(Of("root/r100/.git"), "frozen directory");
  EXPECT_EQ(Of("root/r100/.git/config"), "") << "with all that is in it";
  EXPECT_EQ(Of("root/r195/.git"), "frozen directory");
  EXPECT_EQ(Of("root/r196/.git"), "pinned directory") << "192 are taken";
  EXPECT_EQ(Of("root/r196/.git/config"), "file file");
}

TEST_F(ProtectedPathsTest, NoRepositoryMustNotBecomeOne) {
  EXPECT_EQ(Of("root/.git"), "pinned absent");
  EXPECT_EQ(Of("root/HEAD"), "file absent");
  EXPECT_EQ(Find().size(), 2u);
}

TEST_F(ProtectedPathsTest, APlainRepository) {
  Init(root_);
  EXPECT_EQ(Of("root/.git"), "pinned directory");
  EXPECT_EQ(Of("root/.git/hooks"), "tree directory");
  EXPECT_EQ(Of("root/.git/config"), "file file");
  EXPECT_EQ(Of("root/.git/config.worktree"), "file absent");
  EXPECT_EQ(Of("root/.git/commondir"), "file absent");
  EXPECT_EQ(Of("root/.git/modules"), "names absent");
  // What commits write is free.
  EXPECT_EQ(Find().size(), 6u + kState);
  EXPECT_TRUE(Find().at("root/.git").repository);
}

// What commands cannot write need not be held, and still decides what else is protected.
TEST_F(ProtectedPathsTest, AReadOnlyRepositoryIsOnePath) {
  Init(root_);
  Config(root_, "core.hooksPath", "tools/hooks");
  Config(root_, "include.path", "../shared.config");
  Git(root_, {"worktree", "add", "-q", "tree"});
  Git(root_, {"clone", "-q", ".", "old"});
  Git(root_, {"add", "old"});
  git_read_only_ = mounts_ = true;
  EXPECT_EQ(Of("root/.git"), "read-only directory");
  EXPECT_TRUE(Find().at("root/.git").repository);
  EXPECT_EQ(Find().at("root/.git").source, ProtectionSource::kGitCommands);
  for (const char* within :
       {"config", "hooks", "commondir", "modules", "worktrees", "worktrees/tree",
        "worktrees/tree/commondir", "rebase-merge/git-rebase-todo"}) {
    EXPECT_EQ(Of(std::string("root/.git/") + within), "") << within;
  }
  EXPECT_EQ(Of("root/tools/hooks"), "tree absent");
  EXPECT_EQ(Of("root/shared.config"), "file absent");
  EXPECT_EQ(Of("root/tree/.git"), "file file");
  EXPECT_EQ(Of("root/old/.git"), "read-only directory")
      << "a submodule of before there were modules";
  const Result<ProtectedPaths> found = FindProtectedPaths(Query());
  EXPECT_TRUE(found->indexes.empty());
  for (const ProtectedPaths::Decider& decider : found->deciders) {
    EXPECT_FALSE(decider.path.contains("/.git/")) << decider.path;
  }
  Config(root_, "core.hooksPath", "others");
  EXPECT_FALSE(found->InputsHold()) << "the next search finds another directory of hooks";
}

// Or the command could not write where it works.
TEST_F(ProtectedPathsTest, NoRepositoryIsReadOnlyInWhichACommandWorks) {
  Init(base_ / "other");
  Git(base_, {"clone", "-q", "--bare", "other", "root"});
  Git(root_, {"worktree", "add", "-q", "tree"});
  git_read_only_ = mounts_ = true;
  directory_ = root_ / "tree";
  writable_ = {root_.string()};
  EXPECT_EQ(Of("root/config"), "file file");
  EXPECT_EQ(Of("root/hooks"), "tree directory");
}

TEST_F(ProtectedPathsTest, TheRepositoryOfAnAncestorLiesWhereNothingCanBeWritten) {
  Init(base_);
  Config(base_, "core.hooksPath", "root/githooks");
  Config(base_, "include.path", "../root/shared.config");
  pa::testing::WriteText(root_ / "githooks/pre-commit", "");
  pa::testing::WriteText(root_ / "shared.config", "");
  EXPECT_EQ(Of(".git"), "");
  EXPECT_EQ(Of("root/.git"), "pinned absent");
  EXPECT_EQ(Of("root/githooks"), "tree directory");
  EXPECT_EQ(Of("root/shared.config"), "file file");
  EXPECT_EQ(Of("root/HEAD"), "file absent") << "git takes it for a bare one before it looks above";
  EXPECT_EQ(Find().size(), 4u);
}

TEST_F(ProtectedPathsTest, AnIncompleteRepositoryCouldBeCompleted) {
  Init(base_);
  fs::create_directories(root_ / ".git");
  EXPECT_EQ(Of("root/.git"), "pinned directory");
  EXPECT_EQ(Of("root/.git/config"), "file absent");
  EXPECT_EQ(Of("root/.git/hooks"), "tree absent");
}

TEST_F(ProtectedPathsTest, ABareRepositoryIsItsOwnWorkingDirectory) {
  Git(root_, {"init", "-q", "--bare"});
  EXPECT_EQ(Of("root/config"), "file file");
  EXPECT_EQ(Of("root/hooks"), "tree directory");
  EXPECT_EQ(Of("root/HEAD"), "");
}

// However deep in it, and whatever a command has made on the way.
TEST_F(ProtectedPathsTest, SoItIsAboveTheWorkingDirectory) {
  Git(root_, {"init", "-q", "--bare"});
  fs::create_directories(root_ / "hooks/.git");
  fs::create_directories(root_ / "rebase-merge");
  ProtectionQuery query = Query();
  const auto protects = [&](const char* directory, const char* path) {
    query.directory = root_ / directory;
    query.writable = {query.directory};
    const Result<ProtectedPaths> found = FindProtectedPaths(query);
    return found && found->Protecting(root_ / path) != nullptr;
  };
  EXPECT_TRUE(protects("hooks", "hooks/pre-commit"));
  EXPECT_TRUE(protects("rebase-merge", "rebase-merge/git-rebase-todo"));
  EXPECT_FALSE(protects("rebase-merge", "rebase-merge/done"));
  fs::remove(root_ / "HEAD");
  EXPECT_FALSE(protects("hooks", "hooks/pre-commit")) << "git takes it for nothing";
}

TEST_F(ProtectedPathsTest, HooksWhereverTheyAreConfigured) {
  Init(root_);
  pa::testing::WriteText(root_ / "tools/hooks/pre-commit", "");
  Config(root_, "core.hooksPath", "tools/hooks");
  EXPECT_EQ(Of("root/tools/hooks"), "tree directory");
  EXPECT_EQ(Of("root/tools"), "pinned directory") << "else it could be moved away";
  Config(root_, "core.hooksPath", (root_ / "later/hooks").string());
  EXPECT_EQ(Of("root/later/hooks"), "tree absent");
  EXPECT_EQ(Of("root/later"), "");
  Config(root_, "core.hooksPath", (base_ / "elsewhere").string());
  EXPECT_EQ(Find().size(), 6u + kState);
  Git(root_, {"config", "--unset", "core.hooksPath"});
  pa::testing::WriteText(home_ / ".gitconfig", "[core]\nhooksPath = .githooks\n");
  EXPECT_EQ(Of("root/.githooks"), "tree absent") << "the user's configuration counts as well";
  pa::testing::WriteText(home_ / ".gitconfig", "");
  pa::testing::WriteText(base_ / "gitconfig", "[include]\npath = more\n");
  pa::testing::WriteText(base_ / "more", "[core]\nhooksPath = .systemhooks\n");
  EXPECT_EQ(Of("root/.systemhooks"), "tree absent");
  pa::testing::WriteText(base_ / "more", "");
  pa::testing::WriteText(home_ / ".config/git/config", "[core]\nhooksPath = ~/../root/h\n");
  EXPECT_EQ(Of("root/h"), "tree absent");
}

TEST_F(ProtectedPathsTest, WhereABuildWritesOnlyWhatGitWouldExecute) {
  Init(root_);
  for (const char* here : {".", "./"}) {
    Config(root_, "core.hooksPath", here);
    EXPECT_EQ(Of("root/pre-commit"), "file absent") << here;
    EXPECT_EQ(Of("root/build"), "");
  }
  Config(root_, "core.hooksPath", ".git");
  EXPECT_EQ(Of("root/.git/pre-push"), "file absent");
  EXPECT_EQ(Of("root/.git"), "pinned directory");
  for (const char* above : {"..", "/"}) {
    Config(root_, "core.hooksPath", above);
    EXPECT_EQ(Find().size(), 6u + kState) << above;
  }
}

TEST_F(ProtectedPathsTest, WhatConfigurationIncludes) {
  Init(root_);
  Config(root_, "include.path", "../.gitconfig");
  pa::testing::WriteText(root_ / ".gitconfig",
                         "[include]\npath = conf/deep\n[includeIf \"onbranch:x\"]\npath = conf/if\n"
                         "[include]\npath = .gitconfig\n");
  pa::testing::WriteText(root_ / "conf/deep", "[core]\nhooksPath = deep-hooks\n");
  EXPECT_EQ(Of("root/.gitconfig"), "file file");
  EXPECT_EQ(Of("root/conf"), "pinned directory");
  EXPECT_EQ(Of("root/conf/deep"), "file file");
  EXPECT_EQ(Of("root/conf/if"), "file absent");
  EXPECT_EQ(Of("root/deep-hooks"), "tree absent");
}

TEST_F(ProtectedPathsTest, SymlinksAndWhereTheyLead) {
  Init(root_);
  fs::rename(root_ / ".git/hooks", root_ / "my-hooks");
  fs::create_symlink("../link", root_ / ".git/hooks");
  fs::create_symlink("my-hooks", root_ / "link");
  pa::testing::WriteText(root_ / "scripts/check", "");
  fs::create_symlink("../scripts/check", root_ / "my-hooks/pre-commit");
  EXPECT_EQ(Of("root/.git/hooks"), "file symlink");
  EXPECT_EQ(Of("root/link"), "file symlink");
  EXPECT_EQ(Of("root/my-hooks"), "tree directory");
  EXPECT_EQ(Of("root/scripts/check"), "file file");
  EXPECT_EQ(Of("root/scripts"), "pinned directory");
  fs::create_symlink("loop", root_ / "loop");
  Config(root_, "core.hooksPath", "loop");
  EXPECT_EQ(Of("root/loop"), "file symlink");
}

TEST_F(ProtectedPathsTest, ARepositoryBehindASymlink) {
  Init(root_);
  fs::rename(root_ / ".git", root_ / "data");
  fs::create_symlink("data", root_ / ".git");
  EXPECT_EQ(Of("root/.git"), "file symlink");
  EXPECT_EQ(Of("root/data"), "pinned directory");
  EXPECT_EQ(Of("root/data/config"), "file file");
}

TEST_F(ProtectedPathsTest, LinkedWorktrees) {
  Init(root_);
  Git(root_, {"worktree", "add", "-q", "inside"});
  Git(root_, {"worktree", "add", "-q", base_ / "outside"});
  Config(root_, "core.hooksPath", ".githooks");
  EXPECT_EQ(Of("root/inside/.git"), "file file");
  EXPECT_EQ(Of("root/.git/worktrees/inside"), "pinned directory");
  for (const char* tree : {"inside", "outside"}) {
    const std::string directory = "root/.git/worktrees/" + std::string(tree) + "/";
    EXPECT_EQ(Of(directory + "commondir"), "file file");
    EXPECT_EQ(Of(directory + "gitdir"), "file file");
    EXPECT_EQ(Of(directory + "config.worktree"), "file absent");
    EXPECT_EQ(Of(directory + "index"), "");
  }
  EXPECT_EQ(Of("root/.githooks"), "tree absent");
  EXPECT_EQ(Of("root/inside/.githooks"), "tree absent");
  EXPECT_EQ(Of("outside/.git"), "");
}

TEST_F(ProtectedPathsTest, FromWithinALinkedWorktree) {
  Init(base_ / "main");
  fs::remove(root_);
  Git(base_ / "main", {"worktree", "add", "-q", root_});
  Config(base_ / "main", "core.hooksPath", ".githooks");
  EXPECT_EQ(Of("root/.git"), "file file");
  EXPECT_EQ(Of("root/.githooks"), "tree absent");
  EXPECT_EQ(Find().size(), 2u) << "the rest lies where the command cannot write";
  // As git_add and git_commit have it.
  writable_ = {root_, base_ / "main/.git"};
  EXPECT_EQ(Of("main/.git/config"), "file file");
  EXPECT_EQ(Of("main/.git/hooks"), "tree directory");
  EXPECT_EQ(Of("main/.git/worktrees/root/commondir"), "file file");
  writable_ = {root_, base_ / "main"};
  EXPECT_EQ(Of("main/.git"), "pinned directory");
  EXPECT_EQ(Of("main/.githooks"), "tree absent");
}

TEST_F(ProtectedPathsTest, Submodules) {
  Init(base_ / "lib");
  Init(base_ / "deep");
  Git(base_ / "lib", {"submodule", "add", "-q", base_ / "deep", "deep"});
  Git(base_ / "lib", {"commit", "-q", "-m", "deep"});
  Init(root_);
  Git(root_, {"submodule", "add", "-q", "--name", "a/b", base_ / "lib", "lib"});
  Git(root_, {"submodule", "update", "-q", "--init", "--recursive"});
  Config(root_ / "lib", "core.hooksPath", "own-hooks");
  EXPECT_EQ(Of("root/lib/.git"), "file file");
  EXPECT_EQ(Of("root/lib/deep/.git"), "file file");
  EXPECT_EQ(Of("root/.git/modules"), "names directory");
  EXPECT_EQ(Of("root/.git/modules/a"), "names directory");
  EXPECT_EQ(Of("root/.git/modules/a/b"), "pinned directory");
  EXPECT_EQ(Of("root/.git/modules/a/b/config"), "file file");
  EXPECT_EQ(Of("root/.git/modules/a/b/hooks"), "tree directory");
  EXPECT_EQ(Of("root/.git/modules/a/b/modules"), "names directory");
  EXPECT_EQ(Of("root/.git/modules/a/b/modules/deep/config"), "file file");
  EXPECT_EQ(Of("root/lib/own-hooks"), "tree absent");
  EXPECT_EQ(Of("root/.gitmodules"), "") << "git executes nothing that it says";
}

TEST_F(ProtectedPathsTest, SubmodulesThatAreNotCheckedOutOrKeepTheirOwnData) {
  Init(root_);
  Init(root_ / "old");
  pa::testing::WriteText(root_ / ".gitmodules",
                         "[submodule \"old\"]\npath = old\n[submodule \"new\"]\npath = sub/new\n"
                         "[submodule \"self\"]\npath = .\n[submodule \"up\"]\npath = ../x\n"
                         "[submodule \"abs\"]\npath = /etc\n");
  EXPECT_EQ(Of("root/old/.git/config"), "file file");
  EXPECT_EQ(Of("root/old/.git"), "pinned directory");
  EXPECT_EQ(Of("root/sub/new/.git"), "pinned absent");
}

// `git add` of a directory with a repository of its own is enough for `git status` to look into it.
TEST_F(ProtectedPathsTest, WhatTheIndexCallsASubmodule) {
  Init(root_);
  Init(root_ / "nested");
  EXPECT_EQ(Of("root/nested/.git/config"), "") << "git has nothing to do with it";
  ProtectedPaths::Index index = FindProtectedPaths(Query())->indexes.at(0);
  EXPECT_EQ(index.path, root_ / ".git/index");
  EXPECT_EQ(index.top, root_);
  EXPECT_TRUE(SubmodulesOf(index)->empty());
  Git(root_, {"add", "nested"});
  EXPECT_EQ(*SubmodulesOf(index), std::vector<std::string>{"nested"});
  EXPECT_EQ(Of("root/nested/.git/config"), "file file");
  EXPECT_EQ(FindProtectedPaths(Query())->indexes.size(), 2u);
  Git(root_, {"update-index", "--split-index"});
  EXPECT_EQ(*SubmodulesOf(index), std::vector<std::string>{"nested"});
  EXPECT_EQ(Of("root/nested/.git/config"), "file file");
  fs::resize_file(root_ / ".git/index", 65u << 20);
  EXPECT_FALSE(FindProtectedPaths(Query()).has_value());
  EXPECT_FALSE(SubmodulesOf(index).has_value());
}

TEST_F(ProtectedPathsTest, PlacesOfThePolicy) {
  Init(base_);
  pa::testing::WriteText(root_ / "ci/run", "");
  pa::testing::WriteText(root_ / "file", "");
  places_ = {{"ci", "policy"}, {"file", "policy"}, {"later/x", "policy"}, {".git/hooks", "policy"}};
  EXPECT_EQ(Of("root/ci"), "tree directory");
  EXPECT_EQ(Of("root/file"), "file file");
  EXPECT_EQ(Of("root/later/x"), "tree absent");
  EXPECT_EQ(Of("root/.git/hooks"), "") << "what git calls so is looked after anyway";
  places_ = {{"root/ci/run", "policy"}, {"ci", "policy"}};
  EXPECT_EQ(Of("root/ci"), "tree directory") << "relative to the top of the repository, too";
  EXPECT_EQ(Of("root/ci/run"), "") << "the tree has it";
  places_ = {{".git/info", "policy"}};
  writable_ = {base_};
  EXPECT_EQ(Of(".git/info"), "tree directory");
}

TEST_F(ProtectedPathsTest, OtherWritableTreesHaveTheirRepositories) {
  Init(base_ / "granted");
  writable_ = {root_, base_ / "granted", base_ / "nothing"};
  EXPECT_EQ(Of("granted/.git/config"), "file file");
  EXPECT_EQ(Of("nothing/.git"), "");
}

TEST_F(ProtectedPathsTest, WhatDecidedIsKnown) {
  Init(root_);
  Git(root_, {"worktree", "add", "-q", base_ / "outside"});
  const auto changes = [&](auto change) {
    const Result<ProtectedPaths> found = FindProtectedPaths(Query());
    EXPECT_TRUE(found && found->InputsHold());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    change();
    return !found->InputsHold();
  };
  EXPECT_TRUE(changes([&] { pa::testing::WriteText(home_ / ".gitconfig", "[core]\n"); }));
  EXPECT_TRUE(changes([&] { pa::testing::WriteText(root_ / ".gitmodules", "[core]\n"); }));
  EXPECT_TRUE(changes([&] { Git(root_, {"worktree", "add", "-q", base_ / "more"}); }));
  EXPECT_FALSE(changes([&] { Git(root_, {"commit", "-q", "--allow-empty", "-m", "x"}); }));
  EXPECT_FALSE(changes([&] { pa::testing::WriteText(root_ / "made", ""); }));
}

TEST_F(ProtectedPathsTest, TooMuchIsAnError) {
  Init(root_);
  for (int i = 0; i < 1100; ++i) {
    pa::testing::WriteText(root_ / ".git/modules" / std::to_string(i) / "HEAD", "");
  }
  const Result<ProtectedPaths> found = FindProtectedPaths(Query());
  ASSERT_FALSE(found.has_value());
  EXPECT_TRUE(found.error().Message().starts_with("protected paths: ")) << found.error().Message();
}

TEST_F(ProtectedPathsTest, HostileRepositoriesEnd) {
  fs::create_directories(root_ / ".git/worktrees/x");
  pa::testing::WriteText(root_ / ".git/HEAD", "");
  pa::testing::WriteText(root_ / ".git/commondir", "../.git/worktrees/x");
  pa::testing::WriteText(root_ / ".git/worktrees/x/commondir", "../..");
  pa::testing::WriteText(root_ / ".git/worktrees/x/gitdir", "/proc/self/root/.git\n");
  pa::testing::WriteText(root_ / ".git/config.worktree",
                         "[include]\npath = config.worktree\n[core]\nworktree = ../../../..\n"
                         "hooksPath = /dev/zero/../../x\n[include]\npath = /dev/null\n");
  EXPECT_EQ(Of("root/.git"), "pinned directory");
  EXPECT_EQ(Of("root/.git/config.worktree"), "file file");
}

// What our readers took for "nothing there" git reads all the same.
TEST_F(ProtectedPathsTest, WhatCannotBeReadIsAnError) {
  Init(root_);
  Git(root_, {"worktree", "add", "-q", root_ / "tree"});
  const auto is_refused = [&](const fs::path& at, auto make) {
    const fs::path path = root_ / at;
    const bool was = fs::exists(path);
    if (was) fs::rename(path, base_ / "kept");
    make(path);
    const Result<ProtectedPaths> found = FindProtectedPaths(Query());
    EXPECT_FALSE(found.has_value()) << at;
    const std::string message = found ? "" : found.error().Message();
    EXPECT_TRUE(message.starts_with("protected paths") && message.contains(at.string())) << message;
    fs::remove(path);
    EXPECT_TRUE(FindProtectedPaths(Query()).has_value()) << at << " is absent";
    if (was) fs::rename(base_ / "kept", path);
    EXPECT_TRUE(FindProtectedPaths(Query()).has_value()) << at;
  };
  const auto link = [&](const fs::path& path) { fs::create_symlink("../elsewhere", path); };
  const auto fifo = [](const fs::path& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); };
  const auto nul = [](const fs::path& path) {
    pa::testing::WriteText(path, std::string_view("#\0\n[core]\nhooksPath = x\n", 24));
  };
  pa::testing::WriteText(root_ / "elsewhere", "");
  for (const char* index : {".git/index", ".git/worktrees/tree/index"}) {
    is_refused(index, link);
    is_refused(index, fifo);
    is_refused(index, nul);
  }
  is_refused(".gitmodules", link);
  is_refused(".gitmodules", fifo);
  is_refused(".gitmodules", nul);
  is_refused(".git/config", fifo);
  is_refused(".git/config", nul);
  is_refused(".git/commondir", nul);
  is_refused(".git/commondir", fifo);
}

TEST_F(ProtectedPathsTest, TheIndexOfALinkedWorktreeNamesSubmodulesToo) {
  Init(root_);
  Git(root_, {"worktree", "add", "-q", root_ / "tree"});
  Init(root_ / "tree/nested");
  EXPECT_EQ(Of("root/tree/nested/.git/config"), "");
  Git(root_ / "tree", {"add", "nested"});
  EXPECT_EQ(Of("root/tree/nested/.git/config"), "file file");
}

TEST_F(ProtectedPathsTest, WhatASparseIndexHidesMustNotCome) {
  Init(root_);
  pa::testing::WriteText(root_ / "in/file", "");
  pa::testing::WriteText(root_ / "out/file", "");
  Git(root_, {"add", "."});
  Git(root_, {"commit", "-qm", "x"});
  Git(root_, {"sparse-checkout", "set", "--cone", "--sparse-index", "in"});
  EXPECT_EQ(Of("root/out"), "pinned absent");
  fs::create_directory(root_ / "out");
  EXPECT_FALSE(FindProtectedPaths(Query()).has_value());
}

TEST_F(ProtectedPathsTest, WhatGitGoesOnWithMayComeAndGo) {
  Init(root_);
  EXPECT_EQ(Of("root/.git/rebase-merge/git-rebase-todo"), "state absent");
  EXPECT_EQ(Of("root/.git/rebase-merge/rewritten"), "pinned absent");
  EXPECT_EQ(Of("root/.git/rebase-merge"), "");
  EXPECT_EQ(Of("root/.git/remotes"), "tree absent");
  pa::testing::WriteText(root_ / ".git/rebase-merge/git-rebase-todo", "exec make\n");
  EXPECT_EQ(Of("root/.git/rebase-merge/git-rebase-todo"), "state file");
}

TEST_F(ProtectedPathsTest, TheAuditLogIsSealedWhereCommandsCouldWriteIt) {
  audit_directory_ = root_ / "state/log";
  pa::testing::WriteText(root_ / "state/log/audit.jsonl", "");
  EXPECT_EQ(Of("root/state"), "pinned directory");
  EXPECT_EQ(Of("root/state/log"), "sealed directory");
  const Result<ProtectedPaths> found = FindProtectedPaths(Query());
  ASSERT_TRUE(found.has_value());
  ASSERT_NE(found->Sealed(), nullptr);
  EXPECT_EQ(found->Protecting(root_ / "state/log/audit.jsonl.1"), found->Sealed());
  EXPECT_EQ(found->Protecting(root_ / "state/other"), nullptr);
  // Its own doing does not make us search again.
  pa::testing::WriteText(root_ / "state/log/audit.jsonl.1", "");
  EXPECT_TRUE(found->InputsHold());
}

TEST_F(ProtectedPathsTest, TheAuditLogElsewhereIsNobodysBusiness) {
  audit_directory_ = home_ / "log";
  EXPECT_EQ(FindProtectedPaths(Query())->Sealed(), nullptr);
}

TEST_F(ProtectedPathsTest, WhatIsPutBackCannotHoldTheAuditLog) {
  audit_directory_ = root_ / "state/log";
  pa::testing::WriteText(root_ / "state/log/audit.jsonl", "");
  places_ = {{"state", "policy filesystem.protect"}};
  const Result<ProtectedPaths> found = FindProtectedPaths(Query());
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().Message().find("choose another audit.path"), std::string::npos);
  places_ = {{"state/log2", "policy filesystem.protect"}};
  EXPECT_TRUE(FindProtectedPaths(Query()).has_value());
}

class HostFilesTest : public ProtectedPathsTest {
 protected:
  HostFilesTest() { hosts_ = true; }
  static std::size_t OfProjects() {
    return static_cast<std::size_t>(
        std::ranges::count(HostFiles(), HostFile::Base::kProject, &HostFile::base));
  }
};

TEST_F(HostFilesTest, AreThoseOfTheTableInTheWorkingDirectory) {
  EXPECT_EQ(Find().size(), OfProjects());
  EXPECT_EQ(Of("root/.mcp.json"), "file absent");
  EXPECT_EQ(Of("root/.claude/hooks"), "tree absent");
  pa::testing::WriteText(root_ / ".mcp.json", "{}");
  pa::testing::WriteText(root_ / ".claude/hooks/x", "");
  EXPECT_EQ(Of("root/.mcp.json"), "file file");
  EXPECT_EQ(Of("root/.claude/hooks"), "tree directory");
  EXPECT_EQ(Of("root/.claude/settings.json"), "file absent");
  EXPECT_EQ(Find().size(), OfProjects());
  EXPECT_EQ(Find().at("root/.mcp.json").reason,
            "executed by Claude Code (starts the servers that it names)");
}

// What is not there pins nothing: `.github` may be moved as long as it holds no hooks.
TEST_F(HostFilesTest, OnlyWhatLeadsToOneIsPinned) {
  fs::create_directories(root_ / ".github/workflows");
  pa::testing::WriteText(root_ / ".vscode/tasks.json", "");
  hosts_ = false;
  EXPECT_EQ(Of("root/.github"), "");
  EXPECT_EQ(Of("root/.vscode"), "pinned directory");
}

TEST_F(HostFilesTest, WhatIsGivenUpIsFree) {
  unprotected_ = {".envrc"};
  EXPECT_EQ(Of("root/.envrc"), "");
  EXPECT_EQ(Find().size(), OfProjects() - 1);
  // Whatever else protects it still does.
  hosts_ = false;
  places_ = {{".envrc", "policy filesystem.protect"}};
  EXPECT_EQ(Of("root/.envrc"), "tree absent");
}

TEST_F(HostFilesTest, OfEachProject) {
  Init(root_);
  Init(base_ / "library");
  Git(root_, {"submodule", "add", "-q", base_ / "library", "library"});
  Git(root_, {"submodule", "add", "-q", base_ / "library", "vendor/library"});
  Git(root_, {"commit", "-q", "-m", "x"});
  Git(root_, {"worktree", "add", "-q", ".claude/worktrees/x"});
  EXPECT_EQ(Of("root/.envrc"), "file absent");
  EXPECT_EQ(Of("root/library/.envrc"), "file absent");
  EXPECT_EQ(Of("root/.claude/worktrees/x/.envrc"), "file absent");
  EXPECT_EQ(Of("root/.claude/worktrees/x/made"), "");
  EXPECT_EQ(Of("root/vendor/library/.envrc"), "") << "packages are nobody's project";
  fs::create_directories(root_ / "node_modules/x/.vscode");
  EXPECT_EQ(Of("root/node_modules/x/.vscode/settings.json"), "");
}

TEST_F(HostFilesTest, BySymlinksAsTheHostGoes) {
  pa::testing::WriteText(root_ / "shared/tasks.json", "{}");
  fs::create_symlink("shared", root_ / ".vscode");
  EXPECT_EQ(Of("root/.vscode"), "file symlink");
  EXPECT_EQ(Of("root/shared/tasks.json"), "file file");
  EXPECT_EQ(Of("root/shared/settings.json"), "file absent");
}

TEST_F(HostFilesTest, TheHomeHasMore) {
  EXPECT_EQ(Of("home/.bashrc"), "") << "nobody can write there";
  writable_ = {root_, home_};
  EXPECT_EQ(Of("home/.bashrc"), "file absent");
  EXPECT_EQ(Of("home/.codex/config.toml"), "file absent");
  EXPECT_EQ(Of("root/.bashrc"), "");
}

TEST_F(HostFilesTest, WhereNamesHaveNoCaseTheyAreTheSame) {
  const ProtectedPath kept = Find().at("root/.mcp.json");
  EXPECT_TRUE(Forbids(kept, root_ / ".MCP.json"));
  EXPECT_FALSE(Forbids(kept, root_ / ".mcp.json2"));
  const ProtectedPath hooks = Find().at("root/.claude/hooks");
  EXPECT_TRUE(Forbids(hooks, root_ / ".Claude/HOOKS/x"));
  EXPECT_FALSE(Forbids(hooks, root_ / ".claude/skills/x"));
}

// FAT and NTFS know a file by more names than the one that is protected.
TEST_F(HostFilesTest, SoAreOtherSpellings) {
  const auto forbids = [this](const char* kept, const char* path) {
    return Forbids(Find().at(std::string("root/") + kept), root_ / path);
  };
  for (const char* same : {".mcp.json.", ".mcp.json ", ".mcp.json::$DATA", "MCP~1.JSO"}) {
    EXPECT_TRUE(forbids(".mcp.json", same)) << same;
  }
  for (const char* other : {".mcp.json.bak", ".mcp.json~1", "mcp~1.json", "foo~1"}) {
    EXPECT_FALSE(forbids(".mcp.json", other)) << other;
  }
  EXPECT_TRUE(forbids(".vscode/tasks.json", "VSCODE~1/tasks.json"));
  EXPECT_TRUE(forbids(".vscode/tasks.json", "vscode~2/TASKS~1.JSO"));
  EXPECT_FALSE(forbids(".vscode/tasks.json", "VSCODE~x/tasks.json"));
  EXPECT_FALSE(forbids(".vscode/tasks.json", "VSCODE~1/other.json"));
  EXPECT_TRUE(forbids(".claude/hooks", "CLAUDE~1/hooks/x"));
  EXPECT_FALSE(forbids(".claude/hooks", "CLAUDE~1/skills/x"));
}

// Whatever directory of the project a call chooses.
TEST_F(HostFilesTest, InTheMidstOfWhatTheProjectAboveProtects) {
  fs::create_directories(root_ / ".vscode");
  fs::create_directories(root_ / ".claude/hooks/deeper");
  fs::create_directories(root_ / ".claude/skills");
  directory_ = root_ / ".vscode";
  EXPECT_EQ(Of("root/.vscode/tasks.json"), "file absent");
  directory_ = root_ / ".claude";
  EXPECT_EQ(Of("root/.claude/hooks"), "tree directory");
  EXPECT_EQ(Of("root/.claude/settings.json"), "file absent");
  directory_ = root_ / ".claude/skills";
  EXPECT_EQ(Of("root/.claude/skills/hooks"), "") << "no file of a host";
  for (const char* within : {".claude/hooks", ".claude/hooks/deeper"}) {
    directory_ = root_ / within;
    const auto found = FindProtectedPaths(Query());
    ASSERT_FALSE(found) << within;
    EXPECT_EQ(found.error().kind, ProtectionFailure::Kind::kWithin);
    EXPECT_TRUE(found.error().subject.contains("Claude Code")) << found.error().subject;
  }
  unprotected_ = {".claude/hooks"};
  EXPECT_TRUE(FindProtectedPaths(Query()));
}

TEST_F(HostFilesTest, BeneathARepositoryAndBeneathARootByItself) {
  fs::create_directories(root_ / "plain/.vscode");
  fs::create_directories(root_ / "repository/.vscode");
  fs::create_directories(root_ / "repository/.git");
  directory_ = root_ / "plain/.vscode";
  EXPECT_EQ(Of("root/plain/.vscode/tasks.json"), "") << "no project, and free from above, too";
  directory_ = root_ / "repository/.vscode";
  EXPECT_EQ(Of("root/repository/.vscode/tasks.json"), "file absent");
  fs::create_directories(root_ / "repository/.vscode/.git");
  EXPECT_EQ(Of("root/repository/.vscode/tasks.json"), "file absent")
      << "though it is one by itself";
}

TEST_F(HostFilesTest, AndWhereASymlinkOfTheProjectLeads) {
  fs::create_directories(root_ / "conf");
  fs::create_symlink("conf", root_ / ".vscode");
  directory_ = root_ / "conf";
  EXPECT_EQ(Of("root/conf/tasks.json"), "file absent");
  EXPECT_EQ(Of("root/conf/other.json"), "");
  fs::remove(root_ / ".vscode");
  fs::create_symlink("conf/envrc", root_ / ".envrc");
  EXPECT_EQ(Of("root/conf/envrc"), "file absent");
}

TEST_F(HostFilesTest, AndOfTheHome) {
  fs::create_directories(home_ / ".ssh");
  roots_ = {home_};
  directory_ = home_ / ".ssh";
  EXPECT_EQ(Of("home/.ssh/authorized_keys"), "file absent");
  directory_ = home_ / "project";
  fs::create_directories(directory_);
  EXPECT_EQ(Of("home/project/.ssh/authorized_keys"), "");
}

// One look at the directory tells of all names that are not in it.
TEST_F(HostFilesTest, ADirectoryThatNobodyTouchedHoldsNoNewNames) {
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const ProtectedPath absent = Find().at("root/.claude/settings.json");
  EXPECT_EQ(absent.holder->path, root_);
  EXPECT_TRUE(absent.holder->settled);
  const auto look = [&] {
    HolderLook holders;
    return holders.StillAbsent(absent.path, absent.holder);
  };
  EXPECT_TRUE(look());
  pa::testing::WriteText(root_ / "made", "");
  EXPECT_TRUE(look()) << "it is looked for then";
  pa::testing::WriteText(root_ / ".claude/settings.json", "");
  EXPECT_FALSE(look());
  fs::remove_all(root_ / ".claude");
  EXPECT_TRUE(look());
  fs::rename(root_, base_ / "aside");
  fs::create_directories(root_);
  EXPECT_FALSE(look()) << "another directory";
}

// Names that nobody protects come and go there with each build; then one look at all of the others
// is enough.
TEST_F(HostFilesTest, WhatWasAbsentOnceMoreIsNotLookedForTheNextTime) {
  const auto settle = [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
  pa::testing::WriteText(root_ / "young", "");
  const ProtectedPath file = Find().at("root/.mcp.json");
  const ProtectedPath deep = Find().at("root/.claude/settings.json");
  HolderStamps known;
  const auto look = [&] {
    HolderLook holders(&known);
    EXPECT_TRUE(holders.StillAbsent(file.path, file.holder));
    EXPECT_TRUE(holders.StillAbsent(deep.path, deep.holder));
    const std::optional<HolderStamps> renewed = holders.Renewed();
    if (renewed) known = *renewed;
    return renewed.has_value();
  };
  // At once, because the search may have taken longer than a tick of the clock.
  pa::testing::WriteText(root_ / "younger", "");
  EXPECT_FALSE(look()) << "within a tick of the clock a name can still come unseen";
  settle();
  EXPECT_TRUE(look());
  EXPECT_FALSE(look()) << "the holder alone is looked at";
  pa::testing::WriteText(root_ / "made", "");
  settle();
  EXPECT_TRUE(look());
  EXPECT_FALSE(look());

  // In a directory that has come, names appear without moving the holder.
  fs::create_directory(root_ / ".claude");
  settle();
  HolderLook holders(&known);
  EXPECT_TRUE(holders.StillAbsent(file.path, file.holder));
  EXPECT_FALSE(holders.outdated());
  EXPECT_TRUE(holders.StillAbsent(deep.path, deep.holder));
  EXPECT_TRUE(holders.outdated());
  EXPECT_FALSE(holders.Renewed());
  pa::testing::WriteText(root_ / ".claude/settings.json", "");
  HolderLook last(&known);
  EXPECT_FALSE(last.StillAbsent(deep.path, deep.holder));
}

// A project has more directories than a process has descriptors.
TEST_F(HostFilesTest, ALookAtManyDirectoriesHoldsNoMoreThanOneOpen) {
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  HolderLook holders;
  const auto before = open_files();
  for (int i = 0; i < 40; ++i) {
    const fs::path directory = root_ / ("directory" + std::to_string(i));
    fs::create_directory(directory);
    const auto holder = std::make_shared<const Holder>(
        Holder{.path = directory.string(), .stamp = LookAt(directory.string())});
    for (const char* name : {"a", "b"}) {
      EXPECT_TRUE(holders.StillAbsent((directory / name).string(), holder));
    }
    pa::testing::WriteText(directory / "c", "");
    EXPECT_FALSE(holders.StillAbsent((directory / "c").string(), holder));
  }
  EXPECT_LE(open_files(), before + 1);
}

}  // namespace
}  // namespace pa::policy
