// File tools of real servers: several of them at once, ended at any moment, beside somebody who
// swaps what they are about to open, and on a disk that is full.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFilesMakefile = ".PHONY: x\nx:\n";

bool HasTemporary(const fs::path& directory) {
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().filename().string().starts_with(".pa-")) return true;
  }
  return false;
}

fs::path JournalsOf(const Project& project) {
  return project.home() / ".local/state/project-actions/edits";
}

constexpr int kFiles = 6;

std::string NameOf(int file) { return "file" + std::to_string(file); }

// `from` becomes `to` in each file.
Json EditOfAll(const std::string& from, const std::string& to) {
  Json edits = Json::array();
  for (int file = 0; file < kFiles; ++file) {
    edits.push_back({{"path", NameOf(file)}, {"old", from}, {"new", to}});
  }
  return {{"edits", edits}};
}

int CountFilesWith(const Project& project, const std::string& content) {
  int count = 0;
  for (int file = 0; file < kFiles; ++file) {
    count += ReadText(project.root() / NameOf(file)) == content ? 1 : 0;
  }
  return count;
}

// Killed at moments that are spread over twice the time that an edit has taken, since the next may
// take longer. The next server puts things right before it has anything to do.
TEST(EditCrash, AllFilesOrNone) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTries = 40;
  const Project project(kFilesMakefile);
  for (int file = 0; file < kFiles; ++file) WriteText(project.root() / NameOf(file), "0");
  std::string now = "0";
  Clock::duration whole{};
  for (int warm = 0; warm < 2; ++warm) {
    McpClient client(project.Server());
    client.Initialize();
    const auto started = Clock::now();
    ASSERT_TRUE(client.CallTool("edit", EditOfAll(now, now + "."))["success"]);
    whole = Clock::now() - started;
    now += ".";
  }
  int half_done = 0;
  for (int i = 0; i < kTries; ++i) {
    const std::string next = std::to_string(i) + "!";
    {
      McpClient client(project.Server());
      client.Initialize();
      client.StartTool("edit", EditOfAll(now, next));
      std::this_thread::sleep_for(2 * whole * i / kTries);
      client.Signal(SIGKILL);
    }
    if (fs::exists(JournalsOf(project)) && !fs::is_empty(JournalsOf(project))) ++half_done;
    McpClient client(project.Server());
    client.Initialize();
    // The first call of any kind waits for that.
    ASSERT_TRUE(client.CallTool("read", {{"path", NameOf(0)}})["success"]);
    ASSERT_TRUE(!fs::exists(JournalsOf(project)) || fs::is_empty(JournalsOf(project)));
    const int changed = CountFilesWith(project, next);
    EXPECT_TRUE(changed == 0 || changed == kFiles) << changed << " files, try " << i;
    EXPECT_EQ(changed + CountFilesWith(project, now), kFiles);
    if (changed == kFiles) now = next;
    // A worker that was killed with its server leaves its temporary file to the next writer.
    ASSERT_TRUE(client.CallTool("edit", EditOfAll(now, now + "+"))["success"]);
    now += "+";
    EXPECT_FALSE(HasTemporary(project.root()));
  }
  EXPECT_GT(half_done, 0) << "no server was killed in an edit";
}

