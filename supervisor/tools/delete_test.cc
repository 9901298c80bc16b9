// delete with the real worker, in the real sandbox.
#include "supervisor/tools/delete.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/json_writer.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/state/trash.h"
#include "tests/support/run_until.h"
#include "tests/support/syncs.h"
#include "tests/support/tool_fixture.h"
#include "worker/spec.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class DeleteTest : public ToolFixture {
 protected:
  ToolResult Delete(const std::string& path, bool recursive = false, bool dry_run = false) {
    JsonWriter w;
    w.BeginObject().Field("path", path);
    if (recursive) w.Field("recursive", true);
    if (dry_run) w.Field("dry_run", true);
    return Call("delete", std::move(w.EndObject()).Take());
  }
  bool Exists(const std::string& name) { return fs::exists(fs::symlink_status(project_ / name)); }
  const std::string trash_ = base_ / "state/project-actions/trash";
  std::vector<TrashEntry> Trash() {
    const std::vector<std::string> bases = {trash_, project_ / kProjectTrash};
    std::vector<std::string> unreadable;
    return ListTrash(bases, unreadable);
  }
};

TEST_F(DeleteTest, AFileGoesToTheTrashAndComesBack) {
  Write("src/a", "content");
  const ToolResult result = Delete("src/a");
  const JsonValue data = Data(result);
  EXPECT_EQ(data.Find("path")->AsString(), "src/a");
  EXPECT_EQ(data.Find("kind")->AsString(), "file");
  EXPECT_FALSE(Exists("src/a"));
  ASSERT_EQ(Trash().size(), 1u);
  const TrashEntry entry = Trash()[0];
  EXPECT_EQ(data.Find("trash_id")->AsString(), entry.id);
  EXPECT_EQ(entry.path, project_ / "src/a");
  EXPECT_NE(result.text.find("project-actions trash restore " + entry.id), std::string::npos);
  ASSERT_TRUE(RestoreTrash(entry, policy_->roots));
  EXPECT_EQ(Read("src/a"), "content");
}

TEST_F(DeleteTest, ADirectoryWithAllThatIsInIt) {
  Write("dir/a", "1");
  Write("dir/sub/b", "2");
  EXPECT_EQ(Code(Delete("dir")), "INVALID_ARGUMENT");
  EXPECT_TRUE(Exists("dir/sub/b"));
  const JsonValue looked = Data(Delete("dir", true, true));
  EXPECT_TRUE(looked.Find("dry_run")->AsBool());
  EXPECT_EQ(looked.Find("names")->Items().size(), 3u);
  EXPECT_TRUE(Exists("dir/sub/b"));
  EXPECT_TRUE(Trash().empty());
  const JsonValue data = Data(Delete("dir/", true));
  EXPECT_EQ(data.Find("files")->AsInteger(), 2);
  EXPECT_EQ(data.Find("directories")->AsInteger(), 1);
  EXPECT_FALSE(Exists("dir"));
  ASSERT_TRUE(RestoreTrash(Trash().at(0), policy_->roots));
  EXPECT_EQ(Read("dir/sub/b"), "2");
}

// The loop sees nothing of the worker's end before it is cancelled.
TEST_F(DeleteTest, WhatIsGoneIsDeletedThoughTheCallWasCancelled) {
  Write("a", "content");
  TimerHandle timer(&loop_);
  const std::function<void()> watch = [&] {
    for (int i = 0; i < 200 && Exists("a"); ++i) usleep(50);
    if (Exists("a")) return timer.Start(std::chrono::milliseconds(1), watch);
    cancel_.Cancel();
  };
  on_spec_ = [&](const std::string&) { timer.Start(std::chrono::milliseconds(0), watch); };
  ToolResult result = Delete("a");
  // Or the loop saw it: the worker was quick between two looks.
  for (int i = 0; i < 100 && !cancel_.cancelled(); ++i) {
    fs::remove_all(Trash().at(0).directory);
    Write("a", "content");
    result = Delete("a");
  }
  EXPECT_TRUE(cancel_.cancelled());
  EXPECT_FALSE(Exists("a"));
  ASSERT_EQ(Trash().size(), 1u);
  EXPECT_EQ(Data(result).Find("trash_id")->AsString(), Trash()[0].id);
}

TEST_F(DeleteTest, OfASymlinkTheSymlink) {
  testing::WriteText(base_ / "outside/precious", "x");
  fs::create_symlink("../outside/precious", project_ / "link");
  fs::create_directory_symlink("../outside", project_ / "way");
  EXPECT_EQ(Code(Delete("way/precious")), "INVALID_PATH");
  EXPECT_EQ(Data(Delete("link")).Find("kind")->AsString(), "symlink");
  EXPECT_EQ(Data(Delete("way", true)).Find("kind")->AsString(), "symlink");
  EXPECT_FALSE(Exists("link") || Exists("way"));
  EXPECT_EQ(testing::ReadText(base_ / "outside/precious"), "x");
}

