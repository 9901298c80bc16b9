#include "supervisor/state/edit_journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "tests/support/few_descriptors.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class EditJournalTest : public ::testing::Test {
 protected:
  std::vector<JournalEntry> Entries() {
    return {{"/project", "a\nb", Sha256Of("new a"), std::string("old\0\n", 5)},
            {"/caf\xe9", "src/\xff", Sha256Of("new c"), ""}};
  }
  static bool Ours(const std::string& root) { return root == "/project"; }
  Result<FoundEdits> Find() { return FindUnfinished(edits_, Ours); }
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(edits_)) files.push_back(entry.path());
    return files;
  }

  testing::TempDir dir_;
  const std::string edits_ = dir_.path() / "state/edits";
};

TEST_F(EditJournalTest, WhatADeadServerLeftIsFound) {
  {
    ASSERT_TRUE(EditJournal::Begin(edits_, Entries(), true));
  }  // as the end of its process does
  const std::vector<UnfinishedEdit> found = (*Find()).edits;
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].entries.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[0].entries[i].root, Entries()[i].root);
    EXPECT_EQ(found[0].entries[i].file, Entries()[i].file);
    EXPECT_EQ(found[0].entries[i].after, Entries()[i].after);
    EXPECT_EQ(found[0].entries[i].content, Entries()[i].content);
  }
  EXPECT_TRUE(Find()->edits.empty()) << "one at a time sees to it";
  EXPECT_TRUE(found[0].Forget());
  EXPECT_TRUE(Files().empty());
}

// Of one whose files are elsewhere nothing is read but that, and its lock is left alone: its own
// server may want it.
TEST_F(EditJournalTest, OfOthersNothingIsReadButWhoseTheyAre) {
  {
    ASSERT_TRUE(EditJournal::Begin(edits_, Entries(), false));
  }
  const auto none = [](const std::string&) { return false; };
  const std::string path = Files().at(0);
  testing::WriteText(path, testing::ReadText(path) + "so it is damaged");
  const Result<FoundEdits> found = FindUnfinished(edits_, none);
  EXPECT_TRUE(found->edits.empty() && found->unreadable.empty() && found->busy.empty());
  EXPECT_EQ(Find()->unreadable, std::vector<std::string>{path});
  testing::WriteText(path, std::string("project-actions edit 2\n"));
  EXPECT_EQ(FindUnfinished(edits_, none)->unreadable, std::vector<std::string>{path})
      << "it does not say whose it is";
}

TEST_F(EditJournalTest, WhatAnotherIsAtWorkWithIsBusyUntilItIsFreeOrGone) {
  std::optional<Result<EditJournal>> journal = EditJournal::Begin(edits_, Entries(), false);
  ASSERT_TRUE(*journal);
  const auto none = [](const std::string&) { return false; };
  EXPECT_TRUE(FindUnfinished(edits_, none)->busy.empty());
  const std::vector<std::string> busy = Find()->busy;
  EXPECT_EQ(busy, Files());
  EXPECT_EQ(FindAmong(busy, Ours).busy, busy);
  journal.reset();  // its server has died
  FoundEdits found = FindAmong(busy, Ours);
  EXPECT_TRUE(found.busy.empty());
  ASSERT_EQ(found.edits.size(), 1u);
  EXPECT_EQ(FindAmong(busy, Ours).busy, busy);
  EXPECT_TRUE(found.edits[0].Forget());
  found = FindAmong(busy, Ours);
  EXPECT_TRUE(found.busy.empty() && found.edits.empty() && found.unreadable.empty());
}

// A journal whose paths take more than is read at once.
TEST_F(EditJournalTest, ALongListOfFilesIsReadToItsEnd) {
  std::vector<JournalEntry> entries;
  for (int i = 0; i < 500; ++i) {
    entries.push_back({i < 499 ? "/elsewhere" : "/project", std::string(400, 'x'), {}, ""});
  }
  {
    ASSERT_TRUE(EditJournal::Begin(edits_, entries, false));
  }
  EXPECT_EQ(Find()->edits.size(), 1u);
}

// Servers that start clear away what has no name yet.
TEST_F(EditJournalTest, WhoClearsAwayTakesNoNewOne) {
  std::atomic<bool> ends = false;
  std::thread other([&] {
    while (!ends) EXPECT_TRUE(FindUnfinished(edits_, Ours));
  });
  for (int i = 0; i < 2000; ++i) {
    Result<EditJournal> journal = EditJournal::Begin(edits_, Entries(), false);
    EXPECT_TRUE(journal && journal->End()) << i;
  }
  ends = true;
  other.join();
  EXPECT_TRUE(Files().empty());
}