// Two files of which a server had changed the first when it died, and the lock of another that is
// putting it back.
class HalfDone {
 public:
  HalfDone() {
    WriteText(project.root() / "first", "new");
    WriteText(project.root() / "second", "old");
    const auto entry = [&](const char* name) {
      return Json{{"root", fs::canonical(project.root()).string()},
                  {"file", name},
                  {"after", Hex(Sha256Of("new"))},
                  {"size", 3}};
    };
    const fs::path journal = JournalsOf(project) / "journal-1";
    WriteText(journal, "project-actions edit 1 cc\n" +
                           Json::array({entry("first"), entry("second")}).dump() + "\noldold");
    lock.reset(open(journal.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  }
  bool IsRecorded(std::string_view text) const {
    return ReadText(project.home() / ".local/state/project-actions/audit/audit.jsonl")
        .contains(text);
  }

  const Project project{kFilesMakefile};
  UniqueFd lock;
};

// That one may die, too: then it is this one's to put back.
TEST(EditCrash, CallsWaitForAnotherServersPutBack) {
  HalfDone world;
  McpClient client(world.project.Server());
  client.Initialize();
  const int first = client.StartTool("read", {{"path", "first"}});
  const int given_up = client.StartTool("read", {{"path", "second"}});
  EXPECT_FALSE(client.ReadLine(std::chrono::milliseconds(300)).has_value());
  EXPECT_TRUE(client.Request("ping").contains("result"));
  client.Notify("notifications/cancelled", {{"requestId", given_up}});
  EXPECT_TRUE(Eventually([&] { return world.IsRecorded("CANCELLED"); })) << "while it waits";
  EXPECT_EQ(ReadText(world.project.root() / "first"), "new");
  world.lock.reset();
  const Json reply = client.Await(first);
  EXPECT_TRUE(reply.dump().contains("old")) << reply;
  EXPECT_EQ(ReadText(world.project.root() / "first"), "old");
  EXPECT_TRUE(fs::is_empty(JournalsOf(world.project)));
}

TEST(EditCrash, TheEndWaitsForNobodysPutBack) {
  HalfDone world;
  McpClient client(world.project.Server());
  client.Initialize();
  const int waits = client.StartTool("read", {{"path", "first"}});
  EXPECT_TRUE(client.Request("ping").contains("result"));
  client.CloseInput();
  const Json reply = client.Await(waits);
  EXPECT_TRUE(reply.dump().contains("CANCELLED")) << reply;
  EXPECT_EQ(client.WaitForExit(kPatience / 2), 0);
  EXPECT_FALSE(fs::is_empty(JournalsOf(world.project)));
}

// Two servers, each with several calls in flight, add lines to one file.
TEST(FileTools, TwoSessionsLoseNothing) {
  constexpr int kEach = 30;
  const Project project(kFilesMakefile);
  WriteText(project.root() / "file", "begin\nend\n");
  const auto add = [&](const std::string& who) {
    McpClient client(project.Server());
    client.Initialize();
    for (int i = 0; i < kEach;) {
      const std::string line = who + std::to_string(i) + "\n";
      const Json result = client.CallTool(
          "edit", {{"edits", {{{"path", "file"}, {"old", "end\n"}, {"new", line + "end\n"}}}}});
      if (result["success"] == true) {
        ++i;
      } else if (result["error"]["code"] != "STALE_FILE") {
        ADD_FAILURE() << result;
        return;
      }
    }
  };
  std::thread other(add, "a");
  add("b");
  other.join();
  const std::string content = ReadText(project.root() / "file");
  for (const char* who : {"a", "b"}) {
    for (int i = 0; i < kEach; ++i) {
      const std::string line = "\n" + (who + std::to_string(i)) + "\n";
      EXPECT_NE(content.find(line), std::string::npos) << line;
    }
  }
  EXPECT_EQ(std::ranges::count(content, '\n'), 2 * kEach + 2);
  EXPECT_FALSE(HasTemporary(project.root()));
}

// Each finds only what the one before it leaves.
TEST(FileTools, EditsOfOneFileKeepTheOrderInWhichTheyCame) {
  constexpr int kEdits = 30;
  const Project project(kFilesMakefile);
  WriteText(project.root() / "file", "<0>");
  McpClient client(project.Server());
  client.Initialize();
  std::vector<int> calls;
  const auto name = [](int number) { return "<" + std::to_string(number) + ">"; };
  for (int i = 0; i < kEdits; ++i) {
    calls.push_back(client.StartTool(
        "edit", {{"edits", {{{"path", "file"}, {"old", name(i)}, {"new", name(i + 1)}}}}}));
  }
  for (const int call : calls) {
    const Json reply = client.Await(call);
    EXPECT_EQ(reply["result"]["isError"], false) << reply;
  }
  EXPECT_EQ(ReadText(project.root() / "file"), name(kEdits));
}

// Each reads what the one before it has left.
TEST(FileTools, TenEditsOfOneFileAtOnceTakeTurns) {
  constexpr int kEdits = 10;
  const Project project(kFilesMakefile);
  std::string before;
  std::string after;
  for (int i = 0; i < kEdits; ++i) {
    before += "line " + std::to_string(i) + "\n";
    after += "done " + std::to_string(i) + "\n";
  }
  WriteText(project.root() / "file", before);
  WriteText(project.root() / "other", before);
  McpClient client(project.Server());
  client.Initialize();
  std::vector<int> ids;
  for (int i = 0; i < kEdits; ++i) {
    const std::string number = std::to_string(i);
    Json edits = Json::array();
    // Every second one edits both, in another order than the one before.
    for (const char* path : {i % 4 == 1 ? "file" : "other", i % 4 == 1 ? "other" : "file"}) {
      if (i % 2 == 1 || path == std::string("file")) {
        edits.push_back({{"path", path}, {"old", "line " + number}, {"new", "done " + number}});
      }
    }
    ids.push_back(client.StartTool("edit", {{"edits", edits}}));
  }
  for (const int id : ids) {
    const Json result = client.Await(id)["result"]["structuredContent"];
    EXPECT_EQ(result.value("success", false), true) << result;
  }
  EXPECT_EQ(ReadText(project.root() / "file"), after);
}

// As an editor saves: another file gets the name, at any moment.
// A model sees the structured part or the text: both say it.
TEST(FileTools, WhatIsHardToSeeIsTold) {
  Project project(kFilesMakefile);
  McpClient client(project.Server());
  client.Initialize();
  WriteText(project.root() / "a", "\tsay \xe2\x80\x9chi\xe2\x80\x9d\r\n");
  Json edits = Json::array();
  edits.push_back({{"path", "a"}, {"old", "  say \"hi\""}, {"new", "x"}});
  const Json edit = client.CallTool("edit", {{"edits", edits}});
  EXPECT_EQ(edit["error"]["code"], "NO_MATCH") << edit;
  EXPECT_EQ(edit["error"]["details"]["differences"][0]["in"], "blanks") << edit;
  EXPECT_EQ(edit["error"]["details"]["differences"][0]["file"], "tab") << edit;
  const Json read = client.CallTool("read", {{"path", "a"}, {"offset", 7}});
  EXPECT_EQ(read["meta"]["warnings"],
            Json::array({"offset 7 is past the end: the file has 1 line"}))
      << read;
  const std::string before = read["data"]["sha256"];
  const Json write = client.CallTool(
      "write", {{"path", "a"}, {"content", "one\ntwo\n"}, {"expected_sha256", before}});
  EXPECT_EQ(ReadText(project.root() / "a"), "one\r\ntwo\r\n");
  EXPECT_EQ(write["data"]["sha256"], Hex(Sha256Of("one\r\ntwo\r\n"))) << write;
  EXPECT_EQ(write["meta"]["warnings"].size(), 1U) << write;
  const Json found = client.CallTool("grep", {{"pattern", "two$"}});
  EXPECT_EQ(found["data"]["files"], Json::array({"a"})) << found;
}

TEST(FileTools, AFileThatIsReplacedIsFound) {
  const Project project(kFilesMakefile);
  const fs::path file = project.root() / "file";
  WriteText(file, "content\n");
  std::jthread editor([&](const std::stop_token& done) {
    while (!done.stop_requested()) {
      WriteText(project.root() / "file~", "content\n");
      fs::rename(project.root() / "file~", file);
      usleep(100);  // else a name that never rests for as long as a look takes is what is tried
    }
  });
  McpClient client(project.Server());
  client.Initialize();
  for (int i = 0; i < 300; ++i) {
    const Json result = client.CallTool("read", {{"path", "file"}});
    EXPECT_EQ(result.value("success", false), true) << result;
  }
}

// Somebody swaps a directory for a symlink to the outside, as fast as possible, until enough calls
// met the one and the other.
TEST(FileTools, SwappedNamesLeadNowhere) {
  constexpr int kEach = 50;
  constexpr int kMaxCalls = 20'000;
  const Project project(kFilesMakefile);
  fs::create_directory(project.root() / "way");
  WriteText(project.root() / "way/file", "inside\n");
  WriteText(project.outside() / "file", "outside\n");
  fs::create_directory_symlink(project.outside(), project.root() / "other");
  const std::string way = project.root() / "way";
  const std::string other = project.root() / "other";
  // Also while the server is told of each (it watches the Makefile): none of these calls waits for
  // that.
  std::jthread swapper([&](const std::stop_token& done) {
    while (!done.stop_requested()) {
      syscall(SYS_renameat2, AT_FDCWD, way.c_str(), AT_FDCWD, other.c_str(), 2);  // EXCHANGE
    }
  });
  {
    McpClient client(project.Server());
    client.Initialize();
    int inside = 0;
    int refused = 0;
    for (int call = 0; call < kMaxCalls && (inside < kEach || refused < kEach); ++call) {
      Json result;
      if (call % 4 == 0) result = client.CallTool("read", {{"path", "way/file"}});
      if (call % 4 == 1) {
        result =
            client.CallTool("write", {{"path", "way/new" + std::to_string(call)}, {"content", ""}});
      }
      if (call % 4 == 2) {
        result = client.CallTool(
            "edit", {{"edits", {{{"path", "way/file"}, {"old", "side"}, {"new", "SIDE"}}}}});
      }
      if (call % 4 == 3) {
        result = client.CallTool(
            "edit", {{"edits", {{{"path", "way/file"}, {"old", "SIDE"}, {"new", "side"}}}}});
      }
      EXPECT_EQ(result.dump().find("outside"), std::string::npos) << result;
      ++(result["success"] == true ? inside : refused);
    }
    EXPECT_TRUE(inside >= kEach && refused >= kEach) << inside << " and " << refused;
  }
  swapper.request_stop();
  swapper.join();
  EXPECT_EQ(ReadText(project.outside() / "file"), "outside\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(project.outside()), fs::directory_iterator()), 1);
}

// By the programs alone, as a person would.
TEST(FileTools, WhatIsDeletedComesBack) {
  const Project project(kFilesMakefile);
  WriteText(project.root() / "dir/file", "content\n");
  const std::string server = BuiltProgram("PA_SERVER");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), server);
    for (const char* more : {"--root", project.root().c_str()}) arguments.emplace_back(more);
    return RunProgram({.command = std::move(arguments),
                       .environment = {"HOME=" + project.home().string(), "PATH=/usr/bin:/bin"},
                       .directory = project.root()});
  };
  EXPECT_EQ(run({"trash", "list"}).output, "the trash is empty\n");
  const Json deleted = Json::parse(
      run({"call", "delete", R"({"path":"dir","recursive":true})", "--json", "--enable", "all"})
          .output);
  ASSERT_TRUE(deleted["success"]) << deleted;
  const std::string id = deleted["data"]["trash_id"];
  EXPECT_FALSE(fs::exists(project.root() / "dir"));
  const ProgramResult list = run({"trash", "list"});
  EXPECT_TRUE(list.output.starts_with(id + "  20")) << list.output;
  EXPECT_TRUE(list.output.ends_with("Z  " + (project.root() / "dir").string() + "\n"));
  EXPECT_EQ(Json::parse(run({"trash", "list", "--json"}).output)[0]["id"], id);
  EXPECT_EQ(run({"trash", "restore", "none"}).exit_code, 1);
  fs::create_directory(project.root() / "dir");
  EXPECT_EQ(run({"trash", "restore", id}).exit_code, 1) << "something is there";
  fs::remove(project.root() / "dir");
  const ProgramResult restored = run({"trash", "restore", id});
  EXPECT_EQ(restored.output, "restored " + (project.root() / "dir").string() + "\n")
      << restored.errors;
  EXPECT_EQ(ReadText(project.root() / "dir/file"), "content\n");
  EXPECT_EQ(run({"trash", "list"}).output, "the trash is empty\n");
}

