#include "base/file_clock.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

struct stat Status(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info;
}

TEST(FileClock, AFileThatIsChangedFromNowOnIsNotOlder) {
  const testing::TempDir dir;
  const std::string path = dir.path() / "file";
  const auto before = FileClockNow();
  std::ofstream(path) << "a";
  EXPECT_GE(ChangedAt(Status(path)), before);
  // Linux 6.13 and later stamp some changes more finely than the coarse clock counts.
  EXPECT_LE(ChangedAt(Status(path)), std::chrono::system_clock::now());
}

TEST(FileClock, ATimeThatSomebodySetsIsNotWhenItChanged) {
  const testing::TempDir dir;
  const std::string path = dir.path() / "file";
  std::ofstream(path) << "a";
  const auto changed = ChangedAt(Status(path));
  const timespec long_ago[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  EXPECT_GE(ChangedAt(Status(path)), changed);
}

}  // namespace
}  // namespace pa