TEST_F(DeleteTest, NeverTheRootNorWhatIsProtected) {
  for (const char* name :
       {".git/HEAD", ".git/config", "bin/hook", "sub/.git/HEAD", "log/audit.jsonl"}) {
    Write(name, "x");
  }
  fs::create_directories(project_ / ".git/hooks");
  fs::create_directories(project_ / ".git/objects");
  fs::create_directories(project_ / ".git/refs");
  policy_->protect.push_back({"bin/hook", "policy filesystem.protect"});
  policy_->audit.path = project_ / "log/audit.jsonl";
  for (const std::string path : {"", ".", "/", "sub/.."}) {
    EXPECT_EQ(Code(Delete(path, true)), "INVALID_ARGUMENT") << path;
  }
  EXPECT_NE(Code(Delete(project_, true)), "");
  for (const char* path :
       {".git", ".git/config", ".git/hooks", "sub/.git", "bin/hook", "bin", "log"}) {
    EXPECT_EQ(Code(Delete(path, true)), "POLICY_DENIED") << path;
    EXPECT_EQ(Code(Delete(path, true, true)), "POLICY_DENIED") << path;
  }
  for (const char* name : {"bare/HEAD", "bare/objects/x", "bare/refs/x"}) Write(name, "x");
  for (const char* path : {"bare", "bare/HEAD", "bare/objects"}) {
    EXPECT_EQ(Code(Delete(path, true)), "POLICY_DENIED") << path;
  }
  EXPECT_TRUE(Trash().empty());
  EXPECT_EQ(Code(Delete("sub", true)), "") << "a repository beneath is the project's";
}

TEST_F(DeleteTest, ARootWithinAnother) {
  fs::create_directories(project_ / "a/b");
  policy_->roots.push_back(project_ / "a/b");
  EXPECT_EQ(Code(Delete("a", true)), "POLICY_DENIED");
  EXPECT_EQ(Code(Delete("a/b", true)), "POLICY_DENIED");
}