// A trash that somebody has written himself does not change what git executes.
TEST(FileTools, WhatIsProtectedIsNotRestored) {
  const Project project(kFilesMakefile);
  project.InitGit();
  const fs::path entry = project.root() / ".project-actions-trash/1";
  WriteText(entry / "content", "#!/bin/sh\n");
  const fs::path hook = project.root() / ".git/hooks/pre-commit";
  WriteText(entry / "info.json", Json{{"path", hook.string()}, {"deleted_at", 1}}.dump());
  const ProgramResult result =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "trash", "restore", "1"},
                  .environment = {"HOME=" + project.home().string(), "PATH=/usr/bin:/bin"},
                  .directory = project.root()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("git's own data"), std::string::npos) << result.errors;
  EXPECT_FALSE(fs::exists(hook));
  EXPECT_TRUE(fs::exists(entry / "content"));
}

// Two checks, and each alone keeps something out: git's own data, of which most is no protected
// path, and what the policy protects.
TEST(FileTools, NeitherGitsDataNorWhatThePolicyProtectsIsRestored) {
  const Project project(kFilesMakefile);
  project.InitGit();
  WriteText(project.home() / "policy.yaml", "version: 1\nfilesystem: {protect: [tools/deploy]}\n");
  fs::create_directory(project.root() / "tools");
  const auto restore = [&](const std::string& id, const char* name) {
    const fs::path entry = project.root() / ".project-actions-trash" / id;
    WriteText(entry / "content", "#!/bin/sh\n");
    WriteText(entry / "info.json",
              Json{{"path", (project.root() / name).string()}, {"deleted_at", 1}}.dump());
    return RunProgram({.command = {BuiltProgram("PA_SERVER"), "trash", "restore", id, "--policy",
                                   project.home() / "policy.yaml"},
                       .environment = {"HOME=" + project.home().string(), "PATH=/usr/bin:/bin"},
                       .directory = project.root()});
  };
  const ProgramResult git = restore("1", ".git/description2");
  EXPECT_EQ(git.exit_code, 1);
  EXPECT_NE(git.errors.find("git's own data"), std::string::npos) << git.errors;
  const ProgramResult protect = restore("2", "tools/deploy");
  EXPECT_EQ(protect.exit_code, 1);
  EXPECT_NE(protect.errors.find("filesystem.protect"), std::string::npos) << protect.errors;
  EXPECT_FALSE(fs::exists(project.root() / ".git/description2"));
  EXPECT_FALSE(fs::exists(project.root() / "tools/deploy"));
  EXPECT_EQ(restore("3", "tools/other").exit_code, 0);
  EXPECT_TRUE(fs::exists(project.root() / "tools/other"));
}

