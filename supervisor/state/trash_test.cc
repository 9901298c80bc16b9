#include "supervisor/state/trash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/unique_fd.h"
#include "tests/support/few_descriptors.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class FileTrashTest : public ::testing::Test {
 protected:
  FileTrashTest() { fs::create_directories(root_); }
  // As if a worker had moved it.
  TrashEntry Delete(const std::string& path, std::int64_t now, const std::string& base = "") {
    const Result<TrashEntry> entry = BeginTrash(base.empty() ? base_ : base, path, now, true);
    EXPECT_TRUE(entry);
    testing::WriteText(entry->Content(), "content");
    return *entry;
  }
  std::vector<TrashEntry> List() { return ListTrash({&base_, 1}, unreadable_); }

  testing::TempDir dir_;
  const std::string top_ = fs::canonical(dir_.path());
  const std::string root_ = top_ + "/project";
  const std::string base_ = top_ + "/state/project-actions/trash";
  std::vector<std::string> unreadable_;
};

TEST_F(FileTrashTest, ATrashThatCannotBeListedIsNotEmpty) {
  EXPECT_TRUE(List().empty() && unreadable_.empty()) << "there is none";
  Delete(root_ + "/a", 1000);
  {
    const testing::FewDescriptors none(0);
    EXPECT_TRUE(List().empty());
  }
  ASSERT_EQ(unreadable_.size(), 1u);
  EXPECT_NE(unreadable_[0].find(base_), std::string::npos) << unreadable_[0];
  EXPECT_EQ(List().size(), 1u);
}

// As many as are open, and two more; there may be holes.
rlim_t TwoMore() {
  const UniqueFd one(dup(0));
  const UniqueFd two(dup(0));
  return static_cast<rlim_t>(two.get()) + 1;
}

TEST_F(FileTrashTest, WhyAnInfoCannotBeReadIsTold) {
  const TrashEntry entry = Delete(root_ + "/a", 1000);
  fs::remove(entry.directory + "/info.json");
  fs::create_symlink("info.json", entry.directory + "/info.json");  // ELOOP
  EXPECT_TRUE(List().empty());
  ASSERT_EQ(unreadable_.size(), 1u);
  EXPECT_NE(unreadable_[0].find("ELOOP"), std::string::npos) << unreadable_[0];
}

// It is where it was, so nobody shall look for it in the trash; a crash may bring it back there,
// with its name.
TEST_F(FileTrashTest, WhatIsRestoredButNotSyncedIsRestored) {
  const TrashEntry entry = Delete(root_ + "/a", 1000);
  Result<std::string> restored = "";
  {
    const testing::FewDescriptors two(TwoMore());
    restored = RestoreTrash(entry, {&root_, 1});
  }
  ASSERT_TRUE(restored) << restored.error().Message();
  EXPECT_NE(restored->find("EMFILE"), std::string::npos) << *restored;
  EXPECT_EQ(testing::ReadText(root_ + "/a"), "content");
  EXPECT_TRUE(fs::exists(entry.directory + "/info.json"));
}

TEST_F(FileTrashTest, WhatWentComesBack) {
  EXPECT_TRUE(List().empty());
  Delete(root_ + "/a", 1000);
  const TrashEntry second = Delete(root_ + "/b", 2000);
  ASSERT_EQ(List().size(), 2u);
  EXPECT_EQ(List()[0].path, root_ + "/b");
  EXPECT_EQ(List()[0].deleted_at, 2000);
  EXPECT_EQ(List()[0].id, second.id);
  EXPECT_EQ(second.id.substr(0, 16), "19700101-003320-");
  ASSERT_TRUE(RestoreTrash(List()[0], {&root_, 1}));
  EXPECT_EQ(testing::ReadText(root_ + "/b"), "content");
  EXPECT_FALSE(fs::exists(second.directory));
  ASSERT_EQ(List().size(), 1u);
  EXPECT_EQ(List()[0].path, root_ + "/a");
}

TEST_F(FileTrashTest, NamesNeedNotBeText) {
  Delete(root_ + "/caf\xe9", 1000);
  ASSERT_EQ(List().size(), 1u);
  ASSERT_TRUE(RestoreTrash(List()[0], {&root_, 1}));
  EXPECT_EQ(testing::ReadText(root_ + "/caf\xe9"), "content");
}

TEST_F(FileTrashTest, NothingIsReplacedAndNothingIsLost) {
  Delete(root_ + "/a", 1000);
  testing::WriteText(root_ + "/a", "new");
  EXPECT_EQ(RestoreTrash(List()[0], {&root_, 1}).error().sys_errno, EEXIST);
  EXPECT_EQ(testing::ReadText(root_ + "/a"), "new");
  EXPECT_EQ(List().size(), 1u);
  Delete(root_ + "/gone/b", 2000);
  EXPECT_EQ(RestoreTrash(List()[0], {&root_, 1}).error().sys_errno, ENOENT);
  EXPECT_EQ(List().size(), 2u);
}

