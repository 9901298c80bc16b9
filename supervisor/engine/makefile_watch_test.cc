#include "supervisor/engine/makefile_watch.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "tests/support/run_until.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

class MakefileWatchTest : public ::testing::Test {
 protected:
  MakefileWatchTest() {
    uv_loop_init(&loop_);
    watch_.emplace(&loop_, [this](const std::string& directory) { touched_.push_back(directory); });
  }
  ~MakefileWatchTest() override {
    watch_.reset();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0) << "a handle was forgotten";
  }

  std::string Directory(const std::string& name) {
    const auto path = base_.path() / name;
    std::filesystem::create_directories(path);
    return path.string();
  }
  static void Write(const std::string& path) { std::ofstream(path) << "x"; }

  // Lets the loop run until something was touched, for five seconds at most.
  void Run(int most = 5000) {
    bool late = false;
    uv_timer_t timer;
    uv_timer_init(&loop_, &timer);
    timer.data = &late;
    const auto set = [](uv_timer_t* handle) { *static_cast<bool*>(handle->data) = true; };
    uv_timer_start(&timer, set, static_cast<std::uint64_t>(most), 0);
    testing::RunUntil(&loop_, [&] { return late || !touched_.empty(); });
    uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
    uv_run(&loop_, UV_RUN_NOWAIT);
  }

  // A turn of the loop, which has none while nothing but the watch waits for something; another one
  // closes the handle.
  void Turn() {
    uv_idle_t idle;
    uv_idle_init(&loop_, &idle);
    uv_idle_start(&idle, [](uv_idle_t*) {});
    uv_run(&loop_, UV_RUN_NOWAIT);
    uv_close(reinterpret_cast<uv_handle_t*>(&idle), nullptr);
    uv_run(&loop_, UV_RUN_NOWAIT);
  }

  // What is still to be told is told.
  void Drain() {
    do {
      touched_.clear();
      Run(3 * static_cast<int>(MakefileWatch::kSettle.count()));
    } while (!touched_.empty());
  }

  // `a` in there, to `b` and back.
  static void Rename(const std::string& directory, int times) {
    for (int i = 0; i < times; ++i) {
      const std::string a = directory + "/a";
      const std::string b = directory + "/b";
      ASSERT_EQ(i % 2 == 0 ? rename(a.c_str(), b.c_str()) : rename(b.c_str(), a.c_str()), 0);
    }
  }

  // Bytes of them, on the only inotify descriptor of this process.
  static std::size_t QueuedEvents() {
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code closed;
      if (std::filesystem::read_symlink(one, closed) != "anon_inode:inotify") continue;
      int bytes = 0;
      EXPECT_EQ(ioctl(std::stoi(one.path().filename()), FIONREAD, &bytes), 0);
      return static_cast<std::size_t>(bytes);
    }
    ADD_FAILURE() << "no inotify";
    return 0;
  }

  testing::TempDir base_;
  uv_loop_t loop_{};
  std::vector<std::string> touched_;
  std::optional<MakefileWatch> watch_;
};

TEST_F(MakefileWatchTest, AChangedMakefileIsToldOnce) {
  const std::string project = Directory("a");
  watch_->Watch(project, {});
  watch_->Watch(project, {});
  EXPECT_EQ(watch_->watched(), 1u);
  Write(project + "/Makefile");
  Write(project + "/Makefile");
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
}

TEST_F(MakefileWatchTest, SoIsOneThatIsRenamedIntoPlaceButNoOtherFile) {
  const std::string project = Directory("a");
  const std::string other = Directory("b");
  watch_->Watch(other, {});
  watch_->Watch(project, {});
  Write(other + "/main.c");
  Write(project + "/.GNUmakefile.swp");
  std::filesystem::rename(project + "/.GNUmakefile.swp", project + "/GNUmakefile");
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
}

TEST_F(MakefileWatchTest, TheNumberOfDirectoriesIsBoundedAndTheLatestStay) {
  for (std::size_t i = 0; i < MakefileWatch::kMaxDirectories + 3; ++i) {
    watch_->Watch(Directory(std::to_string(i)), {});
  }
  EXPECT_EQ(watch_->watched(), MakefileWatch::kMaxDirectories);
  Write(Directory("0") + "/Makefile");  // given up
  const std::string last = Directory(std::to_string(MakefileWatch::kMaxDirectories + 2));
  Write(last + "/Makefile");
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{last});
}

TEST_F(MakefileWatchTest, WhatAMakefileIncludesIsWatchedForItsProject) {
  const std::string project = Directory("a");
  const std::string rules = Directory("a/rules");
  const std::string elsewhere = Directory("b");
  const std::vector<std::string> files = {"local.mk", "./rules/../rules/common.mk",
                                          elsewhere + "/theirs.mk", "../b/theirs.mk", "main.d"};
  watch_->Watch(project, files);
  EXPECT_EQ(watch_->watched(), 2u);
  for (const std::string file : {"/local.mk", "/rules/common.mk"}) {
    touched_.clear();
    Write(project + "/main.d");
    Write(elsewhere + "/theirs.mk");
    Write(project + file);
    Run();
    EXPECT_EQ(touched_, std::vector<std::string>{project}) << file;
  }
}

