#include "supervisor/results/result_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kQuota = 1U << 20;
constexpr UtcSeconds kNow{std::chrono::seconds(1'795'784'400)};  // 2026-11-27T13:00:00Z

class ResultFilesTest : public ::testing::Test {
 protected:
  fs::path Directory() const {
    return directory_.path().string() + "/project-actions-results-" + std::to_string(geteuid());
  }
  std::string Make(UtcSeconds now = kNow) {
    Result<ResultFile> file = files_.Make("json", now, kQuota);
    EXPECT_TRUE(file.has_value()) << file.error().Message();
    EXPECT_EQ(WriteAsFits(file->file.get(), "[]"), 2u);
    return file->path;
  }

  testing::TempDir directory_;
  ResultFiles files_{directory_.path().string()};
};

TEST_F(ResultFilesTest, AFileIsTheUsersAloneAndNamesItsTime) {
  const std::string path = Make();
  EXPECT_TRUE(path.starts_with(Directory().string() + "/20261127T130000Z-")) << path;
  EXPECT_TRUE(path.ends_with(".json"));
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_EQ(stat(Directory().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  EXPECT_NE(Make(), path);
  EXPECT_EQ(UtcText(files_.Make("txt", kNow, kQuota)->expires), "2026-11-28T13:00:00Z");
}

TEST_F(ResultFilesTest, WhatHasExpiredGoesAndNothingElse) {
  const std::string old = Make();
  const fs::path mine = Directory() / "notes.json";
  testing::WriteText(mine, "mine");
  const std::string young = Make(kNow + std::chrono::hours(23));
  EXPECT_TRUE(fs::exists(old));
  Make(kNow + kResultFileLife);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(mine));
}

TEST_F(ResultFilesTest, AllTogetherHaveAShare) {
  const std::string first = Make();
  fs::resize_file(first, kQuota);
  const Result<ResultFile> more = files_.Make("json", kNow, kQuota);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().sys_errno, EDQUOT);
  EXPECT_TRUE(more.error().Message().contains("have 1MiB already and may have 1MiB"))
      << more.error().Message();
  EXPECT_TRUE(fs::exists(first)) << "it was promised for a day";
  EXPECT_TRUE(files_.Make("json", kNow, kQuota + 1));
  fs::resize_file(first, kQuota);
  EXPECT_TRUE(files_.Make("json", kNow + kResultFileLife, kQuota)) << "it has expired";
  EXPECT_FALSE(fs::exists(first));
}

TEST_F(ResultFilesTest, OnlyItsOwnPathsAreOpened) {
  const std::string path = Make();
  const auto opened = files_.Open(path);
  ASSERT_TRUE(opened && *opened);
  EXPECT_EQ(ReadBytesAt((*opened)->file.get(), 0, 9).value(), "[]");
  EXPECT_EQ((*opened)->size, 2u);
  const fs::path other = Directory() / "notes.json";
  testing::WriteText(other, "x");
  for (const std::string& no :
       {other.string(), directory_.path().string() + "/x", std::string("src/a"), path + "/",
        path + "x",
        Directory().string() + "/../" + Directory().filename().string() + "/" +
            fs::path(path).filename().string(),
        Directory().string() + "/20261127T130000Z-" + std::string(32, 'a') + ".json"}) {
    EXPECT_FALSE(files_.Open(no).has_value()) << no;
  }
}

TEST_F(ResultFilesTest, ASymlinkIsNotFollowed) {
  std::string path = Make();
  fs::remove(path);
  fs::create_symlink("/etc/passwd", path);
  const auto opened = files_.Open(path);
  ASSERT_TRUE(opened.has_value());
  EXPECT_FALSE(opened->has_value());
}

// In /tmp anybody may have been first.
TEST_F(ResultFilesTest, ADirectoryOfOthersIsNotUsed) {
  fs::create_directory(Directory());
  fs::permissions(Directory(), fs::perms::owner_all | fs::perms::others_exec);
  EXPECT_FALSE(files_.Make("json", kNow, kQuota).has_value());
  const std::string path =
      Directory().string() + "/20261127T131500Z-" + std::string(32, 'a') + ".json";
  const auto opened = files_.Open(path);
  ASSERT_TRUE(opened.has_value()) << "it is the path of such a file, and not to be trusted";
  ASSERT_FALSE(opened->has_value());
  EXPECT_EQ(opened->error().sys_errno, EPERM);
  fs::remove(Directory());
  EXPECT_FALSE(files_.Open(path).has_value()) << "nobody has made one";
  fs::create_directory(directory_.path().string() + "/elsewhere");
  fs::create_directory_symlink("elsewhere", Directory());
  EXPECT_FALSE(files_.Make("json", kNow, kQuota).has_value());
}

}  // namespace
}  // namespace pa
