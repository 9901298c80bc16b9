// write with the real worker, in the real sandbox.
#include "supervisor/tools/write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/unique_fd.h"
#include "tests/support/tool_fixture.h"
#include "worker/spec.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class WriteTest : public ToolFixture {
 protected:
  ToolResult Put(const std::string& path, const std::string& content,
                 const std::string& expected = "", const std::string& more = "") {
    JsonWriter w;
    w.BeginObject().Field("path", path).Field("content", content);
    if (!expected.empty()) w.Field("expected_sha256", expected);
    std::string arguments = std::move(w.EndObject()).Take();
    arguments.pop_back();
    return Call("write", arguments + more + "}");
  }
};

TEST_F(WriteTest, ANewFileAndOneThatIsReplaced) {
  const ToolResult created = Put("a.txt", "one\n");
  const JsonValue data = Data(created);
  EXPECT_EQ(data.Find("path")->AsString(), "a.txt");
  EXPECT_TRUE(data.Find("created")->AsBool());
  EXPECT_EQ(data.Find("size")->AsInteger(), 4);
  EXPECT_EQ(data.Find("sha256")->AsString(), HashOf("one\n"));
  EXPECT_EQ(created.text, "created a.txt: 4 bytes, sha256 " + HashOf("one\n") + "\n");
  EXPECT_EQ(Read("a.txt"), "one\n");
  const ToolResult replaced = Put("a.txt", "two\r\n\xc3\xa9", HashOf("one\n"));
  EXPECT_FALSE(Data(replaced).Find("created")->AsBool());
  EXPECT_EQ(Read("a.txt"), "two\r\n\xc3\xa9");
  EXPECT_EQ(Everything(), std::vector<std::string>{"a.txt"});
}

TEST_F(WriteTest, LinesThatEndInCrLfGoOnDoingSo) {
  Write("a", "one\r\ntwo\r\n");
  const ToolResult kept = Put("a", "1\n2\n", HashOf("one\r\ntwo\r\n"));
  EXPECT_EQ(Read("a"), "1\r\n2\r\n");
  EXPECT_EQ(Data(kept).Find("sha256")->AsString(), HashOf("1\r\n2\r\n"));
  EXPECT_EQ(Data(kept).Find("size")->AsInteger(), 6);
  EXPECT_EQ(kept.warnings,
            std::vector<std::string>{"the lines of the file ended in \\r\\n, so those of content "
                                     "were written with \\r\\n"});
  EXPECT_NE(kept.text.find("warning: the lines of the file"), std::string::npos) << kept.text;
  const struct {
    std::string old, content, warning;
  } cases[] = {
      {"a\nb\n", "c\r\n", "the line ends of the file changed from \\n to \\r\\n"},
      {"a\nb\r\n", "c\n", "the line ends of the file changed from \\n and \\r\\n to \\n"},
      {"a\r\n", "c\nd\r\n", "the line ends of the file changed from \\r\\n to \\n and \\r\\n"},
      {"a\r\n", "c\r\n", ""},
      {"a\n", "c\n", ""},
      {"a", "c\n", ""},
      {"a\r\n", "c", ""},
  };
  for (const auto& [old, content, warning] : cases) {
    Write("b", old);
    const ToolResult result = Put("b", content, HashOf(old));
    EXPECT_EQ(Read("b"), content) << "as it was given";
    EXPECT_EQ(result.warnings,
              warning.empty() ? std::vector<std::string>{} : std::vector<std::string>{warning});
  }
  EXPECT_EQ(Code(Put("a", "x\n", HashOf("other"))), "STALE_FILE");
  EXPECT_EQ(Put("new", "a\n").warnings.size(), 0u);
}

// After the rename there is no error that says that nothing was changed.
TEST_F(WriteTest, WhatIsWrittenButNotSyncedIsTold) {
  UseWorkerThatFails("sync file");
  const ToolResult result = Put("a", "new");
  ASSERT_EQ(Code(result), "FILE_IO");
  EXPECT_TRUE(result.error->message.starts_with("a is written, but ")) << result.error->message;
  EXPECT_EQ(result.error->ai_message.find("Nothing was changed"), std::string::npos);
  EXPECT_EQ(Read("a"), "new");
  EXPECT_EQ(Everything(), std::vector<std::string>{"a"});
}

