// Whose a repository below is, and how that is remembered. Through the server, with what is taken
// out of those that commands made: tests/integration/nested_repositories_test.cc.
#include "supervisor/guard/nested_repositories.h"

#include <gtest/gtest.h>
#include <uv.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>

#include "policy/load.h"
#include "tests/support/await.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_janitor.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using Watch = NestedRepositories::Watch;
using Paths = std::vector<std::string>;

class NestedRepositoriesTest : public ::testing::Test {
 protected:
  NestedRepositoriesTest() {
    uv_loop_init(&loop_);
    for (const fs::path& one : {root_, base_ / "home"}) fs::create_directories(one);
    policy::PolicySources sources;
    sources.administrator_file = "/nonexistent";
    sources.roots = {root_};
    sources.home = base_ / "home";
    policy_ = policy::LoadPolicy(sources).policy;
    StartServer(base_ / "state");
  }
  ~NestedRepositoriesTest() override { EXPECT_EQ(uv_loop_close(&loop_), 0); }

  void StartServer(const std::string& state,
                   const ScanLimits& first = NestedRepositories::kFirstLook) {
    nested_.emplace(&loop_, janitor_, state, ScanLimits{.directories = kLimit}, first);
  }
  template <typename T>
  T Await(Task<T> task) {
    return testing::Await(loop_, std::move(task));
  }
  Watch Begin() {
    Result<Watch> watch =
        Await(nested_->Begin(*policy::ValidateWorkingDirectory(*policy_, root_), policy_));
    EXPECT_TRUE(watch.has_value()) << watch.error().Message();
    return watch.value_or(nullptr);
  }
  std::string End(const Watch& watch) {
    NestedRepositories::Ended ended = Await(nested_->End(watch));
    EXPECT_TRUE(ended.changes.empty()) << ended.changes.front().path;
    return ended.warning;
  }
  // A command that does `work`; what is said of it.
  template <typename Work>
  std::string Run(Work work) {
    const Watch watch = Begin();
    work();
    return End(watch);
  }
  void Git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "git");
    const testing::ProgramResult git = testing::RunProgram({.command = std::move(arguments),
                                                            .environment = {"HOME=/nonexistent"},
                                                            .directory = root_});
    ASSERT_EQ(git.exit_code, 0) << git.errors;
  }
  std::string MakeOne() {
    return Run([&] { Git({"init", "-q", "made"}); });
  }
  Paths Existing() { return Relative(Begin()->existing); }
  Paths Made() { return Relative(Begin()->made); }
  Paths Relative(const NestedRepositories::Repositories& repositories) {
    Paths paths;
    for (const auto& one : repositories) paths.push_back(fs::relative(one.path, root_));
    return paths;
  }
  std::ptrdiff_t Records() {
    return fs::exists(records_) ? std::distance(fs::directory_iterator(records_), {}) : 0;
  }

  // So many directories that a look at those that are known does not come to `theirs`.
  void MakeMany() {
    for (std::size_t i = 0; i < kLimit; ++i) {
      fs::create_directories(root_ / "many" / std::to_string(i));
    }
  }
  static void LetTheClockMove() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }
  static std::string Deep(int levels) {
    std::string path = "d";
    for (int level = 1; level < levels; ++level) path += "/d";
    return path;
  }

  static constexpr std::size_t kLimit = 400;  // more than are looked at on the loop
  testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const fs::path root_ = base_ / "root";
  const fs::path records_ = base_ / "state/project-actions/repositories";
  policy::PolicyPtr policy_;
  uv_loop_t loop_;
  testing::ThreadJanitor janitor_{&loop_};
  std::optional<NestedRepositories> nested_;
};

TEST_F(NestedRepositoriesTest, WhatACommandMadeIsKnownToTheNextServer) {
  EXPECT_EQ(MakeOne(), "1 new git repository below the working directory: made/.git");
  EXPECT_EQ(Records(), 1);
  EXPECT_EQ(Made(), Paths{"made/.git"});
  StartServer(base_ / "state");
  EXPECT_EQ(Made(), Paths{"made/.git"});
  EXPECT_EQ(Existing(), Paths{});
  EXPECT_EQ(Run([] {}), "") << "it is not new any more";
}