// Repositories below are projects of their own; and what is protected comes with its directory,
// too.
TEST(FileTools, WhatIsProtectedFurtherDownIsNotRestored) {
  const Project project(kFilesMakefile);
  project.InitGit();
  fs::create_directories(project.root() / "sub/project/.git");
  fs::create_directories(project.root() / "sub/other");
  int number = 0;
  const auto restore = [&](const std::string& name, const std::string& content) {
    const std::string id = std::to_string(++number);
    const fs::path entry = project.root() / ".project-actions-trash" / id;
    WriteText(entry / content, "{}");
    WriteText(entry / "info.json",
              Json{{"path", (project.root() / name).string()}, {"deleted_at", 1}}.dump());
    return RunProgram({.command = {BuiltProgram("PA_SERVER"), "trash", "restore", id},
                       .environment = {"HOME=" + project.home().string(), "PATH=/usr/bin:/bin"},
                       .directory = project.root()});
  };
  const auto refused = [&](const std::string& name, const std::string& content,
                           const std::string& why) {
    const ProgramResult result = restore(name, content);
    EXPECT_EQ(result.exit_code, 1) << name;
    EXPECT_TRUE(result.errors.contains(why)) << result.errors;
    EXPECT_FALSE(fs::exists(project.root() / name));
  };
  refused("sub/project/.mcp.json", "content", "Claude Code");
  EXPECT_EQ(restore("sub/other/.mcp.json", "content").exit_code, 0) << "no project";
  refused(".vscode", "content/tasks.json", "it holds .vscode/tasks.json, executed by VS Code");
  refused(".VSCODE", "content/tasks.json", "it holds .vscode/tasks.json");
  refused("VSCODE~1", "content/tasks.json", "it holds .vscode/tasks.json");
  EXPECT_EQ(restore("VSCODE~x", "content/tasks.json").exit_code, 0);
  refused(".claude", "content/hooks/x", "it holds .claude/hooks");
  EXPECT_EQ(restore(".claude", "content/skills/x").exit_code, 0);
  EXPECT_EQ(ReadText(project.root() / ".claude/skills/x"), "{}");
  refused("library", "content/.git/config", "it holds a git repository");
  refused("deeper", "content/a/b/.git", "it holds a git repository");
  EXPECT_EQ(restore("plain", "content/a/b/c").exit_code, 0);
}