TEST_F(WriteTest, NothingIsReplacedThatIsNotKnown) {
  Write("a", "old");
  const ToolResult blind = Put("a", "new");
  EXPECT_EQ(Code(blind), "STALE_FILE");
  EXPECT_EQ(ParseJson(blind.error->details)->Find("sha256")->AsString(), HashOf("old"));
  const ToolResult stale = Put("a", "new", HashOf("older"));
  EXPECT_EQ(Code(stale), "STALE_FILE");
  EXPECT_EQ(ParseJson(stale.error->details)->Find("sha256")->AsString(), HashOf("old"));
  EXPECT_EQ(Code(Put("none", "new", HashOf("old"))), "NOT_FOUND");
  EXPECT_EQ(Code(Put("a", "new", "abc")), "INVALID_ARGUMENT");
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(Everything(), std::vector<std::string>{"a"});
}

TEST_F(WriteTest, WhatReadSaysIsWhatItTakes) {
  Write("a", "old");
  const JsonValue read = Data(Call("read", R"({"path":"a"})"));
  Data(Put("a", "new", read.Find("sha256")->AsString()));
  EXPECT_EQ(Read("a"), "new");
}

TEST_F(WriteTest, DirectoriesOnTheWay) {
  EXPECT_EQ(Code(Put("src/lib/a.c", "x")), "NOT_FOUND");
  Data(Put("src/lib/a.c", "x", "", R"(,"create_parents":true)"));
  EXPECT_EQ(Read("src/lib/a.c"), "x");
  Data(Put("src/./lib/../b.c", "y"));
  EXPECT_EQ(Read("src/b.c"), "y");
  EXPECT_EQ(Data(Put((project_ / "c").string(), "z")).Find("path")->AsString(), "c");
  for (const char* path : {"", ".", "src", "src/", "new/", "new/..", "new/.", "src/b.c/d"}) {
    EXPECT_EQ(Code(Put(path, "x", "", R"(,"create_parents":true)")), "INVALID_ARGUMENT") << path;
  }
  for (const std::string& path : {std::string(300, 'x'), "n/" + std::string(300, 'x')}) {
    EXPECT_EQ(Code(Put(path, "x", "", R"(,"create_parents":true)")), "INVALID_ARGUMENT");
  }
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "ab/";
  EXPECT_EQ(Code(Put(deep + "x", "x", "", R"(,"create_parents":true)")), "INVALID_ARGUMENT");
  EXPECT_EQ(Everything(),
            (std::vector<std::string>{"c", "src", "src/b.c", "src/lib", "src/lib/a.c"}));
}

TEST_F(WriteTest, ThroughASymlinkThatStaysInside) {
  Write("dir/file", "old");
  fs::create_symlink("dir/file", project_ / "link");
  EXPECT_EQ(Data(Put("link", "new", HashOf("old"))).Find("path")->AsString(), "dir/file");
  EXPECT_EQ(Read("dir/file"), "new");
  EXPECT_TRUE(fs::is_symlink(project_ / "link"));
  fs::create_symlink("dir/none", project_ / "dangling");
  EXPECT_EQ(Code(Put("dangling", "x")), "NOT_FOUND");
  EXPECT_FALSE(fs::exists(project_ / "dir/none"));
}

TEST_F(WriteTest, NothingOutside) {
  testing::WriteText(base_ / "outside/file", "s");
  fs::create_symlink(base_ / "outside/file", project_ / "absolute");
  fs::create_directory_symlink("../outside", project_ / "way");
  for (const std::string& path :
       {std::string("absolute"), std::string("way/file"), std::string("way/new"),
        std::string("../outside/new"), (base_ / "outside/new").string(), std::string("/etc/new")}) {
    EXPECT_EQ(Code(Put(path, "x", "", R"(,"create_parents":true)")), "INVALID_PATH") << path;
    EXPECT_EQ(Code(Put(path, "x", HashOf("s"))), "INVALID_PATH") << path;
  }
  EXPECT_EQ(Read("../outside/file"), "s");
  EXPECT_FALSE(fs::exists(base_ / "outside/new"));
}

