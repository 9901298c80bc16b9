#include "supervisor/edit_journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

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
  const std::vector<UnfinishedEdit> found = FindUnfinished(edits_);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].entries.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[0].entries[i].root, Entries()[i].root);
    EXPECT_EQ(found[0].entries[i].file, Entries()[i].file);
    EXPECT_EQ(found[0].entries[i].after, Entries()[i].after);
    EXPECT_EQ(found[0].entries[i].content, Entries()[i].content);
  }
  EXPECT_TRUE(FindUnfinished(edits_).empty()) << "one at a time sees to it";
  found[0].Forget();
  EXPECT_TRUE(Files().empty());
}

TEST_F(EditJournalTest, WhoeverIsAtWorkIsLeftAlone) {
  EXPECT_TRUE(FindUnfinished(edits_).empty());
  Result<EditJournal> journal = EditJournal::Begin(edits_, Entries(), false);
  ASSERT_TRUE(journal);
  EXPECT_TRUE(FindUnfinished(edits_).empty());
  EXPECT_EQ(Files().size(), 1u);
  struct stat info{};
  ASSERT_EQ(stat(edits_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  journal->End();
  EXPECT_TRUE(Files().empty());
}

TEST_F(EditJournalTest, WhatIsNotAllThereSaysThatNothingWasChanged) {
  {
    ASSERT_TRUE(EditJournal::Begin(edits_, Entries(), false));
  }
  const std::string path = Files().at(0);
  const std::string whole = testing::ReadText(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    testing::WriteText(path, whole.substr(0, size));
    EXPECT_TRUE(FindUnfinished(edits_).empty()) << size;
    EXPECT_TRUE(Files().empty());
  }
  for (const char* none : {"[]\n", "{}\n", "[{}]\n", "[{\"root\":1}]\n"}) {
    testing::WriteText(path, none);
    EXPECT_TRUE(FindUnfinished(edits_).empty()) << none;
  }
  testing::WriteText(path, whole);
  EXPECT_EQ(FindUnfinished(edits_).size(), 1u);
}

TEST_F(EditJournalTest, WithoutAPlaceThereIsNone) {
  testing::WriteText(edits_, "a file");
  EXPECT_FALSE(EditJournal::Begin(edits_, Entries(), false));
}

TEST_F(EditJournalTest, WhatIsNotNamedLikeOneStays) {
  testing::WriteText(edits_ + "/notes", "precious");
  testing::WriteText(edits_ + "/journal-x", "of which nothing was changed");
  EXPECT_TRUE(FindUnfinished(edits_).empty());
  EXPECT_EQ(Files(), std::vector<std::string>{edits_ + "/notes"});
}

}  // namespace
}  // namespace pa