// How a small file system comes to `disk`, and how much of it has to be full for 100 kB to be too
// much.
struct SmallDisk {
  const char* name;
  const char* unshare;  // its options: a mount namespace of the test's own
  const char* mount;
  int filled;
  const char* error;  // as the message has it
  const char* missing;
};

class DiskThatIsFull : public ::testing::TestWithParam<SmallDisk> {
 protected:
  ProgramResult Run() const {
    const SmallDisk& disk = GetParam();
    return RunProgram(
        {.command = {"unshare", disk.unshare, "sh", "-c", kScript},
         .environment = {"SERVER=" + BuiltProgram("PA_SERVER"), "MOUNT=" + std::string(disk.mount),
                         "FILLED=" + std::to_string(disk.filled),
                         "HOME=" + project_.home().string(),
                         "PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"},
         .directory = project_.root()});
  }

  // Its output: that it has begun, two answers, what the file holds then, what else there is, and
  // what it holds at last.
  static constexpr const char* kScript = R"sh(
many() { head -c "$1" /dev/zero | tr '\0' x; }
fill() { many "$1" >> disk/filler 2> /dev/null; }
call() { "$SERVER" call --root . --enable all --json "$@"; }
edit() { call edit "{\"edits\":[{\"path\":\"disk/file\",\"old\":\"old\",\"new\":\"$1\"}]}"; }
mkdir disk
(eval "$MOUNT") >&2 || exit
echo begun
printf old > disk/file
fill "$FILLED"
call write "{\"path\":\"disk/new\",\"content\":\"$(many 100000)\"}"
fill 60000
edit "$(many 20000)"
cat disk/file && echo
ls -A disk
rm disk/filler && sync
edit new > /dev/null
cat disk/file
)sh";

  const Project project_{kFilesMakefile};
};