// Where commands can write, they can write an info.json, and exchange what lies on the way.
TEST_F(FileTrashTest, NothingComesBackElsewhere) {
  fs::create_directory(top_ + "/outside");
  fs::create_directory_symlink(top_ + "/outside", root_ + "/way");
  for (const std::string& path :
       {top_ + "/outside/x", root_ + "/way/x", root_ + "/../outside/x", root_, root_ + "/",
        std::string("x"), root_ + "/./x", std::string("/")}) {
    const TrashEntry entry = Delete(path, 1000);
    EXPECT_FALSE(RestoreTrash(entry, {&root_, 1})) << path;
    EXPECT_TRUE(fs::exists(entry.Content()));
  }
  EXPECT_TRUE(fs::is_empty(top_ + "/outside"));
}

TEST_F(FileTrashTest, WhatIsNoEntryIsPassedOver) {
  const TrashEntry entry = Delete(root_ + "/a", 1000);
  for (const char* info : {"", "{}", "[]", R"({"path":1,"deleted_at":1})", R"({"path":"/x"})"}) {
    testing::WriteText(entry.directory + "/info.json", info);
    unreadable_.clear();
    EXPECT_TRUE(List().empty()) << info;
    ASSERT_EQ(unreadable_.size(), 1u) << "it has content: " << info;
    EXPECT_NE(unreadable_[0].find(entry.Content()), std::string::npos) << unreadable_[0];
  }
  fs::remove(entry.Content());
  unreadable_.clear();
  testing::WriteText(base_ + "/stray", "");
  fs::create_directory(base_ + "/empty");
  fs::create_directory_symlink(root_, base_ + "/link");
  testing::WriteText(base_ + "/somebodys/content", "");
  EXPECT_TRUE(List().empty() && unreadable_.empty());
}

// Where commands can write, they can exchange the trash, too.
TEST_F(FileTrashTest, NothingComesBackFromElsewhere) {
  testing::WriteText(top_ + "/outside/1/content", "precious");
  testing::WriteText(top_ + "/outside/1/info.json", TrashInfo(root_ + "/x", 1000));
  const std::string base = root_ + "/" + kProjectTrash;
  fs::create_directory_symlink(top_ + "/outside", base);
  ASSERT_EQ(ListTrash({&base, 1}, unreadable_).size(), 1u);
  EXPECT_EQ(RestoreTrash(ListTrash({&base, 1}, unreadable_)[0], {&root_, 1}).error().sys_errno,
            ELOOP);
  EXPECT_TRUE(fs::exists(top_ + "/outside/1/content"));
}

// A crash leaves entries without content, and did leave some without a path: they are not there for
// ever.
TEST_F(FileTrashTest, WhatACrashLeftExpiresToo) {
  constexpr std::int64_t kThirtyDays = 30 * 24 * 3600;
  const TrashEntry whole = Delete(root_ + "/a", 1000);
  const TrashEntry empty = Delete(root_ + "/b", 1000);
  fs::remove(empty.Content());
  const TrashEntry nameless = Delete(root_ + "/c", 1000);
  testing::WriteText(nameless.directory + "/info.json", "");
  Delete(root_ + "/d", 2000);
  fs::create_directory(base_ + "/not-one-of-ours");
  fs::create_directory_symlink(root_, base_ + "/19700101-001640-0123abcd");
  EXPECT_TRUE(ExpiredTrash(base_, 1000 + kThirtyDays)->empty());
  std::vector<std::string> expired = *ExpiredTrash(base_, 1001 + kThirtyDays);
  std::ranges::sort(expired);
  std::vector<std::string> all = {whole.directory, empty.directory, nameless.directory};
  std::ranges::sort(all);
  EXPECT_EQ(expired, all);
}

// There may be tens of thousands: none is opened.
TEST_F(FileTrashTest, TheIdHasTheTime) {
  constexpr std::int64_t kThirtyDays = 30 * 24 * 3600;
  const TrashEntry old = Delete(root_ + "/a", 1000);
  const TrashEntry fresh = Delete(root_ + "/b", 1000 + kThirtyDays);
  testing::WriteText(old.directory + "/info.json", TrashInfo(root_ + "/a", 1000 + kThirtyDays));
  testing::WriteText(fresh.directory + "/info.json", TrashInfo(root_ + "/b", 0));
  EXPECT_EQ(ExpiredTrash(base_, 1001 + kThirtyDays), std::vector<std::string>{old.directory});
}

TEST_F(FileTrashTest, ATrashThatCannotBeListedMayHoldWhatHasExpired) {
  EXPECT_TRUE(ExpiredTrash(base_ + "-none", 0)) << "nobody has made one";
  Delete(root_ + "/a", 1000);
  const testing::FewDescriptors none(0);
  EXPECT_FALSE(ExpiredTrash(base_, 0));
}

}  // namespace
}  // namespace pa
