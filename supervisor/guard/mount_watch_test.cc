// Whose work a protected file is, by the order of what happened to it. A command's part is played
// by writing as one can whose mount is gone.
#include "supervisor/guard/mount_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using By = MountRecord::Judgement::By;

class MountWatchTest : public ::testing::Test {
 protected:
  MountWatchTest() {
    Write("file", "before\n");
    Watch("file");
  }
  void Write(const std::string& name, std::string_view text) {
    testing::WriteText(root_ / name, text);
  }
  // As editors and git do.
  void Save(std::string_view text) {
    Write("new", text);
    fs::rename(root_ / "new", root_ / "file");
  }
  void Watch(const std::string& name, bool read_only = true) {
    const UniqueFd parent = OpenDirectory(root_);
    ImageBudget budget;
    guarded_.path.path = root_ / name;
    guarded_.image = std::make_shared<const FileImage>(
        ReadImage(parent.get(), name, ImageDepth::kTree, budget).value());
    watch_.Add(guarded_, read_only);
  }
  MountRecord::Judgement Judge() {
    watch_.Drain();
    return watch_.record().JudgeOf(guarded_);
  }

  testing::TempDir dir_;
  const fs::path root_ = fs::canonical(dir_.path());
  // What is to be read later, if `later_`.
  std::function<void()> held_;
  bool later_ = false;
  MountWatch watch_{[this](const std::string& directory, const std::string& name, auto done) {
    auto read = [=] { done(ReadSaved(directory, name)); };
    later_ ? void(held_ = read) : read();
  }};
  GuardedPath guarded_;
};

TEST_F(MountWatchTest, WrittenInPlaceItIsTheUsers) {
  Write("file", "the user's\n");
  EXPECT_EQ(Judge().by, By::kUser);
}

TEST_F(MountWatchTest, NotWhereItHasAnotherName) {
  fs::create_hard_link(root_ / "file", root_ / "link");
  EXPECT_EQ(Judge().by, By::kUnknown) << "now";
  fs::remove(root_ / "link");
  EXPECT_EQ(Judge().by, By::kUser);
  fs::create_hard_link(root_ / "file", root_ / "link");
  Watch("file");
  fs::remove(root_ / "link");
  EXPECT_EQ(Judge().by, By::kUnknown) << "then";
}

TEST_F(MountWatchTest, NorWhereTheMountIsWritable) {
  fs::create_directory(root_ / "modules");
  Watch("modules");
  Write("modules/theirs", "");
  EXPECT_EQ(Judge().by, By::kUser);
  Watch("modules", false);
  Write("modules/evil", "");
  EXPECT_EQ(Judge().by, By::kUnknown);
  Watch("modules");
  EXPECT_EQ(Judge().by, By::kUnknown) << "another command has it writable";
  fs::remove_all(root_ / "modules");
  EXPECT_EQ(Judge().by, By::kUser) << "no command can remove it";
}

TEST_F(MountWatchTest, ReplacedOnceItsContentIsTheUsers) {
  Save("the user's\n");
  const MountRecord::Judgement judgement = Judge();
  EXPECT_EQ(judgement.by, By::kUnknown) << "by a link it can be written all the same";
  ASSERT_NE(judgement.saved, nullptr);
  EXPECT_EQ(judgement.saved->content, "the user's\n");
  EXPECT_TRUE(judgement.certain);
}

TEST_F(MountWatchTest, RemovedOnceItIsTheUsers) {
  fs::remove(root_ / "file");
  EXPECT_EQ(Judge().by, By::kUser);
  Write("file", "anybody's\n");
  EXPECT_EQ(Judge().by, By::kUnknown);
}

TEST_F(MountWatchTest, WhatComesAfterThatIsAnybodys) {
  Save("the user's\n");
  watch_.Drain();
  Write("file", "evil\n");
  const MountRecord::Judgement judgement = Judge();
  EXPECT_EQ(judgement.by, By::kUnknown);
  ASSERT_NE(judgement.saved, nullptr);
  EXPECT_EQ(judgement.saved->content, "the user's\n");
  EXPECT_TRUE(judgement.certain);
}

TEST_F(MountWatchTest, WhatIsReadLaterIsTheUsersIfNothingCameBetween) {
  later_ = true;
  Save("the user's\n");
  watch_.Drain();
  EXPECT_EQ(watch_.reading(), 1u);
  held_();
  EXPECT_EQ(watch_.reading(), 0u);
  EXPECT_TRUE(Judge().certain);
}

TEST_F(MountWatchTest, WhatChangedBeforeItWasReadIsNotCertain) {
  later_ = true;
  Save("the user's\n");
  watch_.Drain();
  Write("file", "a command's\n");
  watch_.Drain();
  held_();
  EXPECT_FALSE(Judge().certain);
  watch_.Forget();
  held_();  // of a record that is gone
  EXPECT_EQ(Judge().saved, nullptr);
}

// Nobody looked in between, so what was saved may be the command's.
TEST_F(MountWatchTest, WhatWasSeenTooLateIsNotCertain) {
  Save("the user's\n");
  Write("file", "evil\n");
  EXPECT_EQ(Judge().by, By::kUnknown);
  EXPECT_FALSE(Judge().certain);
}

// No event tells of it: only the content does.
TEST_F(MountWatchTest, ALinkIsAWayToWriteIt) {
  Save("the user's\n");
  watch_.Drain();
  fs::create_hard_link(root_ / "file", root_ / "link");
  Write("link", "evil\n");
  fs::remove(root_ / "link");
  const MountRecord::Judgement judgement = Judge();
  EXPECT_EQ(judgement.by, By::kUnknown);
  ASSERT_NE(judgement.saved, nullptr);
  EXPECT_EQ(judgement.saved->content, "the user's\n");
}

TEST_F(MountWatchTest, WhatHasAnotherNameAlreadyIsNotCertain) {
  Write("new", "anybody's\n");
  fs::create_hard_link(root_ / "new", root_ / "link");
  fs::rename(root_ / "new", root_ / "file");
  EXPECT_FALSE(Judge().certain);
}

TEST_F(MountWatchTest, MadeUnderItsNameItIsAnybodys) {
  fs::rename(root_ / "file", root_ / "file~");
  Write("file", "an editor's, or evil\n");
  EXPECT_EQ(Judge().by, By::kUnknown);
}

TEST_F(MountWatchTest, OfADirectoryThatWasReplacedNothingIsKnown) {
  Write("sub/file", "before\n");
  Watch("sub");
  Watch("sub/file");
  fs::rename(root_ / "sub", root_ / "aside");
  EXPECT_EQ(Judge().by, By::kUser) << "the user took it away with all in it";
  Write("sub/file", "evil\n");
  EXPECT_EQ(Judge().by, By::kUnknown);
}

TEST_F(MountWatchTest, WhereOneCommandHasNoMountsNothingIsKnown) {
  Write("file", "anybody's\n");
  watch_.Expose();
  EXPECT_EQ(Judge().by, By::kUnknown);
}

TEST_F(MountWatchTest, WhatWasBeforeIsForgotten) {
  Save("the user's\n");
  watch_.Forget();
  EXPECT_EQ(Judge().by, By::kUnknown) << "it is not mounted";
  Watch("file");
  Write("file", "the user's again\n");
  EXPECT_EQ(Judge().by, By::kUser);
}

}  // namespace
}  // namespace pa