// Whoever holds the directory's lock, or any: a new journal waits for nobody.
TEST_F(EditJournalTest, ALockOfTheDirectoryIsNobodysBusiness) {
  fs::create_directories(edits_);
  const UniqueFd held(open(edits_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(held.get(), LOCK_EX), 0);
  EXPECT_TRUE(EditJournal::Begin(edits_, Entries(), false));
}

TEST_F(EditJournalTest, WhoeverIsAtWorkIsLeftAlone) {
  EXPECT_TRUE(Find()->edits.empty());
  Result<EditJournal> journal = EditJournal::Begin(edits_, Entries(), false);
  ASSERT_TRUE(journal);
  EXPECT_TRUE(Find()->edits.empty());
  EXPECT_EQ(Files().size(), 1u);
  struct stat info{};
  ASSERT_EQ(stat(edits_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(journal->End());
  EXPECT_TRUE(Files().empty());
}

// It gets its name when all of it is there.
TEST_F(EditJournalTest, WhatCannotBeReadIsKept) {
  {
    ASSERT_TRUE(EditJournal::Begin(edits_, Entries(), false));
  }
  const std::string path = Files().at(0);
  const std::string whole = testing::ReadText(path);
  const auto is_kept = [&](const std::string& text) {
    testing::WriteText(path, text);
    const FoundEdits found = *Find();
    EXPECT_TRUE(found.edits.empty()) << text;
    EXPECT_EQ(found.unreadable, std::vector<std::string>{path}) << text;
    EXPECT_EQ(*KeptEdits(edits_, Ours), std::vector<std::string>{path});
    EXPECT_EQ(testing::ReadText(path), text);
  };
  for (std::size_t size = 0; size < whole.size(); ++size) is_kept(whole.substr(0, size));
  const std::string magic = "project-actions edit 1 ";
  for (const char* none : {"\n[]", "c\n[]\n", "\n{}\n", "c\n[{}]\n", "c\n[{\"root\":1}]\n", "c"}) {
    is_kept(magic + none);
  }
  is_kept("project-actions edit 2 cc" + whole.substr(whole.find('\n')));
  is_kept(magic + "cx" + whole.substr(whole.find('\n')));
  is_kept(whole + "and more");
  testing::WriteText(path, whole);
  EXPECT_EQ(Find()->edits.size(), 1u);
  EXPECT_EQ(*KeptEdits(edits_, Ours), std::vector<std::string>{path}) << "a root of it is not ours";
  const auto all = [](const std::string&) { return true; };
  const auto none = [](const std::string&) { return false; };
  EXPECT_TRUE(KeptEdits(edits_, all)->empty()) << "it will be put back";
  EXPECT_TRUE(KeptEdits(edits_, none)->empty()) << "another project's";
}

TEST_F(EditJournalTest, OnlyNoPlaceAndAnEmptyOneHoldNoneForCertain) {
  EXPECT_FALSE(MayHoldEdits(edits_));
  ASSERT_TRUE(fs::create_directories(edits_));
  EXPECT_FALSE(MayHoldEdits(edits_));
  testing::WriteText(edits_ + "/journal-1", "");
  EXPECT_TRUE(MayHoldEdits(edits_));
  EXPECT_TRUE(MayHoldEdits(edits_ + "/journal-1")) << "no directory";
}

// Nobody knows then what was left half done.
TEST_F(EditJournalTest, APlaceThatCannotBeListedIsAnError) {
  testing::WriteText(edits_, "no directory");
  EXPECT_FALSE(Find());
  EXPECT_FALSE(KeptEdits(edits_, Ours));
  EXPECT_TRUE(FindUnfinished(edits_ + "-none", Ours)) << "nobody has made one";
}

// Also for want of descriptors: else calls would begin beside half an edit.
TEST_F(EditJournalTest, WhatCannotBeOpenedIsUnreadable) {
  {
    ASSERT_TRUE(EditJournal::Begin(edits_, Entries(), false));
  }
  const std::vector<std::string> paths = Files();
  const std::string gone = edits_ + "/journal-gone";
  EXPECT_TRUE(FindAmong({&gone, 1}, Ours).unreadable.empty());
  const testing::FewDescriptors none(0);
  EXPECT_EQ(FindAmong(paths, Ours).unreadable, paths);
}

// Of a server that died while it made one.
TEST_F(EditJournalTest, WithoutANameNothingWasChanged) {
  testing::WriteText(edits_ + "/new-abcdef", "project-actions edit 1 c");
  const FoundEdits found = *Find();
  EXPECT_TRUE(found.edits.empty() && found.unreadable.empty());
  EXPECT_TRUE(Files().empty());
}

TEST_F(EditJournalTest, OnlyWhatIsLeftIsToBeDone) {
  {
    Result<EditJournal> journal = EditJournal::Begin(edits_, Entries(), true);
    ASSERT_TRUE(journal);
    EXPECT_TRUE(journal->Leave({false, true}));
  }
  {
    const std::vector<UnfinishedEdit> found = (*Find()).edits;
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].count, 2u);
    ASSERT_EQ(found[0].entries.size(), 1u);
    EXPECT_EQ(found[0].entries[0].file, Entries()[1].file);
    const Result<std::string> kept = found[0].SetAside();
    ASSERT_TRUE(kept);
    EXPECT_EQ(Files(), std::vector<std::string>{*kept});
    EXPECT_EQ(*KeptEdits(edits_, Ours), std::vector<std::string>{*kept});
  }
  EXPECT_TRUE(Find()->edits.empty());
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(EditJournalTest, WhatCannotBeRemovedIsMarked) {
  Result<EditJournal> journal = EditJournal::Begin(edits_, Entries(), true);
  ASSERT_TRUE(journal);
  fs::rename(edits_, edits_ + ".aside");
  EXPECT_TRUE(journal->End());
  EXPECT_TRUE(journal->End()) << "once more";
  journal = std::unexpected(Error("closed", "", 0));
  fs::rename(edits_ + ".aside", edits_);
  EXPECT_EQ(Files().size(), 1u);
  const FoundEdits found = *Find();
  EXPECT_TRUE(found.edits.empty() && found.unreadable.empty());
  EXPECT_TRUE(Files().empty());
}

TEST_F(EditJournalTest, WithoutAPlaceThereIsNone) {
  testing::WriteText(edits_, "a file");
  EXPECT_FALSE(EditJournal::Begin(edits_, Entries(), false));
}

TEST_F(EditJournalTest, WhatIsNotNamedLikeOneStays) {
  testing::WriteText(edits_ + "/notes", "precious");
  testing::WriteText(edits_ + "/new-x", "of which nothing was changed");
  EXPECT_TRUE(Find()->edits.empty());
  EXPECT_EQ(Files(), std::vector<std::string>{edits_ + "/notes"});
}

}  // namespace
}  // namespace pa