TEST_F(NestedRepositoriesTest, WhatWasThereIsTheUsersForEver) {
  Git({"init", "-q", "theirs"});
  EXPECT_EQ(Run([] {}), "");
  EXPECT_EQ(Records(), 0);
  EXPECT_EQ(MakeOne(), "1 new git repository below the working directory: made/.git");
  StartServer(base_ / "state");
  EXPECT_EQ(Existing(), Paths{"theirs/.git"});
  EXPECT_EQ(Made(), Paths{"made/.git"});
  if (Begin()->made.at(0).born_ns == 0) return;  // then the number of the inode may be given again
  // Another one in that place is another one.
  fs::remove_all(root_ / "made");
  Git({"init", "-q", "made"});
  EXPECT_EQ(Existing(), (Paths{"made/.git", "theirs/.git"}));
}

TEST_F(NestedRepositoriesTest, WhatACommandRemovesIsForgotten) {
  MakeOne();
  EXPECT_EQ(Run([&] { fs::rename(root_ / "made", root_ / "moved"); }), "");
  EXPECT_EQ(Made(), Paths{"moved/.git"}) << "it is still the same";
  EXPECT_EQ(Records(), 1);
  EXPECT_EQ(Run([&] { fs::rename(root_ / "moved", base_ / "outside"); }), "");
  EXPECT_EQ(Records(), 0);
  fs::rename(base_ / "outside", root_ / "back");
  EXPECT_EQ(Existing(), Paths{"back/.git"});
}

TEST_F(NestedRepositoriesTest, WhatTheUserSetsUpIsForgotten) {
  MakeOne();
  Git({"-C", "made", "config", "core.hooksPath", "hooks"});
  EXPECT_EQ(Existing(), Paths{"made/.git"});
  EXPECT_EQ(Records(), 0);
  Git({"-C", "made", "config", "--unset", "core.hooksPath"});
  EXPECT_EQ(Existing(), Paths{"made/.git"}) << "and stays the user's";
}

TEST_F(NestedRepositoriesTest, WhatOneLookDoesNotComeToIsStillTheUsers) {
  Git({"init", "-q", "theirs"});
  const std::string limit = Run([&] { MakeMany(); });
  EXPECT_TRUE(limit.contains("looked for only within limits (400 directories)")) << limit;
  const Watch watch = Begin();
  EXPECT_FALSE(watch->complete);
  EXPECT_EQ(Relative(watch->existing), Paths{"theirs/.git"});
  fs::remove_all(root_ / "many");
  EXPECT_EQ(End(watch), "") << "it is not new";
  EXPECT_EQ(Records(), 0);
}

TEST_F(NestedRepositoriesTest, TheFirstLookHasLimitsOfItsOwn) {
  Git({"init", "-q", "theirs"});
  MakeMany();
  Watch watch = Begin();
  EXPECT_TRUE(watch->complete) << "more than a later one may see";
  EXPECT_EQ(Relative(watch->existing), Paths{"theirs/.git"});
  StartServer(base_ / "state", {.time = std::chrono::milliseconds(0)});
  LetTheClockMove();
  watch = Begin();
  EXPECT_FALSE(watch->complete);
  EXPECT_EQ(Relative(watch->existing), Paths{});
  fs::remove_all(root_ / "many");
  Git({"init", "-q", "made"});
  const std::string warning = End(watch);
  EXPECT_TRUE(warning.starts_with("1 new git repository below the working directory: made/.git; "))
      << warning;
  EXPECT_TRUE(warning.contains("were not checked: theirs/.git")) << warning;
  EXPECT_EQ(Existing(), Paths{"theirs/.git"});
}

TEST_F(NestedRepositoriesTest, ALookThatWasGivenUpHasNotFoundThatThereIsNothing) {
  Git({"init", "-q", "theirs"});
  MakeMany();
  const auto directory = *policy::ValidateWorkingDirectory(*policy_, root_);
  const auto given_up = std::make_shared<GiveUp>();
  given_up->Set();
  EXPECT_EQ(Await(nested_->Begin(directory, policy_, given_up)).error().sys_errno, ECANCELED);
  const Watch watch = Begin();
  EXPECT_TRUE(watch->complete) << "it was no first look";
  EXPECT_EQ(Relative(watch->existing), Paths{"theirs/.git"});
  EXPECT_EQ(Await(nested_->Begin(directory, policy_, given_up)).error().sys_errno, ECANCELED)
      << "nor is a later one";
}