// Whoever may not delete a file may not delete the directory with it.
TEST_F(DeleteTest, RulesHoldForWhatIsInADirectory) {
  Write("dir/secrets/key", "x");
  Write("other/a", "x");
  policy_->permissions.push_back({.tool = "delete",
                                  .path = "secrets",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  EXPECT_EQ(Code(Delete("dir/secrets/key")), "POLICY_DENIED");
  EXPECT_EQ(Code(Delete("dir/secrets", true)), "POLICY_DENIED");
  const ToolResult refused = Delete("dir", true);
  EXPECT_EQ(Code(refused), "POLICY_DENIED");
  EXPECT_NE(refused.text.find("no - by policy"), std::string::npos) << refused.text;
  EXPECT_TRUE(Exists("dir/secrets/key"));
  EXPECT_EQ(Code(Delete("other", true)), "");
}

// What could not be looked at could be what the rule is about.
TEST_F(DeleteTest, WhatIsTooDeepToBeHeldAgainstRulesStays) {
  std::string deep = "deep";
  for (int i = 0; i < 200; ++i) deep += "/d";
  Write(deep + "/file", "x");
  Write("shallow/file", "x");
  policy_->permissions.push_back({.tool = "delete",
                                  .path = "secrets",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  const ToolResult refused = Delete("deep", true);
  EXPECT_EQ(Code(refused), "FILE_IO");
  EXPECT_NE(refused.text.find("rules by path"), std::string::npos) << refused.text;
  EXPECT_TRUE(Exists(deep + "/file"));
  EXPECT_EQ(Code(Delete("shallow", true)), "");
  policy_->permissions.clear();
  EXPECT_EQ(Code(Delete("deep", true)), "") << "without rules there is nothing to hold it against";
}

TEST_F(DeleteTest, NothingOutsideAndNothingThatIsNotThere) {
  testing::WriteText(base_ / "outside/file", "x");
  EXPECT_EQ(Code(Delete("../outside/file")), "INVALID_PATH");
  EXPECT_EQ(Code(Delete((base_ / "outside/file").string())), "INVALID_PATH");
  EXPECT_EQ(Code(Delete("none")), "NOT_FOUND");
  const ToolResult nowhere = Delete("none/file");
  EXPECT_EQ(Code(nowhere), "NOT_FOUND");
  EXPECT_EQ(nowhere.error->message, "cannot delete none/file: the directory none does not exist");
  EXPECT_EQ(nowhere.error->ai_message, "glob finds names.");
  EXPECT_TRUE(Trash().empty());
  std::error_code ignored;
  EXPECT_TRUE(!fs::exists(trash_) || fs::is_empty(trash_, ignored))
      << "nothing is left of what was not deleted";
}

// Where the state directory cannot be used, the project has a trash of its own.
TEST_F(DeleteTest, AnotherTrash) {
  testing::WriteText(base_ / "state", "a file");
  Write("a", "x");
  const ToolResult result = Delete("a");
  Data(result);
  EXPECT_EQ(result.text.find("days"), std::string::npos) << "nobody empties it: " << result.text;
  ASSERT_EQ(Trash().size(), 1u);
  EXPECT_TRUE(Trash()[0].directory.starts_with((project_ / kProjectTrash).string()));
  EXPECT_EQ(Code(Delete(kProjectTrash, true)), "POLICY_DENIED");
  EXPECT_EQ(Read(Trash()[0].directory.substr(project_.string().size() + 1) + "/.gitignore"), "*\n");
  ASSERT_TRUE(RestoreTrash(Trash()[0], policy_->roots));
  EXPECT_EQ(Read("a"), "x");
}

// A home that is the project: commands could exchange what the server is about to make there.
TEST_F(DeleteTest, AStateDirectoryInTheProjectIsNotUsed) {
  policy_->roots.push_back(base_ / "state");
  Write("a", "x");
  Data(Delete("a"));
  EXPECT_FALSE(fs::exists(trash_));
  EXPECT_EQ(Trash().size(), 1u);
}

// Of the project's trash a symlink leads nowhere.
TEST_F(DeleteTest, ATrashThatIsASymlinkIsNone) {
  testing::WriteText(base_ / "state", "a file");
  testing::WriteText(base_ / "outside/file", "x");
  fs::create_directory_symlink("../outside", project_ / kProjectTrash);
  Write("a", "x");
  EXPECT_NE(Code(Delete("a")), "");
  EXPECT_EQ(Read("a"), "x");
  EXPECT_EQ(std::distance(fs::directory_iterator(base_ / "outside"), fs::directory_iterator()), 1);
}

// The path is on the disk before the file is in the trash; nobody else waits for that.
TEST_F(DeleteTest, TheLoopDoesNotWaitForTheDisk) {
  for (const bool syncs : {true, false}) {
    policy_->filesystem_sync = syncs;
    Write("a", "x");
    if (!syncs) Data(Delete("a"));  // a directory that is new is synced all the same
    Write("a", "x");
    const testing::Syncs before = testing::SyncsUntilNow();
    Data(Delete("a"));
    const testing::Syncs after = testing::SyncsUntilNow();
    EXPECT_EQ(after.here, before.here);
    EXPECT_EQ(after.elsewhere > before.elsewhere, syncs);
  }
}

// Moved by a worker that could not sync, or was killed before it did: the supervisor does it, or
// says so.
TEST_F(DeleteTest, WhatIsNotKnownToBeOnTheDiskIsNotAcknowledged) {
  UseWorkerThatFails("sync file");
  Write("a", "1");
  policy_->filesystem_sync = false;
  Data(Delete("a"));
  policy_->filesystem_sync = true;
  Write("a", "2");
  const testing::Syncs before = testing::SyncsUntilNow();
  const std::string text = Delete("a").text;
  EXPECT_NE(text.find(", for 30 days\n"), std::string::npos) << text;
  constexpr int kOfTheEntry = 3;  // its info.json, its names
  EXPECT_EQ(testing::SyncsUntilNow().elsewhere - before.elsewhere, kOfTheEntry + 2);
  for (const int fails : {0, 1}) {
    Write("a", "3");
    testing::FailSyncsAfter(kOfTheEntry + fails);
    const ToolResult result = Delete("a");
    testing::FailSyncsAfter(-1);
    ASSERT_EQ(Code(result), "FILE_IO");
    EXPECT_NE(result.error->ai_message.find("a power failure could still lose it"),
              std::string::npos);
    EXPECT_NE(result.error->message.find("in the trash as "), std::string::npos);
    EXPECT_FALSE(Exists("a"));
  }
  EXPECT_EQ(Trash().size(), 4u) << "each still says where it was";
}

// Once an hour somebody looks: no delete pays for how many there are.
TEST_F(DeleteTest, WhatHasExpiredGoesForGood) {
  const auto old = [&] {
    const Result<TrashEntry> entry = BeginTrash(trash_, project_ / "old", 1000, false);
    testing::WriteText(entry->Content(), "x");
    return entry->directory;
  };
  const auto is_there_after_delete = [&](const std::string& directory) {
    Write("a", "x");
    Data(Delete("a"));
    // One goes after the other: with this one all that was discarded before it is gone.
    const fs::path last = base_ / "last";
    fs::create_directory(last);
    runner_->Discard(last);
    testing::RunUntil(&loop_, [&] { return !fs::exists(last); });
    return fs::exists(directory);
  };
  EXPECT_FALSE(is_there_after_delete(old()));
  EXPECT_EQ(Trash().size(), 1u);
  EXPECT_TRUE(is_there_after_delete(old()));
}

}  // namespace
}  // namespace pa
