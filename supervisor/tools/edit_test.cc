// edit with the real worker, in the real sandbox.
#include "supervisor/tools/edit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "base/digest.h"
#include "base/json_writer.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/state/edit_journal.h"
#include "tests/support/tool_fixture.h"
#include "worker/spec.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

struct OneEdit {
  std::string path, from, to;
  bool all = false;
  std::string expected = "";
};

class EditTest : public ToolFixture {
 protected:
  ToolResult Edit(const std::vector<OneEdit>& edits, bool dry_run = false) {
    JsonWriter w;
    w.BeginObject().Key("edits").BeginArray();
    for (const OneEdit& edit : edits) {
      w.BeginObject().Field("path", edit.path).Field("old", edit.from).Field("new", edit.to);
      if (edit.all) w.Field("replace_all", true);
      if (!edit.expected.empty()) w.Field("expected_sha256", edit.expected);
      w.EndObject();
    }
    w.EndArray();
    if (dry_run) w.Field("dry_run", true);
    return Call("edit", std::move(w.EndObject()).Take());
  }
  const std::string edits_ = base_ / "state/project-actions/edits";
  std::vector<std::string> Journals() {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(edits_, ignored)) {
      names.push_back(entry.path());
    }
    return names;
  }
};

TEST_F(EditTest, OnePassageOfOneFile) {
  Write("a.c", "int main() {\n  return 1;\n}\n");
  const ToolResult result = Edit({{"a.c", "return 1;", "return 0;"}});
  const std::string after = "int main() {\n  return 0;\n}\n";
  EXPECT_EQ(Read("a.c"), after);
  const JsonValue data = Data(result);
  const std::string diff =
      "--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,3 @@\n int main() {\n-  return 1;\n+  return 0;\n }\n";
  EXPECT_EQ(data.Find("diff")->AsString(), diff);
  EXPECT_EQ(data.Find("sha256")->AsString(), HashOf(after));
  const JsonValue& file = data.Find("files")->Items().at(0);
  EXPECT_EQ(file.Find("path")->AsString(), "a.c");
  EXPECT_EQ(file.Find("replaced")->AsInteger(), 1);
  EXPECT_EQ(file.Find("sha256"), nullptr);  // it stands in data, and nothing stands twice
  EXPECT_EQ(result.text,
            "replaced 1 passage in 1 file\na.c: sha256 " + HashOf(after) + "\n" + diff);
}

TEST_F(EditTest, SeveralInTheirOrderInSeveralFiles) {
  Write("a", "1 2 3\n");
  Write("src/b", "x x\n");
  const JsonValue data = Data(Edit({{"a", "1", "one"},
                                    {"src/b", "x", "y", true},
                                    {"./a", "one 2", "3 4"},
                                    {(project_ / "a").string(), " 3\n", "\n"}}));
  EXPECT_EQ(Read("a"), "3 4\n");
  EXPECT_EQ(Read("src/b"), "y y\n");
  ASSERT_EQ(data.Find("files")->Items().size(), 2u);
  EXPECT_EQ(data.Find("files")->Items()[0].Find("replaced")->AsInteger(), 3);
  EXPECT_EQ(data.Find("files")->Items()[0].Find("sha256")->AsString(), HashOf("3 4\n"));
  EXPECT_EQ(data.Find("files")->Items()[1].Find("replaced")->AsInteger(), 2);
  EXPECT_EQ(data.Find("files")->Items()[1].Find("sha256")->AsString(), HashOf("y y\n"));
  EXPECT_EQ(data.Find("sha256"), nullptr);
  EXPECT_TRUE(Journals().empty());
  EXPECT_EQ(Everything(), (std::vector<std::string>{"a", "src", "src/b"}));
}

TEST_F(EditTest, AMissShowsWhatIsNearest) {
  Write("a.c", "int main() {\n\treturn 0;\n}\n");
  const ToolResult result = Edit({{"a.c", "int main() {\n  return 0;\n}\n", "x"}});
  EXPECT_EQ(Code(result), "NO_MATCH");
  EXPECT_NE(result.text.find("edits[0]: `old` does not occur in a.c"), std::string::npos)
      << result.text;
  const std::string nearest =
      "--- lines 1 to 3 of the file\n+++ the argument 'old'\n@@ -1,3 +1,3 @@\n int main() {\n"
      "-\treturn 0;\n+  return 0;\n }\n";
  EXPECT_EQ(ParseJson(result.error->details)->Find("nearest")->AsString(), nearest);
  EXPECT_NE(result.text.find(nearest), std::string::npos) << result.text;
}

