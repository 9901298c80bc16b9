// What a dead server has left of an edit, with the real worker, in the real sandbox.
#include "supervisor/tools/undo_edits.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/json_writer.h"
#include "supervisor/state/edit_journal.h"
#include "tests/support/syncs.h"
#include "tests/support/tool_fixture.h"
#include "worker/spec.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class UndoEditsTest : public ToolFixture {
 protected:
  // `from` becomes `to` in a and b; what there is to undo is undone first.
  ToolResult Edit(const std::string& from, const std::string& to) {
    JsonWriter w;
    w.BeginObject().Key("edits").BeginArray();
    for (const char* file : {"a", "b"}) {
      w.BeginObject().Field("path", file).Field("old", from).Field("new", to).EndObject();
    }
    w.EndArray().EndObject();
    return Call("edit", std::move(w).Take());
  }
  // Of another file.
  ToolResult EditX() {
    Write("x", "1");
    return Call("edit", R"({"edits":[{"path":"x","old":"1","new":"2"}]})");
  }
  JournalEntry Entry(const std::string& file) {
    return {project_, file, Sha256Of("new " + file), "old " + file};
  }
  // As after the death of a server.
  void LeaveJournal(const std::vector<JournalEntry>& entries) {
    ASSERT_TRUE(EditJournal::Begin(edits_, entries, false));
  }
  std::vector<std::string> Journals() {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(edits_, ignored)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  // What the writer of a file writes to first (worker/write_file.cc).
  static std::string TempOf(const std::string& file) { return ".pa-" + HashOf(file).substr(0, 16); }
  const std::string edits_ = base_ / "state/project-actions/edits";
};

// Begin, end, and what is put back or kept of a dead server's: the disk has it, and nobody else
// waits for that.
TEST_F(UndoEditsTest, TheLoopDoesNotWaitForTheDisk) {
  Write("a", "1");
  Write("b", "1");
  const auto elsewhere_only = [](const auto& work) {
    const testing::Syncs before = testing::SyncsUntilNow();
    work();
    const testing::Syncs after = testing::SyncsUntilNow();
    EXPECT_EQ(after.here, before.here);
    return after.elsewhere - before.elsewhere;
  };
  EXPECT_GE(elsewhere_only([&] { Data(Edit("1", "2")); }), 3) << "its content, its name, its end";
  Write("a", "new a");
  Write("b", "old b");
  LeaveJournal({Entry("a"), Entry("b")});
  EXPECT_GE(elsewhere_only([&] { EXPECT_TRUE(EditX().warnings.empty()); }), 1);
  Write("b", "mine");
  LeaveJournal({Entry("a"), Entry("b")});
  EXPECT_GE(elsewhere_only([&] { EXPECT_EQ(EditX().warnings.size(), 1u); }), 1);
}

TEST_F(UndoEditsTest, WhatIsHalfDoneIsPutBack) {
  Write("a", "new a");
  Write("b", "old b");
  LeaveJournal({Entry("a"), Entry("b")});
  EXPECT_TRUE(EditX().warnings.empty());
  EXPECT_EQ(Read("a") + ", " + Read("b"), "old a, old b");
  EXPECT_TRUE(Journals().empty());
}

// Its server lacked only the time to say so; and whoever went on working with the files did so
// knowingly.
TEST_F(UndoEditsTest, WhatIsDoneStays) {
  Write("a", "new a");
  Write("b", "new b");
  LeaveJournal({Entry("a"), Entry("b")});
  EXPECT_TRUE(EditX().warnings.empty());
  EXPECT_EQ(Read("a") + ", " + Read("b"), "new a, new b");
  EXPECT_TRUE(Journals().empty());
}

TEST_F(UndoEditsTest, NothingIsPutBackWhereSomebodyHasWorkedSince) {
  Write("a", "new a");
  for (const bool gone : {false, true}) {
    Write("b", "old b, and more");
    if (gone) fs::remove(project_ / "b");
    LeaveJournal({Entry("a"), Entry("b")});
    const ToolResult result = EditX();
    EXPECT_EQ(Read("a"), "new a");
    ASSERT_EQ(result.warnings.size(), 1u);
    ASSERT_EQ(Journals().size(), 1u);
    EXPECT_TRUE(Journals()[0].starts_with("kept-"));
    EXPECT_NE(result.warnings[0].find(edits_ + "/" + Journals()[0]), std::string::npos);
    EXPECT_NE(result.warnings[0].find((project_ / "b").string() + " was changed"),
              std::string::npos);
    // For good: also when the files are by chance what they were.
    Write("b", "old b");
    EXPECT_TRUE(EditX().warnings.empty());
    EXPECT_EQ(Read("a"), "new a");
    EXPECT_NE(testing::ReadText(edits_ + "/" + Journals()[0]).find("old aold b"),
              std::string::npos);
    fs::remove(edits_ + "/" + Journals()[0]);
  }
}

// The journal's file is the one of that name, not one that a symlink leads to since.
TEST_F(UndoEditsTest, NothingIsPutBackThroughASymlink) {
  fs::create_directories(project_ / "elsewhere");
  Write("elsewhere/a", "new d/a");
  fs::create_directory_symlink("elsewhere", project_ / "d");
  Write("b", "old b");
  LeaveJournal({Entry("d/a"), Entry("b")});
  const ToolResult result = EditX();
  EXPECT_EQ(Read("elsewhere/a"), "new d/a");
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find((project_ / "d/a").string() + " was changed"),
            std::string::npos)
      << result.warnings[0];
}

