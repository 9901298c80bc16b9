#include "supervisor/run/tracked_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/await.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_janitor.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

// A repository with a.txt, src/b.txt and src/deep/c.txt, and a directory beside it.
class TrackedFilesTest : public ::testing::Test {
 protected:
  TrackedFilesTest() {
    uv_loop_init(&loop_);
    for (const char* name : {"a.txt", "src/b.txt", "src/deep/c.txt"}) {
      testing::WriteText(top_ / name, "x\n");
    }
    fs::create_directory(dir_.path() / "beside");
    Git({"init", "-q"});
    Git({"add", "."});
  }
  ~TrackedFilesTest() override {
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  void Git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "git");
    const auto run = testing::RunProgram(
        {.command = std::move(arguments), .environment = {"HOME=/nonexistent"}, .directory = top_});
    ASSERT_EQ(run.exit_code, 0) << run.errors;
  }
  bool Watch() {
    const policy::Repository repository{
        .top_level = top_, .git_dir = git_dir_, .common_dir = git_dir_, .grants = {}};
    return testing::Await(loop_, files_.Watch(janitor_, top_, repository));
  }
  bool Refresh() {
    const bool watched = Watch();
    Git({"status"});
    files_.Refreshed(git_dir_);
    return watched;
  }
  bool AreFresh() { return files_.AreFresh(git_dir_); }

  testing::TempDir dir_;
  const fs::path top_ = dir_.path() / "top";
  const std::string git_dir_ = top_ / ".git";
  uv_loop_t loop_;
  testing::ThreadJanitor janitor_{&loop_};
  TrackedFiles files_{&loop_};
};

TEST_F(TrackedFilesTest, AsLongAsNobodyChangesOne) {
  EXPECT_FALSE(AreFresh()) << "nobody has looked";
  EXPECT_TRUE(Watch());
  EXPECT_FALSE(AreFresh()) << "the index was not refreshed";
  EXPECT_TRUE(Refresh());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(AreFresh());
  EXPECT_EQ(testing::ReadText(top_ / "src/deep/c.txt"), "x\n");
  Git({"--no-optional-locks", "status"});
  EXPECT_TRUE(AreFresh()) << "reading changes nothing";
  testing::WriteText(dir_.path() / "beside/file", "x");
  EXPECT_TRUE(AreFresh()) << "that is elsewhere";
}

TEST_F(TrackedFilesTest, EachChangeIsSeen) {
  const std::string file = top_ / "src/b.txt";
  const std::vector<std::function<void()>> changes = {
      [&] { testing::WriteText(file, "y\n"); },
      [&] { ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), nullptr, 0), 0); },
      [&] { fs::permissions(file, fs::perms::owner_all); },
      [&] { ASSERT_EQ(truncate(file.c_str(), 1), 0); },
      [&] { fs::remove(file); },
      [&] { testing::WriteText(file, "new\n"); },
      [&] { fs::rename(file, top_ / "src/other.txt"); },
      [&] { fs::rename(top_ / "src/other.txt", file); },
      [&] { fs::rename(file, dir_.path() / "beside/b.txt"); },
      [&] { fs::rename(dir_.path() / "beside/b.txt", file); },
      [&] { fs::rename(top_ / "src/deep", dir_.path() / "beside/deep"); },
      [&] { fs::create_directory(top_ / "src/deep"); },
      [&] { testing::WriteText(top_ / "src/deep/c.txt", "y\n"); },
      [&] { fs::remove_all(top_ / "src"); },
      [&] { testing::WriteText(file, "again\n"); },
      [&] { testing::WriteText(file, "and again\n"); },
      [&] { testing::WriteText(top_ / "a.txt", "y\n"); },
      // What is in the index, and the index.
      [&] { Git({"add", "a.txt"}); },
      [&] { testing::WriteText(top_ / "new/d.txt", "x\n"); },
      [&] { Git({"add", "new/d.txt"}); },
      [&] { testing::WriteText(top_ / "new/d.txt", "y\n"); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_TRUE(Refresh()) << i;
    EXPECT_TRUE(AreFresh()) << i;
    changes[i]();
    EXPECT_FALSE(AreFresh()) << i;
    EXPECT_FALSE(AreFresh()) << i << ", again";
  }
}

// More often than one set of watches lasts.
TEST_F(TrackedFilesTest, DirectoriesThatAreMovedAgainAndAgain) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(Refresh()) << i;
    EXPECT_TRUE(AreFresh()) << i;
    fs::rename(top_ / "src", dir_.path() / "beside" / std::to_string(i));
    EXPECT_FALSE(AreFresh()) << i;
    testing::WriteText(top_ / "src/deep/c.txt", "x\n");
  }
  EXPECT_TRUE(Refresh());
  testing::WriteText(top_ / "src/deep/c.txt", "y\n");
  EXPECT_FALSE(AreFresh());
}