TEST_F(WriteTest, WhatGitExecutesStays) {
  for (const char* name : {".git/HEAD", ".git/config", "sub/.git/config", "bin/hook"}) {
    Write(name, "old");
  }
  fs::create_directories(project_ / ".git/hooks");
  fs::create_directories(project_ / ".git/objects");
  fs::create_directories(project_ / ".git/refs");
  for (const char* path : {".git/hooks/pre-commit", ".git/config", ".GIT/x", "sub/.git/hooks/x",
                           "other/.git", "other/.git/HEAD", "GIT~1/config", "sub/git~2/x",
                           ".git /x", ".Git...", ".git::$INDEX_ALLOCATION/x"}) {
    EXPECT_EQ(Code(Put(path, "x", "", R"(,"create_parents":true)")), "POLICY_DENIED") << path;
  }
  EXPECT_EQ(Code(Put(".git/config", "x", HashOf("old"))), "POLICY_DENIED");
  fs::create_symlink(".git/config", project_ / "innocent");
  EXPECT_EQ(Code(Put("innocent", "x", HashOf("old"))), "POLICY_DENIED");
  policy_->protect.push_back({"bin", "policy filesystem.protect"});
  const ToolResult refused = Put("bin/hook", "x", HashOf("old"));
  EXPECT_EQ(Code(refused), "POLICY_DENIED");
  EXPECT_NE(refused.text.find("filesystem.protect"), std::string::npos) << refused.text;
  EXPECT_EQ(Code(Put("bin/new", "x")), "POLICY_DENIED");
  EXPECT_EQ(Read(".git/config"), "old");
  EXPECT_EQ(Read("bin/hook"), "old");
  for (const char* path : {".gitignore", ".github/x", "src.git/x", "bins/x"}) {
    Data(Put(path, "x", "", R"(,"create_parents":true)"));
  }
}

// `git clone --bare x p/.bare`.
TEST_F(WriteTest, NorWhatItExecutesUnderAnotherName) {
  for (const char* name : {"p/.bare/HEAD", "p/.bare/config", "p/.bare/objects/x"})
    Write(name, "old");
  const auto put = [&] { return Code(Put("p/.bare/new/x", "x", "", R"(,"create_parents":true)")); };
  EXPECT_EQ(put(), "") << "git takes it for nothing";
  fs::create_directories(project_ / "p/.bare/refs");
  for (const char* path : {"p/.bare/hooks/x", "p/.bare/y", "p/.bare/new/z"}) {
    EXPECT_EQ(Code(Put(path, "x", "", R"(,"create_parents":true)")), "POLICY_DENIED") << path;
  }
  EXPECT_EQ(Code(Put("p/.bare/config", "x", HashOf("old"))), "POLICY_DENIED");
  fs::create_symlink("p/.bare/config", project_ / "innocent");
  EXPECT_EQ(Code(Put("innocent", "x", HashOf("old"))), "POLICY_DENIED");
  EXPECT_EQ(Read("p/.bare/config"), "old");
  Data(Put("p/main/x", "x", "", R"(,"create_parents":true)"));
  Write("p/.bare/tree/.git", "gitdir: ../worktrees/tree\n");
  Data(Put("p/.bare/tree/x", "x"));
}

TEST_F(WriteTest, WhereTheAuditLogLies) {
  fs::create_directories(project_ / "log");
  policy_->audit.path = project_ / "log/audit.jsonl";
  Write("log/audit.jsonl", "old");
  for (const char* path : {"log/audit.jsonl", "log/new", "log/sub/new"}) {
    EXPECT_NE(Code(Put(path, "x", "", R"(,"create_parents":true)")), "") << path;
  }
  EXPECT_EQ(Read("log/audit.jsonl"), "old");
  EXPECT_EQ(Everything(), (std::vector<std::string>{"log", "log/audit.jsonl"}));
}

