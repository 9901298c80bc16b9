#include "supervisor/run/git_locks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "supervisor/run/git_at_work.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using testing::ReadText;
using testing::WriteText;

constexpr std::int64_t kSecond = 1'000'000'000;

bool Eventually(const std::function<bool()>& condition) {
  for (int look = 0; look < 20'000 && !condition(); ++look) usleep(1000);
  return condition();
}

// So many can be opened, and no more.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t count) {
    getrlimit(RLIMIT_NOFILE, &before_);
    std::vector<UniqueFd> free;
    while (free.size() <= count) free.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(free.back().get());
    setrlimit(RLIMIT_NOFILE, &few);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class GitLocksTest : public ::testing::Test {
 protected:
  GitLocksTest() {
    WriteText(git_dir_ / "HEAD", "ref: refs/heads/feature/x\n");
    fs::create_directories(git_dir_ / "refs/heads/feature");
    WriteText(base_ / "outside/index.lock", "theirs");
  }
  ~GitLocksTest() override { EndOthers(); }
  policy::Repository Repository() const {
    return {.top_level = top_, .git_dir = git_dir_, .common_dir = git_dir_, .grants = {}};
  }
  // Of a command that has run from before the test to now.
  GitRun Run() const { return {held_->device, held_->inode, begun_, LatestUntilNow()}; }
  GitLocksFound Clear() const { return Clear(Run()); }
  GitLocksFound Clear(const GitRun& run) const {
    const std::vector<GitRun> runs = {run};
    return ClearAll(runs);
  }
  // With what the janitor does.
  GitLocksFound ClearAll(std::span<const GitRun> runs) const {
    const Result<std::string> head =
        ReadFileFrom(UniqueFd(openat(held_->git_dir.get(), "HEAD",
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))
                         .get(),
                     "HEAD", kMaxHead);
    const bool absent = LookAt(held_->git_dir.get(), "HEAD").IsAbsent();
    const Result<std::string> text = absent ? Result<std::string>("") : head;
    GitLocksFound found = FindGitLocks(*held_, runs, text, nullptr);
    EXPECT_TRUE(found.ours.empty()) << "nobody has looked for a git";
    if (found.asks) {
      const std::string directories[] = {held_->names.top_level, held_->names.git_dir};
      const Result<std::string> at_work = GitAtWork(directories);
      found = FindGitLocks(*held_, runs, text, &at_work);
    }
    for (const GitLock& lock : found.ours) {
      const int directory = lock.own ? held_->git_dir.get() : held_->common_dir.get();
      Note(lock, RemoveGitLock(directory, lock.name, lock.stamp), found);
    }
    return found;
  }
  // `body` in a process of its own.
  template <typename Body>
  void Elsewhere(Body body) {
    const pid_t pid = fork();
    if (pid == 0) {
      body();
      _exit(1);
    }
    others_.push_back(pid);
  }
  void EndOthers() {
    for (const pid_t pid : std::exchange(others_, {})) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  // A program that is called `name` and sleeps in `directory`.
  void Work(const std::string& name, const fs::path& directory) {
    const fs::path program = base_ / "bin" / name;
    fs::create_directories(program.parent_path());
    fs::copy_file("/bin/sleep", program);
    Elsewhere([&] {
      if (chdir(directory.c_str()) == 0) execl(program.c_str(), name.c_str(), "100", nullptr);
    });
    const std::string comm = "/proc/" + std::to_string(others_.back()) + "/comm";
    ASSERT_TRUE(Eventually([&] { return ReadText(comm) == name + "\n"; }));
  }
  void ExpectKept(const GitLocksFound& found, const char* why) const {
    EXPECT_TRUE(found.cleared.empty()) << found.cleared.front();
    ASSERT_EQ(found.kept.size(), 1U);
    EXPECT_TRUE(found.kept.front().starts_with(lock_.string() + " ")) << found.kept.front();
    EXPECT_TRUE(found.kept.front().contains(why)) << found.kept.front();
    EXPECT_TRUE(fs::exists(fs::symlink_status(lock_)));
  }

  testing::TempDir dir_;
  fs::path base_ = fs::canonical(dir_.path());
  fs::path top_ = base_ / "project";
  fs::path git_dir_ = top_ / ".git";
  fs::path lock_ = git_dir_ / "index.lock";
  std::int64_t begun_ = EarliestFromNow();
  std::optional<HeldRepository> held_ =
      (fs::create_directories(git_dir_), HoldRepository(Repository()));
  std::vector<pid_t> others_;
};

TEST_F(GitLocksTest, WhatGitAddAndGitCommitMakeIsCleared) {
  ASSERT_TRUE(held_);
  for (const char* name : {"index.lock", "HEAD.lock", "refs/heads/feature/x.lock",
                           "packed-refs.lock", "MERGE_RR.lock", "CHERRY_PICK_HEAD.lock",
                           "REVERT_HEAD.lock", "AUTO_MERGE.lock", "reftable/tables.list.lock"}) {
    fs::create_directories((git_dir_ / name).parent_path());
    WriteText(git_dir_ / name, "");
    const GitLocksFound found = Clear();
    EXPECT_EQ(found.cleared, std::vector<std::string>{git_dir_ / name});
    EXPECT_TRUE(found.kept.empty()) << found.kept.front();
    EXPECT_FALSE(found.in_use);
    EXPECT_FALSE(fs::exists(git_dir_ / name));
  }
}

TEST_F(GitLocksTest, NothingElseIs) {
  const char* names[] = {"config.lock", "index", "refs/heads/main.lock", "HEAD", "index.lock~"};
  for (const char* name : names) WriteText(git_dir_ / name, "ref: refs/heads/feature/x\n");
  const GitLocksFound found = Clear();
  EXPECT_TRUE(found.cleared.empty()) << found.cleared.front();
  for (const char* name : names) EXPECT_TRUE(fs::exists(git_dir_ / name)) << name;
}

TEST_F(GitLocksTest, InALinkedWorktreeEachWhereItLies) {
  const fs::path own = git_dir_ / "worktrees/tree";
  WriteText(own / "HEAD", "ref: refs/heads/tree\n");
  WriteText(own / "index.lock", "");
  WriteText(git_dir_ / "index.lock", "of the main tree");
  WriteText(git_dir_ / "refs/heads/tree.lock", "");
  policy::Repository repository = Repository();
  repository.git_dir = own;
  held_ = HoldRepository(repository);
  EXPECT_EQ(Clear().cleared,
            (std::vector<std::string>{git_dir_ / "refs/heads/tree.lock", own / "index.lock"}));
  EXPECT_TRUE(fs::exists(lock_));
}

TEST_F(GitLocksTest, MadeWhileNoneOfOursRanItStays) {
  WriteText(lock_, "");
  const GitRun run = Run();
  const auto at = [&](std::int64_t begun, std::int64_t ends) {
    return GitRun{run.device, run.inode, begun, ends};
  };
  const char* why = "was not left by a git command of this server's";
  ExpectKept(Clear(at(run.ends + kSecond, run.ends + 2 * kSecond)), why);
  ExpectKept(Clear(at(run.begun - 2 * kSecond, run.begun - kSecond)), why);
  ExpectKept(Clear({run.device, run.inode + 1, run.begun, run.ends}), why);
  ExpectKept(Clear({run.device + 1, run.inode, run.begun, run.ends}), why);
  ExpectKept(ClearAll({}), why);
  EXPECT_EQ(Clear().cleared.size(), 1U);
}

// Times that can be set say nothing.
TEST_F(GitLocksTest, AnOldOneThatIsTouchedStaysOld) {
  struct statx info{};
  WriteText(lock_, "");
  ASSERT_EQ(statx(AT_FDCWD, lock_.c_str(), 0, STATX_BTIME, &info), 0);
  if ((info.stx_mask & STATX_BTIME) == 0) GTEST_SKIP() << "no times of birth on this file system";
  GitRun later = Run();
  later.begun = later.ends + kSecond;
  later.ends = later.begun + 100 * kSecond;
  const timespec future[2] = {{later.begun / kSecond + 5, 0}, {later.begun / kSecond + 5, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, lock_.c_str(), future, 0), 0);
  ExpectKept(Clear(later), "was not left by");
}

TEST_F(GitLocksTest, WhatAProgramHasOpenStaysUntilItIsClosed) {
  WriteText(lock_, "");
  Elsewhere([&] {
    const int fd = open(lock_.c_str(), O_WRONLY);
    WriteText(base_ / "ready", "");
    if (fd >= 0) pause();
  });
  ASSERT_TRUE(Eventually([&] { return fs::exists(base_ / "ready"); }));
  GitLocksFound found = Clear();
  ExpectKept(found, "is held by a program");
  EXPECT_TRUE(found.in_use);
  EndOthers();
  EXPECT_EQ(Clear().cleared.size(), 1U);
}

// `git commit` has nothing open while the user writes the message.
TEST_F(GitLocksTest, WhereAGitIsAtWorkItStays) {
  fs::create_directories(top_ / "sub");
  WriteText(lock_, "");
  Work("git-sleeper", top_ / "sub");
  GitLocksFound found = Clear();
  ExpectKept(found, "belongs to git-sleeper (process ");
  EXPECT_TRUE(found.in_use);
  EndOthers();
  EXPECT_EQ(Clear().cleared.size(), 1U);
}

TEST_F(GitLocksTest, OtherProgramsHereAndGitElsewhereAreInNobodysWay) {
  WriteText(lock_, "");
  Work("git-sleeper", base_ / "outside");
  Work("editor", top_);
  EXPECT_EQ(Clear().cleared.size(), 1U);
}

// With so few descriptors first /proc cannot be opened, then what lies in it.
TEST_F(GitLocksTest, WhereNobodyCanTellWhoIsAtWorkItStays) {
  constexpr const char* kUnread[] = {"/proc\"", "/comm\""};
  const std::string directories[] = {top_};
  for (std::size_t i = 0; i < std::size(kUnread); ++i) {
    WriteText(lock_, "");
    Result<std::string> at_work = "";
    {
      const FewDescriptors few(i);
      at_work = GitAtWork(directories);
    }
    ASSERT_FALSE(at_work);
    const std::vector<GitRun> runs = {Run()};
    const GitLocksFound found = FindGitLocks(*held_, runs, "", &at_work);
    EXPECT_TRUE(found.ours.empty());
    ExpectKept(found, "was kept, because a git may be at work in this repository: open");
    EXPECT_TRUE(found.kept.front().contains(kUnread[i])) << found.kept.front();
    EXPECT_TRUE(found.in_use) << "the next call looks again";
  }
  const FewDescriptors enough(3);
  EXPECT_EQ(Clear().cleared.size(), 1U);
}

TEST_F(GitLocksTest, WhatCannotBeLookedAtIsSaid) {
  WriteText(git_dir_ / "HEAD", "ref: refs/heads/" + std::string(NAME_MAX, 'x') + "\n");
  GitLocksFound found = Clear();
  ASSERT_EQ(found.kept.size(), 1U);
  EXPECT_TRUE(found.kept.front().contains("ENAMETOOLONG")) << found.kept.front();
  EXPECT_TRUE(found.kept.front().ends_with("so it was kept")) << found.kept.front();
  EXPECT_FALSE(found.in_use) << "it will not become shorter";
  {
    const FewDescriptors none(0);
    found = Clear();
  }
  EXPECT_EQ(found.kept.size(), 9U) << "HEAD, and each lock";
  EXPECT_TRUE(found.in_use) << "the next call looks again";
}

TEST_F(GitLocksTest, WhatIsNoPlainFileStaysAndIsNotFollowed) {
  const char* why = "does not look like a lock of git, so it was kept";
  fs::create_symlink(base_ / "outside/index.lock", lock_);
  ExpectKept(Clear(), why);
  fs::remove(lock_);
  fs::create_directory(lock_);
  ExpectKept(Clear(), why);
  fs::remove(lock_);
  fs::create_hard_link(base_ / "outside/index.lock", lock_);
  ExpectKept(Clear(), why);
  fs::remove(lock_);
  ASSERT_EQ(mkfifo(lock_.c_str(), 0600), 0);
  ExpectKept(Clear(), why);
  EXPECT_EQ(ReadText(base_ / "outside/index.lock"), "theirs");
}

// The name of the branch is an agent's.
TEST_F(GitLocksTest, NoBranchLeadsOut) {
  WriteText(base_ / "outside/x.lock", "theirs");
  WriteText(git_dir_ / "config.lock", "");
  fs::create_directory_symlink(base_ / "outside", git_dir_ / "refs/heads/link");
  for (const char* head :
       {"ref: refs/heads/link/x\n", "ref: refs/../../../outside/x\n", "ref: refs/../config\n",
        "ref: config\n", "ref: ../../outside/x\n", "ref: refs/heads/feature/x"}) {
    WriteText(git_dir_ / "HEAD", head);
    WriteText(git_dir_ / "refs/heads/feature/x.lock", "");
    EXPECT_TRUE(Clear().cleared.empty()) << head;
  }
  fs::remove(git_dir_ / "HEAD");
  fs::create_symlink(base_ / "outside/head", git_dir_ / "HEAD");
  WriteText(base_ / "outside/head", "ref: refs/heads/feature/x\n");
  EXPECT_TRUE(Clear().cleared.empty()) << "HEAD is a symlink";
  EXPECT_EQ(ReadText(base_ / "outside/x.lock"), "theirs");
  EXPECT_TRUE(fs::exists(git_dir_ / "config.lock"));
}

TEST_F(GitLocksTest, ARepositoryThatIsExchangedIsNotTheOneThatIsHeld) {
  WriteText(lock_, "");
  fs::rename(git_dir_, top_ / "moved");
  fs::create_directory_symlink(base_ / "outside", git_dir_);
  EXPECT_FALSE(HoldRepository(Repository()));
  EXPECT_EQ(Clear().cleared.size(), 1U);
  EXPECT_FALSE(fs::exists(top_ / "moved/index.lock"));
  fs::rename(top_, base_ / "away");
  fs::create_directory_symlink(base_ / "outside", top_);
  WriteText(base_ / "outside/.git/index.lock", "theirs");
  EXPECT_FALSE(HoldRepository(Repository())) << "a symlink on the way";
  EXPECT_TRUE(Clear().cleared.empty());
  EXPECT_EQ(ReadText(base_ / "outside/index.lock"), "theirs");
}

class GitRunsTest : public ::testing::Test {
 protected:
  testing::TempDir dir_;
  std::string path_ = dir_.path() / "runs";
  UniqueFd fd_{open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
};

TEST_F(GitRunsTest, WhatIsWrittenIsRead) {
  EXPECT_EQ(ReadGitRuns(fd_.get()).value(), std::vector<GitRun>{});
  std::vector<GitRun> runs = {{1, 2, 3, 4}, {~0ULL, ~0ULL, -1, INT64_MAX}};
  ASSERT_TRUE(WriteGitRuns(fd_.get(), runs));
  EXPECT_EQ(ReadGitRuns(fd_.get()).value(), runs);
  runs.pop_back();
  ASSERT_TRUE(WriteGitRuns(fd_.get(), runs));
  EXPECT_EQ(ReadGitRuns(fd_.get()).value(), runs);
  runs.assign(17, {5, 6, 7, 8});
  runs.back().inode = 9;
  ASSERT_TRUE(WriteGitRuns(fd_.get(), runs));
  runs.erase(runs.begin());
  EXPECT_EQ(ReadGitRuns(fd_.get()).value(), runs) << "the newest";
}

TEST_F(GitRunsTest, WhatCannotBeReadIsAnError) {
  const std::string line(68, '0');
  for (const std::string& text : {std::string("x"), line, line + "\n", std::string(67, '\0') + "\n",
                                  std::string(68 * 17, '0')}) {
    WriteText(path_, text);
    EXPECT_FALSE(ReadGitRuns(fd_.get())) << text;
  }
}

}  // namespace
}  // namespace pa