TEST_F(TrackedFilesTest, AChangeDuringARefreshIsSeen) {
  EXPECT_TRUE(Refresh());
  EXPECT_TRUE(Watch());
  testing::WriteText(top_ / "a.txt", "y\n");
  files_.Refreshed(git_dir_);
  EXPECT_FALSE(AreFresh());
}

TEST_F(TrackedFilesTest, WhoHoldsTheIndexKeepsOursFromIt) {
  const fs::path lock = fs::path(git_dir_) / "index.lock";
  testing::WriteText(lock, "");
  EXPECT_TRUE(Refresh());
  EXPECT_FALSE(AreFresh());
  fs::remove(lock);
  EXPECT_TRUE(Refresh());
  EXPECT_TRUE(AreFresh());
}

// The kernel keeps 16,384 events and says that it has lost others.
TEST_F(TrackedFilesTest, MoreChangesThanTheKernelKeeps) {
  EXPECT_TRUE(Refresh());
  const std::string one = top_ / "src/one", other = top_ / "src/other";
  testing::WriteText(one, "");
  for (int i = 0; i < 9000; ++i) {
    ASSERT_EQ(rename((i % 2 == 0 ? one : other).c_str(), (i % 2 == 0 ? other : one).c_str()), 0);
  }
  EXPECT_FALSE(AreFresh());
  EXPECT_TRUE(Refresh());
  EXPECT_TRUE(AreFresh());
  testing::WriteText(top_ / "a.txt", "y\n");
  EXPECT_FALSE(AreFresh());
}

// Else a command would learn when somebody changes something in a directory that it cannot see.
TEST_F(TrackedFilesTest, ASymlinkIsNotFollowed) {
  const fs::path beside = dir_.path() / "beside";
  testing::WriteText(beside / "deep/c.txt", "x\n");
  testing::WriteText(beside / "b.txt", "x\n");
  fs::remove_all(top_ / "src");
  fs::create_directory_symlink(beside, top_ / "src");
  EXPECT_TRUE(Refresh());
  testing::WriteText(beside / "b.txt", "secret\n");
  testing::WriteText(beside / "deep/c.txt", "secret\n");
  EXPECT_TRUE(AreFresh());
  fs::remove(top_ / "src");
  EXPECT_FALSE(AreFresh());
  EXPECT_TRUE(Refresh());
  fs::rename(beside, top_ / "src");
  EXPECT_FALSE(AreFresh());
  EXPECT_TRUE(Refresh());
  testing::WriteText(top_ / "src/b.txt", "y\n");
  EXPECT_FALSE(AreFresh()) << "it lies here now";
}

TEST_F(TrackedFilesTest, OfTooManyDirectoriesNothingIsKnown) {
  for (std::size_t i = 0; i < TrackedFiles::kMaxDirectories; ++i) {
    testing::WriteText(top_ / "many" / std::to_string(i) / "f", "");
  }
  EXPECT_TRUE(Refresh());
  Git({"add", "."});
  fs::rename(top_ / "many", top_ / "others");
  EXPECT_FALSE(AreFresh());
  EXPECT_FALSE(Refresh());
  EXPECT_FALSE(AreFresh());
}

TEST_F(TrackedFilesTest, WithoutAnIndexNothingIsKnownYet) {
  fs::rename(fs::path(git_dir_) / "index", dir_.path() / "index");
  EXPECT_FALSE(Watch());
  EXPECT_FALSE(AreFresh());
  fs::rename(dir_.path() / "index", fs::path(git_dir_) / "index");
  EXPECT_TRUE(Refresh());
  EXPECT_TRUE(AreFresh());
}

TEST_F(TrackedFilesTest, ABrokenIndexIsNotWatched) {
  testing::WriteText(fs::path(git_dir_) / "index", "DIRC and no more");
  EXPECT_FALSE(Watch());
  EXPECT_FALSE(AreFresh());
}

TEST_F(TrackedFilesTest, AFewRepositoriesAreRemembered) {
  EXPECT_TRUE(Refresh());
  for (std::size_t i = 0; i < 3 * TrackedFiles::kMaxRepositories; ++i) {
    const fs::path other = dir_.path() / std::to_string(i);
    fs::copy(top_, other, fs::copy_options::recursive);
    const std::string git_dir = other / ".git";
    const policy::Repository repository{
        .top_level = other, .git_dir = git_dir, .common_dir = git_dir, .grants = {}};
    EXPECT_TRUE(testing::Await(loop_, files_.Watch(janitor_, other, repository)));
    files_.Refreshed(git_dir);
    EXPECT_TRUE(files_.AreFresh(git_dir));
  }
  EXPECT_FALSE(AreFresh());
  EXPECT_TRUE(Refresh());
  EXPECT_TRUE(AreFresh());
}

}  // namespace
}  // namespace pa