TEST_F(WriteTest, RulesByPathHoldWhereverASymlinkStands) {
  Write("secrets/key", "old");
  fs::create_symlink("secrets/key", project_ / "innocent");
  policy_->permissions.push_back({.tool = "write",
                                  .path = "secrets",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  for (const char* path : {"secrets/key", "innocent", "secrets/new", "secrets/sub/new"}) {
    EXPECT_EQ(Code(Put(path, "x", "", R"(,"create_parents":true)")), "POLICY_DENIED") << path;
  }
  EXPECT_EQ(Everything(), (std::vector<std::string>{"innocent", "secrets", "secrets/key"}));
  EXPECT_EQ(Data(Put("secret", "x")).Find("path")->AsString(), "secret");
}

TEST_F(WriteTest, ItIsOffUnlessItIsEnabled) {
  policy_->enable_all = false;
  EXPECT_EQ(Code(Put("a", "x")), "TOOL_DISABLED");
  policy_->enabled_tools.insert("write");
  EXPECT_EQ(Code(Put("a", "x")), "");
}

TEST_F(WriteTest, WhatIsTooLargeIsRefusedAndTheOldOneStays) {
  Write("a", "old");
  policy_->limits.file_size = 1000;
  EXPECT_EQ(Code(Put("a", std::string(1001, 'x'), HashOf("old"))), "LIMIT_EXCEEDED");
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(Code(Put("a", std::string(1000, 'x'), HashOf("old"))), "");
  EXPECT_EQ(Everything(), std::vector<std::string>{"a"});
}

TEST_F(WriteTest, WhatTheSystemRefusesIsSaidInItsWords) {
  Write("a", "old");
  ASSERT_EQ(mkfifo((project_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(Code(Put("fifo", "x")), "FILE_IO");
  chmod((project_ / "a").c_str(), 0444);
  const ToolResult result = Put("a", "new", HashOf("old"));
  EXPECT_EQ(Code(result), "FILE_IO");
  EXPECT_NE(result.text.find("read-only"), std::string::npos) << result.text;
  EXPECT_EQ(Read("a"), "old");
}

TEST_F(WriteTest, LargeContentsAndThoseOfNothing) {
  const std::string large(5'000'000, 'x');
  EXPECT_EQ(Data(Put("large", large)).Find("size")->AsInteger(), 5'000'000);
  EXPECT_TRUE(Read("large") == large);
  EXPECT_EQ(Data(Put("empty", "")).Find("sha256")->AsString(), HashOf(""));
  EXPECT_EQ(Read("empty"), "");
}

// Any program of the project can hold that lock.
TEST_F(WriteTest, WhoKeepsTheFileIsNotWaitedForForEver) {
  const std::string temp = project_ / (".pa-" + HashOf("a").substr(0, 16));
  testing::WriteText(temp, "half");
  UniqueFd holder(open(temp.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(holder.get(), LOCK_EX), 0);
  const ToolResult busy = Put("a", "new");
  EXPECT_EQ(Code(busy), "BUSY");
  EXPECT_NE(busy.text.find("another program is writing it"), std::string::npos) << busy.text;
  EXPECT_EQ(testing::ReadText(temp), "half");
  holder.reset();
  EXPECT_EQ(Code(Put("a", "new")), "");
  EXPECT_EQ(Everything(), std::vector<std::string>{"a"});
}

// It waits for another writer, and its time is over before. The other one dies, too; whoever
// cleans up finds what that one left.
TEST_F(WriteTest, WhatAWorkerLeftThatWasKilledIsRemoved) {
  const std::string temp = project_ / (".pa-" + HashOf("a").substr(0, 16));
  testing::WriteText(temp, "half");
  UniqueFd holder(open(temp.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(holder.get(), LOCK_EX), 0);
  policy_->limits.wall_time = std::chrono::milliseconds(100);
  std::vector<worker::Action> orders;
  on_spec_ = [&](const std::string& spec) {
    orders.push_back(worker::DecodeSpec(spec)->action);
    if (orders.back() == worker::Action::kRemoveTemp) holder.reset();
  };
  EXPECT_EQ(Code(Put("a", "new")), "TIMED_OUT");
  EXPECT_EQ(orders, (std::vector{worker::Action::kWriteFile, worker::Action::kRemoveTemp}));
  EXPECT_EQ(Everything(), std::vector<std::string>());
  EXPECT_EQ(Code(Put("a", "new")), "");
  EXPECT_EQ(orders.size(), 3u) << "nothing to clean up after one that came to its end";
}

}  // namespace
}  // namespace pa
