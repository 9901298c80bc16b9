#include "supervisor/janitor/file_chores.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <uv.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>

#include "base/unique_fd.h"
#include "tests/support/await.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_janitor.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class FileChoresTest : public ::testing::Test {
 protected:
  FileChoresTest() { uv_loop_init(&loop_); }
  ~FileChoresTest() override {
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  Result<std::string> Read(const std::string& name, Links links = Links::kRefuse) {
    const UniqueFd fd(open(dir_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return testing::Await(loop_, ReadTextIn(janitor_, {dir_.path(), fd.get()}, name, 1000, links));
  }

  testing::TempDir dir_;
  uv_loop_t loop_;
  testing::ThreadJanitor janitor_{&loop_};
};

TEST_F(FileChoresTest, ReadsRegularFilesWithinTheDirectory) {
  const std::string base = dir_.path();
  testing::WriteText(base + "/sub/text", "content");
  testing::WriteText(base + "/long", std::string(1001, 'x'));
  ASSERT_EQ(mkfifo((base + "/pipe").c_str(), 0600), 0);
  ASSERT_EQ(symlink("sub/text", (base + "/link").c_str()), 0);
  ASSERT_EQ(symlink("/etc/passwd", (base + "/out").c_str()), 0);
  EXPECT_EQ(Read("link", Links::kBeneath).value(), "content");
  EXPECT_EQ(Read("sub/text", Links::kBeneath).value(), "content");
  EXPECT_EQ(Read("link").error().sys_errno, ELOOP);
  EXPECT_EQ(Read("sub/text").error().sys_errno, EINVAL);
  EXPECT_EQ(Read("out", Links::kBeneath).error().sys_errno, EXDEV);
  EXPECT_EQ(Read("long").error().sys_errno, EFBIG);
  EXPECT_FALSE(Read("pipe"));
  EXPECT_EQ(Read("none").error().sys_errno, ENOENT);
}

TEST_F(FileChoresTest, EmptiesATreeAndSyncsWhatIsThere) {
  const std::string tree = dir_.path() / "tree";
  testing::WriteText(tree + "/a/b", "x");
  EXPECT_TRUE(testing::Await(loop_, SyncPaths(janitor_, {tree + "/a/b", tree})).has_value());
  EXPECT_FALSE(testing::Await(loop_, SyncPaths(janitor_, {tree + "/none"})).has_value());
  EXPECT_TRUE(testing::Await(loop_, EmptyTree(janitor_, tree, std::chrono::seconds(10))).value());
  EXPECT_TRUE(fs::is_empty(tree));
  fs::create_directory_symlink("/etc", dir_.path() / "link");
  EXPECT_FALSE(
      testing::Await(loop_, EmptyTree(janitor_, dir_.path() / "link", std::chrono::seconds(10))));
}

}  // namespace
}  // namespace pa