TEST_F(NestedRepositoriesTest, WhatNoLookHasComeToIsNotTakenForACommands) {
  const std::string deep = Deep(65);
  fs::create_directories(root_ / deep);
  Git({"init", "-q", deep + "/theirs"});
  Git({"-C", deep + "/theirs", "config", "alias.st", "!x"});
  LetTheClockMove();
  const std::string warning = Run([&] {
    fs::rename(root_ / deep / "theirs", root_ / "theirs");
    Git({"init", "-q", "made"});
  });
  EXPECT_TRUE(warning.starts_with("1 new git repository below the working directory: made/.git; "))
      << warning;
  EXPECT_TRUE(
      warning.contains("they count as the user's: their hooks and configuration were not "
                       "checked: theirs/.git; "))
      << warning;
  EXPECT_EQ(Existing(), Paths{"theirs/.git"});
  EXPECT_EQ(Made(), Paths{"made/.git"}) << "it was born since";
}

TEST_F(NestedRepositoriesTest, WhatNoLookHasComeToIsNotTakenForThatOfACommandThatRuns) {
  const std::string deep = Deep(65);
  fs::create_directories(root_ / deep);
  Git({"init", "-q", deep + "/theirs"});
  LetTheClockMove();
  const Watch running = Begin();
  fs::rename(root_ / deep / "theirs", root_ / "theirs");
  Git({"init", "-q", "made"});
  EXPECT_EQ(Existing(), Paths{"theirs/.git"});
}

TEST_F(NestedRepositoriesTest, WhatACommandClosesIsOpened) {
  const std::string warning = Run([&] {
    Git({"init", "-q", "made/within"});
    fs::permissions(root_ / "made", fs::perms::none);
  });
  EXPECT_EQ(warning, "1 new git repository below the working directory: made/within/.git");
  EXPECT_EQ(fs::status(root_ / "made").permissions(), fs::perms::owner_all);
  fs::permissions(root_ / "made", fs::perms::owner_write | fs::perms::owner_exec);
  EXPECT_EQ(Run([] {}), "");
  EXPECT_EQ(fs::status(root_ / "made").permissions(),
            fs::perms::owner_write | fs::perms::owner_exec)
      << "no command has closed it";
}

TEST_F(NestedRepositoriesTest, AClosedRepositoryIsJudged) {
  const Watch watch = Begin();
  Git({"init", "-q", "made"});
  Git({"-C", "made", "config", "core.fsmonitor", "x"});
  fs::permissions(root_ / "made/.git", fs::perms::none);
  const NestedRepositories::Ended ended = Await(nested_->End(watch));
  ASSERT_EQ(ended.changes.size(), 1u);
  EXPECT_TRUE(ended.changes[0].restored);
  EXPECT_EQ(ended.changes[0].path, root_ / "made/.git/config");
  EXPECT_FALSE(testing::ReadText(root_ / "made/.git/config").contains("fsmonitor"));
}

// The guard moves back what it can hold open; there may be more.
TEST_F(NestedRepositoriesTest, OneOfTheUsersThatWasMovedIsJudgedWhereItLiesNow) {
  for (const char* name : {"moved", "stays"}) {
    Git({"init", "-q", name});
    testing::WriteText(root_ / name / ".git/hooks/pre-commit", "the user's");
  }
  const Watch watch = Begin();
  fs::rename(root_ / "moved", root_ / "lib");
  testing::WriteText(root_ / "lib/.git/hooks/post-checkout", "evil");
  const NestedRepositories::Ended ended = Await(nested_->End(watch));
  EXPECT_EQ(ended.warning, "1 new git repository below the working directory: lib/.git");
  EXPECT_EQ(ended.changes.size(), 2u);
  EXPECT_FALSE(fs::exists(root_ / "lib/.git/hooks/post-checkout"));
  EXPECT_TRUE(fs::exists(root_ / "stays/.git/hooks/pre-commit"));
}