TEST_F(MakefileWatchTest, WhatWasIncludedBeforeTheMakefileBrokeIsStillWatched) {
  const std::string project = Directory("a");
  const std::vector<std::string> files = {"local.mk"};
  watch_->Watch(project, files);
  watch_->Watch(project, {});
  Write(project + "/local.mk");
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
}

TEST_F(MakefileWatchTest, WhatIsNotToldYetIsToldWhenWatchesAreRenewed) {
  const std::string project = Directory("a");
  watch_->Watch(project, {});
  Write(project + "/Makefile");
  watch_->Renew();  // the event is not read yet
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
  touched_.clear();
  Write(project + "/Makefile");
  for (int i = 0; i < 3; ++i) {
    Run(0);  // it is, and not told
    watch_->Renew();
  }
  EXPECT_TRUE(touched_.empty());
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
}

TEST_F(MakefileWatchTest, ADirectoryThatTookThePlaceOfAnotherIsWatched) {
  namespace fs = std::filesystem;
  const std::string project = Directory("a/b");
  const std::vector<std::string> files = {"rules/common.mk"};
  const auto expect_watched = [&](const std::string& how) {
    for (const std::string file : {"/Makefile", "/rules/common.mk"}) {
      Drain();
      Write(project + file);
      Run();
      EXPECT_EQ(touched_, std::vector<std::string>{project}) << how << file;
    }
    Drain();
    EXPECT_EQ(watch_->watched(), 2u);
  };
  Directory("a/b/rules");
  watch_->Watch(project, files);
  expect_watched("at first");

  fs::rename(project, project + ".old");
  Directory("a/b/rules");
  Run();
  EXPECT_FALSE(touched_.empty()) << "it is another Makefile";
  expect_watched("renamed, and made anew at once");

  fs::remove_all(base_.path() / "a");
  Drain();  // it is gone
  Directory("a/b");
  Run();
  EXPECT_FALSE(touched_.empty()) << "it is there again";
  Directory("a/b/rules");
  expect_watched("removed with what it lies in");

  fs::remove_all(project + "/rules");
  Drain();
  Directory("a/b/rules");
  expect_watched("what it includes");
}

// Were each seen to when it comes, a command could keep the loop with that for as long as it likes.
TEST_F(MakefileWatchTest, HoweverManyEventsComeTheDirectoryIsLookedAtWhenTheyAreOver) {
  namespace fs = std::filesystem;
  const std::string project = Directory("a");
  watch_->Watch(project, {});
  fs::rename(project, project + ".old");
  Directory("a");
  for (int i = 0; i < 1000; ++i) {
    fs::permissions(project + ".old", i % 2 == 0 ? fs::perms::owner_read : fs::perms::owner_all);
  }
  for (int i = 0; i < 10; ++i) Run(0);  // they are read
  Write(project + "/Makefile");         // where nobody looks yet
  EXPECT_TRUE(touched_.empty());
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
  Drain();
  Write(project + "/Makefile");
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
}

// A command that renames all the time makes them as fast as they are read.
TEST_F(MakefileWatchTest, ATurnOfTheLoopReadsAPartOfWhatIsThere) {
  const std::string project = Directory("a");
  watch_->Watch(project, {});
  Write(project + "/a");
  Rename(project, 2000);
  const std::size_t before = QueuedEvents();
  Turn();
  EXPECT_LT(QueuedEvents(), before);
  EXPECT_GT(QueuedEvents(), before / 2) << "the rest of the loop comes first";
  Write(project + "/Makefile");
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
}

// libuv says nothing of that.
TEST_F(MakefileWatchTest, WhereEventsWereLostAnythingMayHaveHappened) {
  const std::string project = Directory("a");
  watch_->Watch(project, {});
  int most = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
  ASSERT_LE(most, 1 << 20);
  Write(project + "/a");
  Rename(project, most);
  Write(project + "/Makefile");
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
}

TEST_F(MakefileWatchTest, WhoNamesADirectoryHasTheOneWatchedThatIsThereNow) {
  const std::string project = Directory("a/b");
  watch_->Watch(project, {});
  std::filesystem::rename(base_.path() / "a", base_.path() / "c");  // of which nothing tells
  Directory("a/b");
  watch_->Watch(project, {});
  Write(project + "/Makefile");
  Run();
  EXPECT_EQ(touched_, std::vector<std::string>{project});
}

TEST_F(MakefileWatchTest, ADirectoryThatIsNotThereIsNotWatched) {
  watch_->Watch("/nonexistent/project", {});
  EXPECT_EQ(watch_->watched(), 0u);
}

}  // namespace
}  // namespace pa