INSTANTIATE_TEST_SUITE_P(
    Kinds, DiskThatIsFull,
    ::testing::Values(SmallDisk{.name = "NoSpace",
                                .unshare = "-Urm",
                                .mount = "mount -t tmpfs -o size=64k none disk",
                                .filled = 0,
                                .error = "ENOSPC (No space left on device)",
                                .missing = "nothing can be mounted here"},
                      SmallDisk{
                          .name = "Quota",
                          .unshare = "-m",
                          .mount = "truncate -s 128M ../image && mkfs.btrfs -q ../image && "
                                   "mount -o loop ../image disk && btrfs quota enable disk && "
                                   "btrfs qgroup limit 1M disk",
                          .filled = 950'000,
                          .error = "EDQUOT (Disk quota exceeded)",
                          .missing = "a quota takes root, loop devices, btrfs and its tools "
                                     "(btrfs-progs)"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(DiskThatIsFull, FailsAndTheFileStays) {
  const ProgramResult result = Run();
  constexpr std::string_view kBegun = "begun\n";
  if (!result.output.starts_with(kBegun)) GTEST_SKIP() << GetParam().missing;
  std::vector<Json> answers;
  std::size_t at = kBegun.size();
  for (std::size_t end = 0; answers.size() < 2; at = end + 1) {
    end = result.output.find('\n', at);
    ASSERT_NE(end, std::string::npos) << result.output;
    answers.push_back(Json::parse(result.output.substr(at, end - at), nullptr, false));
  }
  for (const Json& answer : answers) {
    const Json error = answer.value("error", Json::object());
    EXPECT_EQ(error.value("code", ""), "FILE_IO") << answer;
    EXPECT_NE(error.value("message", "").find(GetParam().error), std::string::npos) << answer;
    EXPECT_NE(error.value("ai_message", "").find("tell the user"), std::string::npos) << answer;
  }
  EXPECT_EQ(result.output.substr(at), "old\nfile\nfiller\nnew") << result.errors;
}

}  // namespace
}  // namespace pa::testing
