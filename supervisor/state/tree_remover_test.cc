#include "supervisor/state/tree_remover.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>

#include "tests/support/temp_dir.h"
#include "tests/support/thread_janitor.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class TrashTest : public ::testing::Test {
 protected:
  TrashTest() { uv_loop_init(&loop_); }
  ~TrashTest() override {
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  // More than one step can remove.
  std::string Tree(const std::string& name, int files) {
    const fs::path tree = dir_.path() / name;
    for (int i = 0; i < files; ++i)
      testing::WriteText(tree / std::to_string(i % 7) / std::to_string(i), "");
    return tree;
  }
  static HeldTree Held(const fs::path& path) {
    return {std::make_shared<const UniqueFd>(
                open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
            path.filename()};
  }
  // How many turns of the loop it took.
  int RunUntilEmpty(const TreeRemover& remover) {
    int turns = 0;
    for (; !remover.empty(); ++turns) uv_run(&loop_, UV_RUN_ONCE);
    return turns;
  }
  bool Locked(const std::string& path) {
    const UniqueFd other(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return flock(other.get(), LOCK_EX | LOCK_NB) != 0;
  }

  testing::TempDir dir_;
  uv_loop_t loop_;
  testing::ThreadJanitor janitor_{&loop_};
};

TEST_F(TrashTest, LargeOnesHoldUpNobody) {
  TreeRemover remover(janitor_);
  const std::string first = Tree("first", 5000);
  const std::string second = Tree("second", 10);
  const std::string lock_file = dir_.path() / "lock";
  UniqueFd lock(open(lock_file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  remover.Add(Held(first), std::move(lock));
  remover.Add(Held(second));
  ASSERT_FALSE(remover.empty());
  EXPECT_TRUE(Locked(lock_file));
  EXPECT_GT(RunUntilEmpty(remover), 1);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_FALSE(fs::exists(second));
  EXPECT_FALSE(Locked(lock_file));
}

TEST_F(TrashTest, WhatCannotBeRemovedDoesNotHoldUpTheRest) {
  TreeRemover remover(janitor_);
  remover.Add(Held(dir_.path() / "absent"));
  const std::string tree = Tree("small", 3);
  remover.Add(Held(tree));
  RunUntilEmpty(remover);
  EXPECT_FALSE(fs::exists(tree));
}

}  // namespace
}  // namespace pa
