#include "supervisor/run/full_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file_clock.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::system_clock;

class FullFileTest : public ::testing::Test {
 protected:
  FullFileTest() {
    fs::create_directories(base() + "/a/b");
    testing::WriteText(base() + "/short", "1234");
    testing::WriteText(base() + "/long", "123456");
  }
  std::string base() const { return dir_.path().string(); }
  std::string Find(system_clock::time_point since = {}) const { return FindIn(base(), {}, since); }
  static std::string FindIn(const std::string& directory, std::vector<std::string> closed = {},
                            system_clock::time_point since = {}) {
    const auto since_us =
        std::chrono::duration_cast<std::chrono::microseconds>(since.time_since_epoch());
    InsideQuestion question{
        .directory = directory, .closed = std::move(closed), .full = {}, .empty = {}};
    question.full = {5, since_us.count()};
    return LookInside(question).full;
  }

  testing::TempDir dir_;
};

TEST_F(FullFileTest, OfExactlyThatSize) {
  EXPECT_EQ(Find(), "");
  testing::WriteText(base() + "/a/b/full", "12345");
  EXPECT_EQ(Find(), base() + "/a/b/full");
  testing::WriteText(base() + "/full", "12345");
  EXPECT_EQ(Find(), base() + "/full") << "from the top";
}

TEST_F(FullFileTest, OfThisRun) {
  testing::WriteText(base() + "/full", "12345");
  EXPECT_EQ(Find(system_clock::now() - hours(1)), base() + "/full");
  const auto begun = FileClockNow();
  testing::WriteText(base() + "/full", "54321");
  EXPECT_EQ(Find(begun), base() + "/full") << "in the same tick";
  EXPECT_EQ(Find(system_clock::now() + hours(1)), "") << "it was there before";
}

TEST_F(FullFileTest, ARegularFileWhereOneMayLook) {
  fs::create_directories(base() + "/elsewhere");
  testing::WriteText(base() + "/elsewhere/full", "12345");
  EXPECT_EQ(FindIn(base(), {base() + "/elsewhere"}), "");
  EXPECT_EQ(FindIn(base()), base() + "/elsewhere/full");
  EXPECT_EQ(FindIn(base() + "/a"), "");
  fs::create_symlink("../elsewhere/full", base() + "/a/link");
  fs::create_directory_symlink("../elsewhere", base() + "/a/directory");
  EXPECT_EQ(FindIn(base() + "/a"), "");
}

TEST_F(FullFileTest, WhichDirectoriesAreEmpty) {
  const InsideAnswer answer = LookInside({.directory = base(),
                                          .closed = {},
                                          .full = {},
                                          .empty = {base() + "/a/b", base(), base() + "/none"}});
  EXPECT_EQ(answer.empty, std::vector<std::string>{base() + "/a/b"});
  EXPECT_EQ(answer.full, "");
}

TEST_F(FullFileTest, ThereIsAnEndToIt) {
  for (int i = 0; i < 60; ++i) {
    const std::string directory = base() + "/a/" + std::to_string(i);
    fs::create_directories(directory);
    if (i == 0) testing::WriteText(directory + "/0", "");
    for (int link = 0; link < 400; ++link) {
      fs::create_symlink("0", directory + "/l" + std::to_string(link));
    }
  }
  fs::create_directories(base() + "/a/b/c/d");
  testing::WriteText(base() + "/a/b/c/d/full", "12345");
  EXPECT_EQ(Find(), "");
}

}  // namespace
}  // namespace pa