// The directory lets nothing be made in it, so neither edit nor putting back can write.
TEST_F(UndoEditsTest, AnEditThatChangedNothingLeavesNoJournal) {
  Write("a", "1");
  Write("b", "1");
  const auto edit_fails = [&] {
    on_spec_ = [&](const std::string& spec) {
      if (worker::DecodeSpec(spec)->action != worker::Action::kWriteFile) return;
      // No file of ours, so it is not removed, and nothing can be written beside it.
      fs::create_directories(project_ / TempOf("a"));
    };
    const ToolResult result = Edit("1", "2");
    on_spec_ = nullptr;
    fs::remove(project_ / TempOf("a"));
    return Code(result);
  };
  EXPECT_EQ(edit_fails(), "FILE_IO");
  EXPECT_EQ(Read("a") + Read("b"), "11");
  EXPECT_TRUE(Journals().empty());
  // Else what somebody does by hand would be put back.
  Write("a", "2");
  EXPECT_TRUE(EditX().warnings.empty());
  EXPECT_EQ(Read("a"), "2");
}

// The first is written, then nothing can be.
TEST_F(UndoEditsTest, OnlyWhatCouldNotBePutBackIsLeft) {
  Write("a", "1");
  Write("b", "1");
  int writes = 0;
  on_spec_ = [&](const std::string& spec) {
    if (worker::DecodeSpec(spec)->action != worker::Action::kWriteFile || ++writes != 2) return;
    for (const char* file : {"a", "b"}) fs::create_directories(project_ / TempOf(file));
  };
  const ToolResult result = Edit("1", "2");
  on_spec_ = nullptr;
  for (const char* file : {"a", "b"}) fs::remove(project_ / TempOf(file));
  EXPECT_EQ(Code(result), "FILE_IO");
  EXPECT_EQ(Read("a") + Read("b"), "21");
  ASSERT_EQ(Journals().size(), 1u);
  // b was never written: that somebody does the same by hand is none of the edit's.
  Write("b", "2");
  EXPECT_TRUE(EditX().warnings.empty());
  EXPECT_EQ(Read("a") + Read("b"), "12");
  EXPECT_TRUE(Journals().empty());
}

// Not removable, as in a directory on a file system that became read-only; for root, too: a mark in
// the file.
TEST_F(UndoEditsTest, AJournalThatCannotBeRemovedSaysThatItIsDone) {
  Write("a", "1");
  Write("b", "1");
  const std::string aside = edits_ + ".aside";
  int writes = 0;
  std::string name;
  on_spec_ = [&](const std::string& spec) {
    if (worker::DecodeSpec(spec)->action != worker::Action::kWriteFile || ++writes != 2) return;
    fs::rename(edits_, aside);  // whoever has it open can write to it, but nobody finds it
  };
  const ToolResult result = Edit("1", "2");
  on_spec_ = nullptr;
  EXPECT_FALSE(result.error) << result.text;
  fs::rename(aside, edits_);
  ASSERT_EQ(Journals().size(), 1u) << "the test is about one that stays";
  Write("b", "1");  // now it looks like an edit that came to its half
  EXPECT_TRUE(EditX().warnings.empty());
  EXPECT_EQ(Read("a") + Read("b"), "21");
  EXPECT_TRUE(Journals().empty());
}

// Its server had another root, too, which this one has not: half an edit that nobody would ever put
// back.
TEST_F(UndoEditsTest, WhatIsOnlyPartlyOursIsKeptAndTold) {
  Write("a", "new a");
  const std::string elsewhere = base_ / "outside";
  LeaveJournal({Entry("a"), {elsewhere, "b", Sha256Of("new b"), "old b"}});
  for (int time = 0; time < 2; ++time) {
    const ToolResult result = EditX();
    ASSERT_EQ(result.warnings.size(), 1u);
    for (const std::string& said : {edits_ + "/" + Journals().at(0), elsewhere + "/b",
                                    std::string("outside the policy's roots")}) {
      EXPECT_NE(result.warnings[0].find(said), std::string::npos) << result.warnings[0];
    }
    EXPECT_EQ(Read("a"), "new a");
  }
}

TEST_F(UndoEditsTest, WhatCannotBeReadIsKeptAndTold) {
  Write("a", "new a");
  Write("b", "old b");
  LeaveJournal({Entry("a"), Entry("b")});
  const std::string path = edits_ + "/" + Journals().at(0);
  const std::string whole = testing::ReadText(path);
  for (const std::string& text : {whole.substr(0, whole.size() - 1), std::string(),
                                  std::string("project-actions edit 2 cc\n")}) {
    testing::WriteText(path, text);
    const ToolResult result = EditX();
    ASSERT_EQ(result.warnings.size(), 1u) << text;
    EXPECT_NE(result.warnings[0].find(path), std::string::npos);
    EXPECT_EQ(testing::ReadText(path), text);
    EXPECT_EQ(Read("a"), "new a");
  }
}

}  // namespace
}  // namespace pa