TEST_F(EditTest, AMissTellsWhatIsHardToSee) {
  Write("a.md", "# x\n\tsay \xe2\x80\x9chi\xe2\x80\x9d\n");
  const ToolResult result = Edit({{"a.md", "  say \"hi\"", "x"}});
  EXPECT_EQ(result.error->message,
            "edits[0]: `old` does not occur in a.md; it is on line 2 but for blanks, quotes or "
            "dashes");
  EXPECT_NE(result.text.find("blanks: line 2, column 1 has tab, `old` has 2 spaces; quotes or "
                             "dashes: line 2, column 6 has U+201C"),
            std::string::npos)
      << result.text;
  const JsonValue details = *ParseJson(result.error->details);
  ASSERT_EQ(details.Find("differences")->Items().size(), 2u);
  EXPECT_EQ(details.Find("differences")->Items()[0].Find("file")->AsString(), "tab");
  EXPECT_EQ(ParseJson(Edit({{"a.md", "else", "x"}}).error->details)->Find("differences"), nullptr);
}

TEST_F(EditTest, SeveralAreNamed) {
  Write("a", "x\ny\nx\n");
  const ToolResult result = Edit({{"a", "x", "z"}});
  EXPECT_EQ(Code(result), "AMBIGUOUS_MATCH");
  EXPECT_NE(result.text.find("2 times, on lines 1, 3"), std::string::npos) << result.text;
  EXPECT_EQ(ParseJson(result.error->details)->Find("lines")->Items().size(), 2u);
  EXPECT_EQ(Read("a"), "x\ny\nx\n");
}

TEST_F(EditTest, AllOrNothing) {
  Write("a", "1\n");
  Write("b", "2\n");
  EXPECT_EQ(Code(Edit({{"a", "1", "x"}, {"b", "3", "y"}})), "NO_MATCH");
  EXPECT_EQ(Code(Edit({{"a", "1", "x"}, {"none", "3", "y"}})), "NOT_FOUND");
  EXPECT_EQ(Code(Edit({{"a", "1", "x"}, {"a", "1", "y"}})), "NO_MATCH");
  EXPECT_EQ(Code(Edit({{"a", "1", "x"}, {"b", "2", "y", false, HashOf("other")}})), "STALE_FILE");
  EXPECT_EQ(Read("a") + Read("b"), "1\n2\n");
}

// The second cannot be written, which shows when the first has been.
TEST_F(EditTest, WhatWasWrittenIsPutBack) {
  Write("a", "1\n");
  Write("b", "2\n");
  chmod((project_ / "b").c_str(), 0444);
  int writes = 0;
  on_spec_ = [&](const std::string& spec) {
    if (worker::DecodeSpec(spec)->action == worker::Action::kWriteFile && ++writes == 2) {
      EXPECT_EQ(Read("a"), "x\n");
      EXPECT_EQ(Journals().size(), 1u);
    }
  };
  EXPECT_EQ(Code(Edit({{"a", "1", "x"}, {"b", "2", "y"}})), "FILE_IO");
  EXPECT_EQ(writes, 4) << "a, b, and both again";
  EXPECT_EQ(Read("a") + Read("b"), "1\n2\n");
  EXPECT_TRUE(Journals().empty());
  EXPECT_EQ(Everything(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(EditTest, ADryRunChangesNothing) {
  Write("a", "1\n");
  const JsonValue data = Data(Edit({{"a", "1", "x"}}, true));
  EXPECT_TRUE(data.Find("dry_run")->AsBool());
  EXPECT_EQ(data.Find("diff")->AsString(), "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+x\n");
  EXPECT_EQ(data.Find("sha256")->AsString(), HashOf("x\n"));
  EXPECT_EQ(Read("a"), "1\n");
}

TEST_F(EditTest, EverythingElseStays) {
  const std::string file = "\xEF\xBB\xBFone\r\ntwo\nthree\r\nlast";
  Write("a", file);
  fs::permissions(project_ / "a", fs::perms(0751));
  Data(Edit({{"a", "one\ntwo", "one\n2"}, {"a", "last", "last\nmore"}}));
  EXPECT_EQ(Read("a"), "\xEF\xBB\xBFone\r\n2\nthree\r\nlast\r\nmore");
  EXPECT_EQ(fs::status(project_ / "a").permissions(), fs::perms(0751));
  const std::string wide("\xFF\xFE\x61\0\x62\0", 6);
  Write("wide", wide);
  Data(Edit({{"wide", "b", "c"}}));
  EXPECT_EQ(Read("wide"), std::string("\xFF\xFE\x61\0\x63\0", 6));
}

TEST_F(EditTest, WhatCannotBeMeantIsRefused) {
  Write("a", "1\n");
  EXPECT_EQ(Code(Edit({{"a", "", "x"}})), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Edit({{"a", "1", "1"}})), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Edit({{"a", "1", "x", false, "abc"}})), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Edit({{"", "1", "x"}})), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Edit({})), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Call("edit", R"({"edits":[{"path":"a","old":"1"}]})")), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Call("edit", R"({"edits":[1]})")), "INVALID_ARGUMENT");
  Write("bytes", std::string("1\0", 2));
  EXPECT_EQ(Code(Edit({{"bytes", "1", "x"}})), "BINARY_FILE");
  Write("large", std::string((16 << 20) + 1, 'x'));
  EXPECT_EQ(Code(Edit({{"large", "1", "x"}})), "FILE_TOO_LARGE");
  const ToolResult second = Edit({{"a", "1", "x"}, {"a", "", "x"}});
  EXPECT_NE(second.text.find("edits[1]: "), std::string::npos) << second.text;
}