// A file that leads to a repository can have two names.
TEST_F(NestedRepositoriesTest, AnotherNameForALinkOfTheUsersIsJudged) {
  Git({"init", "-q", "--separate-git-dir=data", "theirs"});
  const Watch watch = Begin();
  fs::create_directories(root_ / "a/b");
  fs::create_hard_link(root_ / "theirs/.git", root_ / "a/b/.git");
  const std::string warning = Await(nested_->End(watch)).warning;
  EXPECT_EQ(warning, "1 new git repository below the working directory: a/b/.git");
}

TEST_F(NestedRepositoriesTest, OneThatWasMovedIsJudgedThoughNotAllWasSeen) {
  Git({"init", "-q", "theirs"});
  EXPECT_EQ(Run([] {}), "");
  MakeMany();
  const Watch watch = Begin();
  ASSERT_EQ(Relative(watch->existing), Paths{"theirs/.git"});
  ASSERT_FALSE(watch->complete);
  fs::remove_all(root_ / "many");
  fs::rename(root_ / "theirs", root_ / "lib");
  testing::WriteText(root_ / "lib/.git/hooks/post-checkout", "evil");
  EXPECT_EQ(Await(nested_->End(watch)).changes.size(), 1u);
  EXPECT_FALSE(fs::exists(root_ / "lib/.git/hooks/post-checkout"));
}

TEST_F(NestedRepositoriesTest, TooManyAreTakenAway) {
  constexpr int kMost = 4096;
  const Watch watch = Begin();
  for (int i = 0; i < kMost + 20; ++i) {
    testing::WriteText(root_ / std::to_string(i) / ".git", "gitdir: ../other\n");
  }
  fs::create_directories(root_ / "other");
  nested_.emplace(&loop_, janitor_, base_ / "state");  // without the limit
  const NestedRepositories::Ended ended = Await(nested_->End(watch));
  EXPECT_EQ(ended.changes.size(), 8u) << "the others are counted";
  EXPECT_TRUE(
      ended.warning.contains("20 git repositories below the working directory were moved to "
                             "the quarantine, because commands made too many: "))
      << ended.warning;
  EXPECT_EQ(Made().size(), std::size_t{kMost});
  EXPECT_EQ(Existing(), Paths{});
}

TEST_F(NestedRepositoriesTest, ARecordThatCannotBeReadIsNoRecordThatIsNotThere) {
  MakeOne();
  const fs::path aside = base_ / "aside";
  fs::rename(records_, aside);
  fs::create_symlink(records_, records_);
  StartServer(base_ / "state");
  Watch watch = Begin();
  EXPECT_EQ(Relative(watch->existing), Paths{"made/.git"}) << "it is kept as it is";
  const std::string warning = End(watch);
  EXPECT_TRUE(warning.contains("cannot be read which of them commands made: lstat")) << warning;
  EXPECT_TRUE(warning.contains("ELOOP")) << warning;
  fs::remove(records_);
  EXPECT_EQ(Run([] {}), "") << "without one it is the user's, and that is nothing amiss";
  fs::rename(aside, records_);
  EXPECT_EQ(Made(), Paths{"made/.git"});
}

TEST_F(NestedRepositoriesTest, WhatCannotBeRecordedIsSaid) {
  testing::WriteText(records_, "in the way");
  const std::string warning = MakeOne();
  EXPECT_TRUE(warning.contains("it cannot be recorded that a command made them: ")) << warning;
  EXPECT_EQ(Made(), Paths{"made/.git"}) << "as long as the server lives";
  StartServer(base_ / "state");
  EXPECT_EQ(Existing(), Paths{"made/.git"});
}

TEST_F(NestedRepositoriesTest, WithoutAStateDirectoryItIsRememberedWhileTheServerLives) {
  StartServer("");
  EXPECT_EQ(MakeOne(), "1 new git repository below the working directory: made/.git");
  EXPECT_EQ(Made(), Paths{"made/.git"});
  StartServer("");
  EXPECT_EQ(Existing(), Paths{"made/.git"});
}

}  // namespace
}  // namespace pa