TEST_F(EditTest, NothingOutsideAndNothingProtected) {
  testing::WriteText(base_ / "outside/file", "1\n");
  fs::create_symlink("../outside/file", project_ / "way");
  Write(".git/config", "1\n");
  Write("secrets/key", "1\n");
  policy_->permissions.push_back({.tool = "edit",
                                  .path = "secrets",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  EXPECT_EQ(Code(Edit({{"way", "1", "x"}})), "INVALID_PATH");
  EXPECT_EQ(Code(Edit({{".git/config", "1", "x"}})), "POLICY_DENIED");
  EXPECT_EQ(Code(Edit({{"secrets/key", "1", "x"}})), "POLICY_DENIED");
  EXPECT_EQ(Code(Edit({{"secrets/key", "1", "x"}}, true)), "POLICY_DENIED");
  EXPECT_EQ(testing::ReadText(base_ / "outside/file") + Read(".git/config") + Read("secrets/key"),
            "1\n1\n1\n");
}

// Another one writes between our reading and our writing: the passage is still there, so nothing is
// lost.
TEST_F(EditTest, WhoIsFasterLosesNothing) {
  Write("a", "1 2\n");
  int writes = 0;
  on_spec_ = [&](const std::string& spec) {
    const bool ours = worker::DecodeSpec(spec)->action == worker::Action::kWriteFile;
    if (ours && ++writes == 1) Write("a", "1 two\n");
  };
  Data(Edit({{"a", "1", "one"}}));
  EXPECT_EQ(Read("a"), "one two\n");
  EXPECT_EQ(writes, 2);
  on_spec_ = [&](const std::string&) { Write("a", "one " + std::to_string(++writes) + "\n"); };
  EXPECT_EQ(Code(Edit({{"a", "one", "1"}})), "STALE_FILE") << "always";
}

// While it waits nothing of the file is open: what has its name when its turn comes is looked at
// anew, and a symlink is another file's name, of which nobody was asked.
TEST_F(EditTest, WhatHasTheNameWhenTheTurnComesIsLookedAtAnew) {
  for (const bool symlink : {false, true}) {
    Write("a", "old\n");
    Write("b/other", "elsewhere\n");
    FileTurns& turns = runner_->file_turns();
    const FileTurns::Ticket first = turns.Enter({(project_ / "a").string()}, [] {});
    TimerHandle timer(&loop_);
    const std::function<void()> swap = [&] {
      if (turns.waiting() == 0) return timer.Start(std::chrono::milliseconds(1), swap);
      fs::remove(project_ / "a");
      symlink ? fs::create_symlink("b/other", project_ / "a") : Write("a", "another, old\n");
      turns.Leave(first);
    };
    timer.Start(std::chrono::milliseconds(1), swap);
    const ToolResult result = Edit({{"a", "old", "new"}});
    EXPECT_EQ(Code(result), symlink ? "NOT_FOUND" : "") << result.text;
    EXPECT_EQ(Read("a"), symlink ? "elsewhere\n" : "another, new\n");
    EXPECT_EQ(fs::is_symlink(project_ / "a"), symlink);
    EXPECT_EQ(Read("b/other"), "elsewhere\n");
    fs::remove(project_ / "a");
  }
}

TEST_F(EditTest, WhatIsNotSyncedIsPutBackAndSaysSo) {
  UseWorkerThatFails("sync file");
  Write("a", "old");
  const ToolResult result = Edit({{"a", "old", "new"}});
  ASSERT_EQ(Code(result), "FILE_IO");
  EXPECT_TRUE(result.error->message.ends_with("; so the old contents were restored"))
      << result.error->message;
  EXPECT_EQ(Read("a"), "old");
}

TEST_F(EditTest, WhoWaitsForAFileSaysHowManyAreBeforeHim) {
  Write("a", "old");
  FileTurns& turns = runner_->file_turns();
  const FileTurns::Ticket first = turns.Enter({(project_ / "a").string()}, [] {});
  TimerHandle timer(&loop_);
  std::size_t told = 0;
  const std::function<void()> look = [&] {
    if (turns.waiting() == 0) return timer.Start(std::chrono::milliseconds(1), look);
    told = running_->run.queue.calls_before();
    turns.Leave(first);
  };
  timer.Start(std::chrono::milliseconds(1), look);
  Data(Edit({{"a", "old", "new"}}));
  EXPECT_EQ(told, 1U);
  EXPECT_FALSE(record_.run.queue.calls_before);
}

// Where commands can write, a symlink of theirs would say where the server makes and removes files.
TEST_F(EditTest, AStateDirectoryInTheProjectKeepsNoJournal) {
  policy_->roots.push_back(base_ / "state");
  testing::WriteText(base_ / "outside/journal-x", "somebody's");
  fs::create_directories(fs::path(edits_).parent_path());
  fs::create_directory_symlink(base_ / "outside", edits_);
  Write("a", "1");
  Write("b", "2");
  const ToolResult refused = Edit({{"a", "1", "x"}, {"b", "2", "y"}});
  EXPECT_EQ(Code(refused), "FILE_IO");
  EXPECT_NE(refused.error->ai_message.find("XDG_STATE_HOME"), std::string::npos);
  EXPECT_EQ(Read("a") + Read("b"), "12");
  Data(Edit({{"a", "1", "x"}}));
  EXPECT_EQ(Read("a"), "x");
  EXPECT_EQ(testing::ReadText(base_ / "outside/journal-x"), "somebody's");
  EXPECT_EQ(Journals().size(), 1u);
}

// Of what is in a repository, most is no protected path; the journal is no way into it.
TEST_F(EditTest, NothingInARepositoryIsPutBack) {
  const std::vector<std::string> inside = {".git/description", "sub/.git/description"};
  const auto begin = [&](const std::string& name) {
    Write(name, "new");
    // With one that was not reached: what all of its files have is done, and stays.
    const std::vector<JournalEntry> entries = {{project_, name, Sha256Of("new"), "old"},
                                               {project_, "other", Sha256Of("new"), "old"}};
    ASSERT_TRUE(EditJournal::Begin(edits_, entries, false));
  };
  Write("other", "old");
  for (const std::string& name : inside) begin(name);
  begin("description");
  Write("a", "1");
  Data(Edit({{"a", "1", "x"}}));
  for (const std::string& name : inside) EXPECT_EQ(Read(name), "new") << name;
  EXPECT_EQ(Read("description"), "old");
}

// A journal is no way to write what may not be written.
TEST_F(EditTest, WhatNobodyMayWriteIsNotPutBack) {
  Write(".git/config", "new");
  testing::WriteText(base_ / "outside/file", "new");
  const std::vector<JournalEntry> entries = {{project_, ".git/config", Sha256Of("new"), "old"},
                                             {base_ / "outside", "file", Sha256Of("new"), "old"},
                                             {project_, "../outside/file", Sha256Of("new"), "old"}};
  for (const JournalEntry& entry : entries) {
    {
      ASSERT_TRUE(EditJournal::Begin(edits_, {&entry, 1}, false));
    }
  }
  Write("a", "1");
  Data(Edit({{"a", "1", "x"}}));
  EXPECT_EQ(Read(".git/config"), "new");
  EXPECT_EQ(testing::ReadText(base_ / "outside/file"), "new");
  EXPECT_EQ(Journals().size(), 3u) << "it is somebody else's to decide";
}

}  // namespace
}  // namespace pa
