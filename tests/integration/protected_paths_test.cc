// What git executes stays what it is while make runs: each way to change it through the real
// server, judged by the files and by git itself outside; and beside it what a recipe may do.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "tests/support/deadline.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

class ProtectedPaths : public ::testing::Test {
 protected:
  // What happens where nothing prevents it.
  explicit ProtectedPaths(const std::string& namespaces = "off")
      : client_((WriteText(project_.home() / ".config/project-actions/policy.yaml",
                           "version: 1\ngit: {commands: write}\nnamespaces: " + namespaces + "\n"),
                 project_.Server())) {}
  void SetUp() override {
    project_.InitGit();
    Commit("first");
    WriteText(root_ / ".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    fs::permissions(root_ / ".git/hooks/pre-commit", fs::perms::owner_all);
    client_.Initialize();
  }
  void Commit(const std::string& message) const {
    WriteText(root_ / "tracked", message + "\n");
    project_.Git({"add", "."});
    project_.Git({"commit", "-q", "--no-verify", "-m", message});
  }
  // Runs `script` as a recipe, in a shell of its own.
  Json Run(const std::string& script, Json arguments = Json::object()) {
    WriteText(root_ / "recipe.sh", script);
    WriteText(root_ / "Makefile", ".PHONY: run\nrun:\n\t@sh -e ./recipe.sh\n");
    arguments["target"] = "run";
    return client_.CallTool("make", std::move(arguments));
  }
  // All beneath `.git` that decides what git executes, and what is at the top.
  std::map<std::string, std::string> Picture() const {
    std::map<std::string, std::string> picture;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      const std::string name = entry.path().lexically_relative(root_);
      const bool free = name == "recipe.sh" || name == "Makefile" ||
                        name.contains(".git/objects") || name.contains("/index");
      if (free) continue;
      const fs::file_status status = entry.symlink_status();
      std::string text = std::to_string(static_cast<int>(status.type())) + " " +
                         std::to_string(static_cast<unsigned>(status.permissions())) + " ";
      if (fs::is_regular_file(status)) text += ReadText(entry.path());
      if (fs::is_symlink(status)) text += fs::read_symlink(entry.path());
      picture[name] = std::move(text);
    }
    return picture;
  }
  static bool Names(const Json& result, const std::string& path) {
    const Json modified = result["data"].value("protected_paths_modified", Json::array());
    return std::ranges::find(modified, Json(path)) != modified.end();
  }
  // `write` waits in the directory `from` for a lock, a recipe renames that to `to` and ends; then
  // the file comes there. What the recipe's result is.
  Json RenameBeneathAWrite(const std::string& from, const std::string& to) {
    const fs::path temporary = root_ / from / (".pa-" + Hex(Sha256Of("tasks.json")).substr(0, 16));
    WriteText(temporary, "");
    UniqueFd held(open(temporary.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(flock(held.get(), LOCK_EX), 0);
    UniqueFd opened(inotify_init1(IN_CLOEXEC));
    EXPECT_GE(inotify_add_watch(opened.get(), temporary.c_str(), IN_OPEN), 0);
    const int write = client_.StartTool(
        "write", {{"path", from + "/tasks.json"}, {"content", "{\"runOn\": \"folderOpen\"}"}});
    std::array<char, 4096> event;
    EXPECT_GT(read(opened.get(), event.data(), event.size()), 0);
    WriteText(root_ / "recipe.sh", "mv " + from + " " + to);
    WriteText(root_ / "Makefile", ".PHONY: run\nrun:\n\t@sh -e ./recipe.sh\n");
    const int recipe = client_.StartTool("make", {{"target", "run"}});
    EXPECT_TRUE(Eventually([&] { return fs::exists(root_ / to); }));
    // Long enough for a look that does not wait for the write.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    held.reset();
    const Json written = client_.Await(write)["result"]["structuredContent"];
    EXPECT_TRUE(written["success"]) << written;
    return client_.Await(recipe)["result"]["structuredContent"];
  }
  void ExpectRenamesBeneathAWriteAreSeen() {
    const Json free = RenameBeneathAWrite("drafts", "notes");
    EXPECT_FALSE(free["data"].contains("protected_paths_modified")) << free;
    EXPECT_TRUE(fs::exists(root_ / "notes/tasks.json"));
    const Json undone = RenameBeneathAWrite("drafts", ".vscode");
    EXPECT_TRUE(Names(undone, ".vscode/tasks.json")) << undone;
    EXPECT_FALSE(fs::exists(root_ / ".vscode/tasks.json"));
  }
  // The recipe runs, its change is undone, and the result says so, in both of its forms.
  void ExpectUndone(const std::string& script, const std::string& path) {
    WriteText(root_ / "recipe.sh", "");
    const auto before = Picture();
    Json result = Run(script);
    EXPECT_TRUE(result["success"]) << script << result;
    EXPECT_TRUE(Names(result, path)) << script << result;
    EXPECT_NE(result["meta"]["warnings"].dump().find(path), std::string::npos) << result;
    const auto after = Picture();
    for (const auto& [name, text] : before) {
      const auto found = after.find(name);
      EXPECT_TRUE(found != after.end() && found->second == text) << name << " by " << script;
    }
    for (const auto& [name, text] : after) {
      const bool git = name.starts_with(".git") || name == "HEAD";
      EXPECT_TRUE(before.contains(name) || !git) << name << " by " << script;
    }
  }
  void ExpectFree(const std::string& script) {
    Json result = Run(script);
    EXPECT_TRUE(result["success"]) << script << result;
    EXPECT_FALSE(result["data"].contains("protected_paths_modified")) << script << result;
    EXPECT_FALSE(result["meta"].contains("warnings")) << script << result;
  }

  // What is small of the repository comes back, and how much of the rest is gone is said ("":
  // nothing is).
  void ExpectDamaged(const std::string& script, const std::string& gone = "objects are gone",
                     bool fails = false) {
    const std::string last = project_.Git({"rev-parse", "main"}).output;
    const std::string config = ReadText(root_ / ".git/config");
    const std::string index = ReadText(root_ / ".git/index");
    fs::copy(root_ / ".git/objects", root_ / "../objects", fs::copy_options::recursive);
    const Json result = Run(script + (fails ? "; exit 3" : " || true"));
    EXPECT_FALSE(result["success"]) << script << result;
    EXPECT_EQ(result["error"]["code"], "COMMAND_FAILED") << script;
    EXPECT_EQ(result["data"]["exit_code"], fails ? 2 : 0) << script;
    const std::string advice = result["error"]["ai_message"];
    EXPECT_TRUE(advice.starts_with("Tell the user before anything else")) << advice;
    EXPECT_TRUE(Names(result, ".git")) << script << result;
    const std::string message = result["error"]["message"];
    EXPECT_TRUE(message.contains("damaged the git repository .git")) << message;
    EXPECT_TRUE(message.contains(gone)) << script << message;
    EXPECT_EQ(message.contains("are gone"), !gone.empty()) << script << message;
    EXPECT_EQ(ReadText(root_ / ".git/config"), config) << script;
    EXPECT_EQ(ReadText(root_ / ".git/index"), index) << script;
    EXPECT_EQ(ReadText(root_ / ".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n") << script;
    EXPECT_EQ(project_.Git({"rev-parse", "main"}).output, last) << script;
    fs::copy(root_ / "../objects", root_ / ".git/objects",
             fs::copy_options::recursive | fs::copy_options::skip_existing);
    fs::remove_all(root_ / "../objects");
    EXPECT_EQ(project_.Git({"fsck"}).exit_code, 0) << script;
  }

  Json RunIn(const std::string& directory, const std::string& script) {
    return client_.CallTool("bash", {{"command", script}, {"working_directory", directory}});
  }
  // A call may choose any directory; what the project protects does not depend on that.
  void ExpectKeptInItsMidst() {
    fs::create_directories(root_ / ".vscode");
    fs::create_directories(root_ / ".claude/hooks");
    fs::create_directories(root_ / ".claude/skills");
    Json result = RunIn(".vscode", "echo {} >tasks.json; echo free >other.json");
    EXPECT_TRUE(Names(result, "tasks.json")) << result;
    EXPECT_FALSE(fs::exists(root_ / ".vscode/tasks.json"));
    EXPECT_EQ(ReadText(root_ / ".vscode/other.json"), "free\n");
    result = RunIn(".claude", "echo {} >settings.json; echo evil >hooks/x; echo free >skills/x");
    EXPECT_FALSE(fs::exists(root_ / ".claude/settings.json")) << result;
    EXPECT_FALSE(fs::exists(root_ / ".claude/hooks/x")) << result;
    EXPECT_EQ(ReadText(root_ / ".claude/skills/x"), "free\n");
    result = RunIn(".claude/hooks", "echo evil >x");
    EXPECT_EQ(result["error"]["code"], "INVALID_DIRECTORY") << result;
    EXPECT_TRUE(result["error"]["message"].get<std::string>().contains("Claude Code")) << result;
    EXPECT_FALSE(fs::exists(root_ / ".claude/hooks/x"));
    EXPECT_TRUE(RunIn(".claude/skills", "echo free >y")["success"]);
    EXPECT_TRUE(client_.CallTool("glob", {{"pattern", "*"}, {"path", ".claude/hooks"}})["success"]);
  }

  Project project_{".PHONY: run\nrun:\n"};
  const fs::path& root_ = project_.root();
  McpClient client_;
};

TEST_F(ProtectedPaths, Hooks) {
  ExpectUndone("echo evil >.git/hooks/post-checkout", ".git/hooks/post-checkout");
  ExpectUndone("echo evil >>.git/hooks/pre-commit", ".git/hooks/pre-commit");
  ExpectUndone("chmod -x .git/hooks/pre-commit", ".git/hooks/pre-commit");
  ExpectUndone("rm .git/hooks/pre-commit", ".git/hooks/pre-commit");
  ExpectUndone("echo evil >x; mv x .git/hooks/post-commit", ".git/hooks/post-commit");
  ExpectUndone("echo evil >x; ln x .git/hooks/post-merge; rm x", ".git/hooks/post-merge");
  ExpectUndone("echo evil >x; ln -s ../../x .git/hooks/post-merge; rm x", ".git/hooks/post-merge");
  ExpectUndone("mv .git/hooks h; mkdir .git/hooks; echo evil >.git/hooks/pre-push; rm -r h",
               ".git/hooks/pre-push");
  ExpectUndone("mv .git/hooks h; ln -s ../h .git/hooks; rm -r h", ".git/hooks");
  ExpectFree("mkdir -p hooks; echo mine >hooks/pre-commit");
}

TEST_F(ProtectedPaths, Configuration) {
  ExpectUndone("git config core.fsmonitor ./evil", ".git/config");
  ExpectUndone("printf '[alias]\\n\\tst = !evil\\n' >>.git/config", ".git/config");
  ExpectUndone("rm .git/config", ".git/config");
  ExpectUndone("echo evil >x; ln -sf ../x .git/config; rm x", ".git/config");
  ExpectUndone("ln .git/config alias; echo evil >>alias; rm alias", ".git/config");
  ExpectUndone("git config extensions.worktreeConfig true; git config --worktree a.b c",
               ".git/config.worktree");
  ExpectUndone("echo /tmp >.git/commondir", ".git/commondir");
  ExpectFree("git config --list >/dev/null; cat .git/config >copy");
  // What a tool of the project writes again as it was.
  ExpectFree("git config core.bare false");
}

TEST_F(ProtectedPaths, TheNodeItself) {
  ExpectUndone("mv .git .git2", ".git");
  ExpectUndone("mv .git .git2; ln -s .git2 .git", ".git");
  ExpectUndone("mv .git .git2; mkdir -p .git/hooks; echo evil >.git/hooks/pre-commit", ".git");
  ExpectUndone("mv .git .git2; echo gitdir: .git2 >.git", ".git");
  ExpectUndone("mkdir -p a/b; mv .git a/b/c; git init -q .", ".git");
  EXPECT_EQ(project_.Git({"log", "--format=%s"}).output, "first\n");
  ExpectFree("mkdir .git2; touch .git2/config .gitignore");
}

TEST_F(ProtectedPaths, CommitsInARecipeAreFree) {
  ExpectFree(
      "echo more >>tracked; git add tracked; git -c user.name=a -c user.email=b commit -q -m "
      "recipe; git branch side; git checkout -q side; git tag t; git stash list; git gc -q");
  EXPECT_EQ(project_.Git({"log", "-1", "--format=%s"}).output, "recipe\n");
  EXPECT_EQ(project_.Git({"rev-parse", "--abbrev-ref", "HEAD"}).output, "side\n");
  // And through the tools.
  WriteText(root_ / "a", "a\n");
  EXPECT_TRUE(client_.CallTool("git_add", {{"paths", {"a"}}})["success"]);
  Json committed = client_.CallTool("git_commit", {{"message", "tool"}});
  EXPECT_TRUE(committed["success"]) << committed;
  EXPECT_FALSE(committed["data"].contains("protected_paths_modified")) << committed;
}

// The project's own hook is what it was, but what it starts is the agent's.
TEST_F(ProtectedPaths, ThroughAHookOfTheGitTools) {
  WriteText(root_ / ".git/hooks/pre-commit", "#!/bin/sh\nexec sh ./check.sh\n");
  WriteText(root_ / "check.sh", "git config core.fsmonitor ./evil\n");
  client_.CallTool("git_add", {{"paths", {"check.sh"}}});
  Json result = client_.CallTool("git_commit", {{"message", "m"}});
  EXPECT_TRUE(Names(result, ".git/config")) << result;
  EXPECT_EQ(project_.Git({"config", "core.fsmonitor"}).output, "");
}

TEST_F(ProtectedPaths, AConfiguredHooksPath) {
  WriteText(root_ / "tools/githooks/pre-commit", "#!/bin/sh\n");
  project_.Git({"config", "core.hooksPath", "tools/githooks"});
  ExpectUndone("echo evil >>tools/githooks/pre-commit", "tools/githooks/pre-commit");
  ExpectUndone("echo evil >tools/githooks/post-commit", "tools/githooks/post-commit");
  ExpectUndone("mv tools t; mkdir -p tools/githooks; echo evil >tools/githooks/pre-commit",
               "tools");
  ExpectUndone("rm -r tools", "tools/githooks");
  ExpectUndone("git config core.hooksPath evil", ".git/config");
  ExpectFree("echo free >tools/other; mkdir -p evil; echo x >evil/pre-commit");
  // In the configuration of the user, whose git outside follows it as well.
  project_.Git({"config", "--unset", "core.hooksPath"});
  project_.Git({"config", "--global", "core.hooksPath", ".shared-hooks"});
  ExpectUndone("mkdir .shared-hooks; echo evil >.shared-hooks/pre-commit", ".shared-hooks");
}

TEST_F(ProtectedPaths, WhatTheConfigurationIncludes) {
  project_.Git({"config", "include.path", "../shared.gitconfig"});
  WriteText(root_ / "shared.gitconfig", "[alias]\n\tst = status\n");
  ExpectUndone("printf '[core]\\n\\tfsmonitor = ./evil\\n' >>shared.gitconfig", "shared.gitconfig");
  fs::remove(root_ / "shared.gitconfig");
  ExpectUndone("printf '[core]\\n\\tfsmonitor = ./evil\\n' >shared.gitconfig", "shared.gitconfig");
  EXPECT_FALSE(fs::exists(root_ / "shared.gitconfig"));
  ExpectFree("echo free >other.gitconfig");
}

TEST_F(ProtectedPaths, Submodules) {
  const fs::path library = project_.outside() / "library";
  fs::create_directories(library);
  const std::string git = "git -C " + library.string();
  project_.Git({"init", "-q", library});
  project_.Git({"-C", library, "commit", "-q", "--allow-empty", "-m", "first"});
  ASSERT_EQ(
      project_.Git({"-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "lib"})
          .exit_code,
      0);
  Commit("library");
  ExpectUndone("echo evil >.git/modules/lib/hooks/post-checkout",
               ".git/modules/lib/hooks/post-checkout");
  ExpectUndone("git -C lib config core.fsmonitor evil", ".git/modules/lib/config");
  ExpectUndone("mkdir -p .git/modules/new/hooks", ".git/modules/new");
  ExpectUndone("echo gitdir: ../evil >lib/.git", "lib/.git");
  ExpectUndone("rm lib/.git; mkdir lib/.git; echo evil >lib/.git/config", "lib/.git");
  ExpectUndone("mv .git/modules/lib x; mkdir .git/modules/lib", ".git/modules/lib");
  ExpectFree("git -C lib -c user.name=a -c user.email=b commit -q --allow-empty -m in");
}

// `git status` above executes what the configuration of a submodule says, and an entry of the
// index, which recipes may write, makes a submodule of anything.
TEST_F(ProtectedPaths, NoSubmoduleIsMadeOfARepositoryOfTheCommands) {
  const std::string make =
      "mkdir -p sub; git init -q sub; git -C sub -c user.name=a -c user.email=b commit -q "
      "--allow-empty -m x; git -C sub config core.fsmonitor 'touch executed; false'; ";
  Json made =
      Run(make);  // below, where its configuration is judged alone (nested_repositories_test.cc)
  EXPECT_TRUE(made["success"]) << made;
  EXPECT_TRUE(fs::exists(root_ / "sub/.git/HEAD"));
  fs::remove_all(root_ / "sub");
  for (const char* split : {"", "git update-index --split-index; "}) {
    Json result = Run(make + split + "git add sub");
    EXPECT_TRUE(Names(result, "sub/.git")) << result;
    project_.Git({"status"});
    EXPECT_FALSE(fs::exists(root_ / "sub/executed"));
    // Not in a second step either.
    result = Run(make);
    EXPECT_TRUE(Names(result, "sub/.git")) << result;
    project_.Git({"update-index", "--no-split-index"});
    project_.Git({"rm", "-q", "--cached", "sub"});
    fs::remove_all(root_ / "sub");
  }
}

TEST_F(ProtectedPaths, LinkedWorktrees) {
  project_.Git({"worktree", "add", "-q", "tree"});
  ExpectUndone("echo /tmp >.git/worktrees/tree/commondir", ".git/worktrees/tree/commondir");
  ExpectUndone("echo /tmp/.git >.git/worktrees/tree/gitdir", ".git/worktrees/tree/gitdir");
  ExpectUndone("echo x >.git/worktrees/tree/config.worktree",
               ".git/worktrees/tree/config.worktree");
  ExpectUndone("echo gitdir: /tmp >tree/.git", "tree/.git");
  // From within, where the repository itself cannot be written anyway.
  WriteText(root_ / "tree/Makefile",
            ".PHONY: run\nrun:\n\t@mkdir -p evil; rm .git; mv evil .git\n");
  const std::string link = ReadText(root_ / "tree/.git");
  Json result = client_.CallTool("make", {{"target", "run"}, {"working_directory", "tree"}});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_TRUE(Names(result, ".git")) << result;
  EXPECT_EQ(ReadText(root_ / "tree/.git"), link);
  ExpectFree(
      "cd tree; echo x >free; git -c user.name=a -c user.email=b commit -q --allow-empty -m t");
}

// As policy.md says.
TEST_F(ProtectedPaths, OnlyWhoMadeALinkedWorktreeRemovesIt) {
  ExpectFree("git worktree add -q --detach mine; git worktree remove mine");
  project_.Git({"worktree", "add", "-q", "--detach", "users"});
  const Json removed = Run("git worktree remove users");
  EXPECT_FALSE(removed["success"]) << removed;
  EXPECT_TRUE(Names(removed, ".git/worktrees/users")) << removed;
  ExpectFree("true");
}

TEST_F(ProtectedPaths, WhereNoRepositoryIs) {
  fs::remove_all(root_ / ".git");
  WriteText(root_ / "recipe.sh", "");
  Json result = Run("git init -q .; echo evil >.git/hooks/pre-commit");
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_TRUE(Names(result, ".git")) << result;
  EXPECT_FALSE(fs::exists(root_ / ".git"));
  Json below = Run("mkdir -p sub; git init -q sub");
  EXPECT_TRUE(below["success"]) << below;
  EXPECT_FALSE(below["data"].contains("protected_paths_modified")) << below;
  EXPECT_TRUE(fs::exists(root_ / "sub/.git/HEAD"));
}

TEST_F(ProtectedPaths, NothingIsLost) {
  const Json result = Run("echo precious >.git/hooks/post-commit; echo precious >>.git/config");
  std::size_t kept = 0;
  const fs::path place = project_.home() / ".local/state/project-actions/displaced";
  for (const auto& entry : fs::recursive_directory_iterator(place)) {
    if (!entry.is_regular_file()) continue;
    kept += ReadText(entry.path()).contains("precious") ? 1 : 0;
    EXPECT_NE(result.dump().find(entry.path()), std::string::npos) << "said where: " << result;
  }
  EXPECT_EQ(kept, 2u);
}

TEST_F(ProtectedPaths, ARepositoryThatIsGoneFailsTheCall) {
  ExpectDamaged("rm -rf .git");
  ExpectDamaged("rm -rf .git || true", "objects are gone", true);
  ExpectDamaged("rm -rf .git; git init -q");
  ExpectDamaged("find .git -delete");
}

TEST_F(ProtectedPaths, SoDoesOneOfWhichGitCouldMakeNothing) {
  ExpectDamaged("rm -rf .git/objects");
  ExpectDamaged("rm -rf .git/refs .git/HEAD", "");
  ExpectDamaged("echo nothing >.git/HEAD", "");
  ExpectDamaged("rm -rf .git/objects/??; git hash-object -w Makefile");
  ExpectDamaged("rm -f .git/objects/[0-9a-f]*/*");
}

TEST_F(ProtectedPaths, HoweverItEnds) {
  const auto before = ReadText(root_ / ".git/config");
  for (const char* end : {"exit 3", "kill -KILL $$", "sleep 60"}) {
    const Json result =
        WithLongerDeadlines(root_ / "written", [&](std::chrono::milliseconds deadline) {
          return Run("echo evil >>.git/config; touch written; " + std::string(end),
                     {{"timeout_ms", deadline.count()}});
        });
    EXPECT_FALSE(result["success"]) << result;
    EXPECT_TRUE(Names(result, ".git/config")) << result;
    EXPECT_EQ(ReadText(root_ / ".git/config"), before) << end;
  }
  WriteText(root_ / "recipe.sh", "echo evil >>.git/config; echo ready; sleep 60");
  int call = client_.StartTool("make", {{"target", "run"}}, {{"progressToken", 7}});
  EXPECT_TRUE(Eventually([&] { return ReadText(root_ / ".git/config") != before; }));
  client_.Notify("notifications/cancelled", {{"requestId", call}});
  EXPECT_TRUE(Eventually([&] { return ReadText(root_ / ".git/config") == before; }));
  client_.StartTool("make", {{"target", "run"}});
  EXPECT_TRUE(Eventually([&] { return ReadText(root_ / ".git/config") != before; }));
  client_.CloseInput();
  EXPECT_TRUE(client_.WaitForExit());
  EXPECT_EQ(ReadText(root_ / ".git/config"), before) << "also when the client has gone";
}

// Nothing of ours is in the tree at any time: no stub, no lock, no empty directory.
TEST_F(ProtectedPaths, SigkillOfTheServerLeavesNothingOfOursInTheTree) {
  const auto before = Picture();
  WriteText(root_ / "recipe.sh", "touch begun; sleep 60");
  WriteText(root_ / "Makefile", ".PHONY: run\nrun:\n\t@sh -e ./recipe.sh\n");
  client_.StartTool("make", {{"target", "run"}});
  ASSERT_TRUE(Eventually([&] { return fs::exists(root_ / "begun"); }));
  client_.Signal(SIGKILL);
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(root_).empty(); }));
  fs::remove(root_ / "begun");
  EXPECT_EQ(Picture(), before);
}

TEST_F(ProtectedPaths, OverlappingCommandsDoNotPutBackWhatIsEvil) {
  const auto before = ReadText(root_ / ".git/config");
  WriteText(root_ / "recipe.sh",
            "echo evil >>.git/config; touch done1; while [ ! -e go ]; do sleep 0.02; done");
  WriteText(
      root_ / "Makefile",
      ".PHONY: run second\nrun:\n\t@sh -e ./recipe.sh\nsecond:\n\t@touch begun; while [ ! -e stop "
      "]; do sleep 0.02; done\n");
  int first = client_.StartTool("make", {{"target", "run"}});
  ASSERT_TRUE(Eventually([&] { return fs::exists(root_ / "done1"); }));
  int second = client_.StartTool("make", {{"target", "second"}});
  ASSERT_TRUE(Eventually([&] { return fs::exists(root_ / "begun"); }));
  WriteText(root_ / "go", "");
  Json reply = client_.Await(first);
  EXPECT_TRUE(Names(reply["result"]["structuredContent"], ".git/config")) << reply;
  EXPECT_EQ(ReadText(root_ / ".git/config"), before);
  WriteText(root_ / "stop", "");
  reply = client_.Await(second);
  EXPECT_EQ(ReadText(root_ / ".git/config"), before) << reply;
}

TEST_F(ProtectedPaths, PlacesOfThePolicy) {
  WriteText(root_ / "ci/deploy.sh", "original\n");
  WriteText(project_.home() / "policy.yaml",
            "version: 1\nnamespaces: off\nfilesystem: {protect: [ci]}\n");
  McpClient client(project_.Server({"--policy", project_.home() / "policy.yaml"}));
  client.Initialize();
  WriteText(root_ / "Makefile",
            ".PHONY: run free\nrun:\n\t@echo evil >ci/deploy.sh; touch ci/x\nfree:\n\t@touch cj\n");
  Json result = client.CallTool("make", {{"target", "run"}});
  EXPECT_TRUE(Names(result, "ci/deploy.sh")) << result;
  EXPECT_TRUE(Names(result, "ci/x")) << result;
  EXPECT_EQ(ReadText(root_ / "ci/deploy.sh"), "original\n");
  EXPECT_FALSE(
      client.CallTool("make", {{"target", "free"}})["data"].contains("protected_paths_modified"));
}

TEST_F(ProtectedPaths, MoreThanCanBeHeldRunsNothing) {
  fs::resize_file(root_ / ".git/hooks/pre-commit", 40u << 20);
  Json result = Run("touch ran");
  EXPECT_EQ(result["error"]["code"], "SANDBOX_UNAVAILABLE") << result;
  EXPECT_NE(result["error"]["message"].get<std::string>().find("hooks"), std::string::npos);
  EXPECT_FALSE(fs::exists(root_ / "ran"));
  EXPECT_TRUE(client_.CallTool("make_targets")["success"]) << "what cannot write needs no guard";
}

TEST_F(ProtectedPaths, WhatOtherProgramsExecuteByThemselves) {
  WriteText(root_ / ".gemini/settings.json", "{}\n");
  for (const char* file : {".mcp.json", ".gemini/settings.json", ".claude/settings.json",
                           ".claude/hooks/x", ".vscode/tasks.json", ".envrc"}) {
    const std::string directory = fs::path(file).parent_path();
    const std::string make = directory.empty() ? "" : "mkdir -p " + directory + "; ";
    const Json result = Run(make + "echo evil >" + file);
    EXPECT_TRUE(result["success"]) << result;
    EXPECT_TRUE(result["data"].contains("protected_paths_modified")) << file << result;
    EXPECT_FALSE(fs::exists(root_ / file) && ReadText(root_ / file) == "evil\n") << file;
  }
  EXPECT_EQ(ReadText(root_ / ".gemini/settings.json"), "{}\n");
  for (const char* script :
       {"mkdir -p .claude/worktrees/x .claude/skills/y; echo x >.claude/worktrees/x/file",
        "mkdir -p node_modules/x/.vscode; echo x >node_modules/x/.vscode/settings.json",
        "mkdir -p .vscode .github/workflows; echo x >.vscode/extensions.json",
        "git init -q made; echo x >made/.mcp.json"}) {
    const Json result = Run(script);
    EXPECT_TRUE(result["success"]) << result;
    EXPECT_FALSE(result["data"].contains("protected_paths_modified")) << script << result;
  }
}

TEST_F(ProtectedPaths, FileToolsLeaveWhatOtherProgramsExecute) {
  WriteText(root_ / ".vscode/tasks.json", "{}\n");
  WriteText(root_ / ".vscode/extensions.json", "{}\n");
  const auto denied = [&](const char* tool, Json arguments) {
    const Json result = client_.CallTool(tool, std::move(arguments));
    EXPECT_EQ(result["error"]["code"], "POLICY_DENIED") << tool << result;
    return result["error"]["message"].get<std::string>();
  };
  EXPECT_EQ(denied("write", {{"path", ".envrc"}, {"content", "x"}}),
            ".envrc is protected: executed by direnv (executed when a shell enters the directory); "
            "a policy unprotects it with filesystem: {unprotect: [.envrc]}");
  EXPECT_NE(
      denied("write", {{"path", ".mcp.json"}, {"content", "x"}}).find("no policy can unprotect it"),
      std::string::npos);
  denied("edit", {{"edits", {{{"path", ".vscode/tasks.json"}, {"old", "{}"}, {"new", "[]"}}}}});
  denied("delete", {{"path", ".vscode/tasks.json"}});
  denied("delete", {{"path", ".vscode"}, {"recursive", true}});
  fs::create_directories(root_ / "VSCODE~1");
  fs::create_directories(root_ / "VSCODE~x");
  for (const char* spelled : {"VSCODE~1/tasks.json", ".mcp.json.", ".mcp.json ", "ENVRC~1"}) {
    denied("write", {{"path", spelled}, {"content", "x"}});
  }
  for (const char* other : {"VSCODE~x/tasks.json", ".mcp.json.bak", "foo~1"}) {
    EXPECT_TRUE(client_.CallTool("write", {{"path", other}, {"content", "x"}})["success"]) << other;
  }
  EXPECT_EQ(ReadText(root_ / ".vscode/tasks.json"), "{}\n");
  EXPECT_FALSE(fs::exists(root_ / ".envrc"));
  EXPECT_TRUE(client_.CallTool("write", {{"path", "envrc"}, {"content", "x"}})["success"]);
  EXPECT_TRUE(client_.CallTool("delete", {{"path", ".vscode/extensions.json"}})["success"]);
}

// Every line of the table, in a home that is the project, so that those of the home count, too.
class EachHostFile : public ::testing::TestWithParam<const char*> {
 protected:
  using Names = std::vector<std::string>;
  static constexpr const char* kOurs[] = {".mcp.json", ".gemini/settings.json", ".cursor/mcp.json",
                                          ".vscode/mcp.json",
                                          ".config/Claude/claude_desktop_config.json"};
  // Those that a policy can give up, as the program has them.
  Names Given() const {
    const ProgramResult schema =
        RunProgram({.command = {BuiltProgram("PA_SERVER"), "policy", "schema"},
                    .environment = {"HOME=" + project_.home().string(), "PATH=/usr/bin:/bin"}});
    const Json keys = Json::parse(schema.output)["properties"]["filesystem"]["properties"];
    return keys["unprotect"]["items"]["enum"].get<Names>();
  }
  Names All() const {
    Names all = Given();
    all.insert(all.end(), std::begin(kOurs), std::end(kOurs));
    return all;
  }
  void Start(const Names& unprotected) {
    const fs::path policy = project_.outside() / "policy.yaml";
    WriteText(policy, Json{{"version", 1},
                           {"namespaces", GetParam()},
                           {"filesystem", {{"unprotect", unprotected}}}}
                          .dump());
    client_.emplace(
        ServerOptions{.arguments = {"--root", home_, "--enable", "all", "--policy", policy},
                      .environment = {"XDG_STATE_HOME=" + (project_.outside() / "state").string()},
                      .directory = home_,
                      .home = home_});
    client_->Initialize();
  }
  // One command that makes all of them, and neighbours. `name`: what in each; "": files.
  void MakeAll(const std::string& name) {
    std::string script;
    for (const std::string& path : All()) {
      const std::string file = path + name;
      script += "mkdir -p ./$(dirname " + file + "); echo made >" + file + "\n";
    }
    script += "mkdir -p .claude/skills .github/workflows .devcontainer\n";
    for (const char* free : kFree) script += std::string("echo made >") + free + "\n";
    const Json result = client_->CallTool("bash", {{"command", script}});
    EXPECT_TRUE(result["success"]) << result;
    for (const char* free : kFree) EXPECT_EQ(ReadText(home_ / free), "made\n") << free;
  }
  static constexpr const char* kFree[] = {".claude/skills/x", ".github/workflows/ci.yml",
                                          ".vscode/extensions.json", ".devcontainer/Dockerfile"};

  Project project_{".PHONY: all\nall:\n"};
  const fs::path& home_ = project_.home();
  std::optional<McpClient> client_;
};

INSTANTIATE_TEST_SUITE_P(Tiers, EachHostFile, ::testing::Values("auto", "off"));

TEST_P(EachHostFile, IsNotMade) {
  Start({});
  EXPECT_GT(All().size(), 100u);
  for (const char* name : {"", "/inside"}) {
    MakeAll(name);
    for (const std::string& path : All()) {
      EXPECT_FALSE(fs::exists(fs::symlink_status(home_ / path))) << path << name;
    }
  }
}

TEST_P(EachHostFile, IsRefusedToFileTools) {
  Start({});
  for (const std::string& path : All()) {
    const Json result =
        client_->CallTool("write", {{"path", path}, {"content", "x"}, {"create_parents", true}});
    EXPECT_EQ(result["error"]["code"], "POLICY_DENIED") << path << result;
    EXPECT_FALSE(fs::exists(home_ / path)) << path;
  }
  for (const char* free : kFree) {
    const Json result =
        client_->CallTool("write", {{"path", free}, {"content", "x"}, {"create_parents", true}});
    EXPECT_TRUE(result["success"]) << free << result;
  }
}

TEST_P(EachHostFile, IsMadeWhereThePolicyGivesItUp) {
  Start(Given());
  MakeAll("");
  for (const std::string& path : Given()) {
    // In the home these say how a client of the user's starts this server (policy/trust_anchors.h).
    if (path == ".claude/settings.json" || path == ".codex/config.toml") continue;
    EXPECT_EQ(ReadText(home_ / path), "made\n") << path;
  }
  for (const char* ours : kOurs) EXPECT_FALSE(fs::exists(home_ / ours)) << ours;
}

// A repository below is opened as a project of its own.
TEST_F(ProtectedPaths, ProjectsBelowHaveSuchFilesToo) {
  project_.Git({"init", "-q", "sub/project"});
  WriteText(root_ / "sub/project/.vscode/tasks.json", "{}\n");
  const std::string place = "sub/project/.mcp.json";
  EXPECT_EQ(client_.CallTool("write", {{"path", place}, {"content", "x"}})["error"]["code"],
            "POLICY_DENIED");
  EXPECT_EQ(
      client_.CallTool("delete", {{"path", "sub/project/.vscode/tasks.json"}})["error"]["code"],
      "POLICY_DENIED");
  EXPECT_TRUE(client_.CallTool("write", {{"path", "sub/.mcp.json"}, {"content", "x"}})["success"])
      << "there is no project";
  ExpectUndone("echo evil >" + place, place);
  ExpectUndone("echo evil >sub/project/.vscode/tasks.json", "sub/project/.vscode/tasks.json");
  ExpectFree("echo free >sub/project/file; mkdir -p sub/project/.claude/skills");
}

TEST_F(ProtectedPaths, WhateverDirectoryACallChooses) { ExpectKeptInItsMidst(); }

TEST_F(ProtectedPaths, WhatIsRenamedBeneathAWriteIsSeen) { ExpectRenamesBeneathAWriteAreSeen(); }

TEST_F(ProtectedPaths, WhereThereAreMoreProjectsThanAreProtectedItIsSaid) {
  const auto made = [&](int number) { return root_ / ("r" + std::to_string(100 + number)); };
  const auto said = [&] {
    const Json result = Run("echo {} >r162/.mcp.json; echo {} >r163/.mcp.json");
    EXPECT_TRUE(Names(result, "r162/.mcp.json")) << result;
    return result["meta"]["warnings"].dump().contains("more projects here than the 64");
  };
  for (int i = 0; i < 63; ++i) fs::create_directories(made(i) / ".git");
  fs::create_directories(made(63));
  EXPECT_FALSE(said()) << "the project itself is the first";
  EXPECT_EQ(ReadText(made(63) / ".mcp.json"), "{}\n") << "no project";
  fs::create_directories(made(63) / ".git");
  EXPECT_TRUE(said());
  EXPECT_FALSE(fs::exists(made(62) / ".mcp.json"));
}

TEST_F(ProtectedPaths, WhatThePolicyGivesUpIsFree) {
  WriteText(project_.home() / "policy.yaml",
            "version: 1\nnamespaces: off\nfilesystem: {unprotect: [.vscode/tasks.json]}\n");
  McpClient client(project_.Server({"--policy", project_.home() / "policy.yaml"}));
  client.Initialize();
  WriteText(root_ / "Makefile",
            ".PHONY: run\nrun:\n\t@mkdir .vscode; echo x >.vscode/tasks.json; echo x >.envrc\n");
  const Json result = client.CallTool("make", {{"target", "run"}});
  EXPECT_TRUE(Names(result, ".envrc")) << result;
  EXPECT_FALSE(Names(result, ".vscode/tasks.json")) << result;
  EXPECT_EQ(ReadText(root_ / ".vscode/tasks.json"), "x\n");
}

// Tracked files do not break a checkout: it goes to the branch, and the file stays.
class Checkouts : public ProtectedPaths {
 protected:
  using ProtectedPaths::ProtectedPaths;
  void MakeBranches() {
    WriteText(root_ / ".vscode/settings.json", "one\n");
    Commit("one");
    project_.Git({"checkout", "-q", "-b", "other"});
    WriteText(root_ / ".vscode/settings.json", "two\n");
    WriteText(root_ / ".idea/workspace.xml", "two\n");
    Commit("two");
    project_.Git({"checkout", "-q", "-"});
    WriteText(root_ / ".git/info/exclude", "recipe.sh\nMakefile\n");
  }
  void TryCheckout() {
    MakeBranches();
    const Json result = Run("git checkout -q other; git symbolic-ref HEAD; cat tracked");
    EXPECT_TRUE(result["success"]) << result;
    EXPECT_EQ(result["data"]["stdout"], "refs/heads/other\ntwo\n") << result;
    EXPECT_EQ(ReadText(root_ / ".vscode/settings.json"), "one\n");
    EXPECT_FALSE(fs::exists(root_ / ".idea/workspace.xml"));
  }
};

TEST_F(Checkouts, GoToTheBranch) { TryCheckout(); }

// In a view of its own the command cannot change what is there at all.
class SealedPaths : public ProtectedPaths {
 protected:
  SealedPaths() : ProtectedPaths("require") {}
  void SetUp() override {
    ProtectedPaths::SetUp();
    if (!Run("true")["success"]) GTEST_SKIP() << "no namespaces are granted here";
  }
  void ExpectPrevented(const std::string& script) {
    WriteText(root_ / "recipe.sh", "");
    const auto before = Picture();
    const Json result = Run(script);
    EXPECT_FALSE(result["success"]) << script << result;
    EXPECT_FALSE(result["data"].contains("protected_paths_modified")) << script << result;
    EXPECT_EQ(Picture(), before) << script;
  }
};

TEST_F(SealedPaths, WhateverDirectoryACallChooses) { ExpectKeptInItsMidst(); }

TEST_F(SealedPaths, WhatIsRenamedBeneathAWriteIsSeen) { ExpectRenamesBeneathAWriteAreSeen(); }

TEST_F(SealedPaths, ARepositoryThatIsEmptiedFailsTheCall) {
  ExpectDamaged("rm -rf .git");
  ExpectDamaged("rm -rf .git", "objects are gone", true);
  ExpectDamaged("rm -rf .git/refs .git/HEAD", "");
  ExpectDamaged("find .git/objects -type f -delete");
}

TEST_F(SealedPaths, WhatGitDoesIsFree) {
  const std::string user = "git -c user.name=a -c user.email=b ";
  ExpectFree(user + "commit -q --no-verify --allow-empty -m x; git gc -q --prune=now");
  ExpectFree("git checkout -q -b other; git branch -q -D main; git pack-refs --all");
}

TEST_F(SealedPaths, OnlyWhoMadeALinkedWorktreeRemovesIt) {
  ExpectFree("git worktree add -q --detach mine; git worktree remove mine");
  project_.Git({"worktree", "add", "-q", "--detach", "users"});
  const Json removed = Run("git worktree remove users");
  EXPECT_NE(removed["data"]["stderr"].dump().find("Device or resource busy"), std::string::npos)
      << removed;
  EXPECT_EQ(project_.Git({"-C", "users", "rev-parse", "HEAD"}).exit_code, 0);
}

TEST_F(SealedPaths, WhatIsThereStays) {
  ExpectPrevented("echo evil >.git/hooks/post-checkout");
  ExpectPrevented("echo evil >>.git/hooks/pre-commit");
  ExpectPrevented("chmod -x .git/hooks/pre-commit");
  ExpectPrevented("rm .git/hooks/pre-commit");
  ExpectPrevented("rm -r .git/hooks");
  ExpectPrevented("mv .git/hooks .git/h");
  ExpectPrevented("mv .git git");
  ExpectPrevented("echo evil >>.git/config");
  ExpectPrevented("git config core.fsmonitor ./evil");
  ExpectPrevented("rm .git/config");
}

// What the user does outside while a command runs, and what the command does after that.
class SavedMeanwhile : public SealedPaths {
 protected:
  void SetUp() override {
    SealedPaths::SetUp();
    WriteText(root_ / ".mcp.json", "before\n");
  }
  // The janitor reads what takes the place of a file. What a command does before that is nobody's
  // for certain, so a test waits until the file was read and closed.
  class Reading {
   public:
    explicit Reading(const fs::path& file)
        : file_(file.filename()), inotify_(inotify_init1(IN_CLOEXEC)) {
      constexpr std::uint32_t kMask = IN_MOVED_TO | IN_CLOSE_NOWRITE;
      EXPECT_GE(inotify_add_watch(inotify_.get(), file.parent_path().c_str(), kMask), 0);
    }
    void Await() {
      while (!Next()) {
      }
    }

   private:
    static constexpr int kPatienceMs = 30'000;
    // Whether it was closed since it was renamed.
    bool Next() {
      alignas(inotify_event) std::array<char, 4096> events;
      pollfd readable{inotify_.get(), POLLIN, 0};
      if (poll(&readable, 1, kPatienceMs) != 1) {
        ADD_FAILURE() << file_ << " is not read";
        return true;
      }
      const ssize_t size = read(inotify_.get(), events.data(), events.size());
      bool closed = false;
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        if (event->len == 0 || file_ != event->name) continue;
        if ((event->mask & IN_MOVED_TO) != 0) moved_ = true;
        closed = closed || (moved_ && (event->mask & IN_CLOSE_NOWRITE) != 0);
      }
      return closed;
    }
    std::string file_;
    UniqueFd inotify_;
    bool moved_ = false;
  };
  // As editors and git do; the command goes on when it is done, and seen.
  template <typename Outside>
  void Replacing(const std::string& file, Outside outside) {
    Reading reading(root_ / file);
    outside();
    reading.Await();
    // The janitor's answer has yet to come to the server.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (int i = 0; i < 3; ++i) client_.Request("ping");
  }
  void Replace(const std::string& file, std::string_view text) {
    WriteText(root_ / "new", text);
    Replacing(file, [&] { fs::rename(root_ / "new", root_ / file); });
  }
  template <typename Outside>
  Json While(Outside outside, const std::string& then) {
    for (const char* name : {"begun", "go"}) fs::remove(root_ / name);
    WriteText(root_ / "recipe.sh",
              "touch begun; while [ ! -e go ]; do sleep 0.02; done\n" + then + "\n");
    WriteText(root_ / "Makefile", ".PHONY: run\nrun:\n\t@sh ./recipe.sh\n");
    const int id = client_.StartTool("make", {{"target", "run"}});
    EXPECT_TRUE(Eventually([&] { return fs::exists(root_ / "begun"); }));
    outside();
    WriteText(root_ / "go", "");
    return client_.Await(id)["result"]["structuredContent"];
  }
  std::string Servers() const { return ReadText(root_ / ".mcp.json"); }
};

TEST_F(SavedMeanwhile, WhatTheUserReplacesStays) {
  const Json result = While([&] { Replace(".mcp.json", "the user's\n"); }, "true");
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_FALSE(result["data"].contains("protected_paths_modified")) << result;
  EXPECT_EQ(Servers(), "the user's\n");
}

TEST_F(SavedMeanwhile, AndComesBackWhenTheCommandWritesIt) {
  const Json result =
      While([&] { Replace(".mcp.json", "the user's\n"); }, "echo evil >.mcp.json; true");
  EXPECT_TRUE(Names(result, ".mcp.json")) << result;
  EXPECT_EQ(Servers(), "the user's\n");
}

TEST_F(SavedMeanwhile, OrReplacesIt) {
  const Json result =
      While([&] { Replace(".mcp.json", "the user's\n"); }, "echo evil >n; mv -f n .mcp.json; true");
  EXPECT_TRUE(Names(result, ".mcp.json")) << result;
  EXPECT_EQ(Servers(), "the user's\n");
}

TEST_F(SavedMeanwhile, WhatTheUserWritesInPlaceStays) {
  const Json result =
      While([&] { WriteText(root_ / ".mcp.json", "the user's\n"); }, "echo evil >.mcp.json; true");
  EXPECT_FALSE(result["data"].contains("protected_paths_modified")) << result;
  EXPECT_EQ(Servers(), "the user's\n");
}

TEST_F(SavedMeanwhile, WhatTheUserRemovesIsGone) {
  const Json result = While([&] { fs::remove(root_ / ".mcp.json"); }, "true");
  EXPECT_FALSE(result["data"].contains("protected_paths_modified")) << result;
  EXPECT_FALSE(fs::exists(root_ / ".mcp.json"));
}

TEST_F(SavedMeanwhile, SoDoesWhatGitConfigures) {
  const auto configure = [&] { project_.Git({"config", "user.name", "Ann"}); };
  const Json result =
      While([&] { Replacing(".git/config", configure); }, "git config core.x y; true");
  EXPECT_FALSE(Names(result, ".git/hooks")) << result;
  EXPECT_NE(ReadText(root_ / ".git/config").find("Ann"), std::string::npos);
  EXPECT_EQ(ReadText(root_ / ".git/config").find("x = y"), std::string::npos) << result;
}

TEST_F(SavedMeanwhile, AndAHookThatTheUserInstalls) {
  const Json result = While([&] { WriteText(root_ / ".git/hooks/pre-push", "the user's\n"); },
                            "echo evil >.git/hooks/pre-push; true");
  EXPECT_FALSE(result["data"].contains("protected_paths_modified")) << result;
  EXPECT_EQ(ReadText(root_ / ".git/hooks/pre-push"), "the user's\n");
}

// Its directory is mounted, but not read-only, since git writes in the modules that are there. By
// file://, because hard links between clones would hide it: with those nothing is known to be the
// user's.
TEST_F(SavedMeanwhile, ButNoModuleThatACommandMakes) {
  const std::string library = project_.outside() / "library";
  project_.Git({"init", "-q", library});
  project_.Git({"-C", library, "commit", "-q", "--allow-empty", "-m", "first"});
  const auto added = project_.Git(
      {"-c", "protocol.file.allow=always", "submodule", "add", "-q", "file://" + library, "lib"});
  ASSERT_EQ(added.exit_code, 0) << added.errors;
  Commit("library");
  const std::string hook = ".git/modules/lib/hooks/post-merge";
  const Json result =
      While([&] { WriteText(root_ / hook, "the user's\n"); },
            "mkdir -p .git/modules/evil/hooks; echo ref: x >.git/modules/evil/HEAD; "
            "echo evil >.git/modules/evil/hooks/post-checkout; "
            "git config -f .gitmodules submodule.evil.path evil");
  EXPECT_TRUE(Names(result, ".git/modules/evil")) << result;
  EXPECT_FALSE(Names(result, hook)) << result;
  EXPECT_FALSE(fs::exists(root_ / ".git/modules/evil"));
  EXPECT_EQ(ReadText(root_ / hook), "the user's\n");
  ExpectFree("git -C lib -c user.name=a -c user.email=b commit -q --allow-empty -m in");
}

// Without mounts nobody knows whose it is: what was there comes back, and what came is kept.
TEST_F(ProtectedPaths, WhatTheUserSavesMeanwhileIsNotLost) {
  WriteText(root_ / ".mcp.json", "before\n");
  WriteText(root_ / "recipe.sh", "touch begun; while [ ! -e go ]; do sleep 0.02; done\n");
  WriteText(root_ / "Makefile", ".PHONY: run\nrun:\n\t@sh ./recipe.sh\n");
  const int id = client_.StartTool("make", {{"target", "run"}});
  ASSERT_TRUE(Eventually([&] { return fs::exists(root_ / "begun"); }));
  WriteText(root_ / ".mcp.json", "the user's\n");
  WriteText(root_ / "go", "");
  const Json result = client_.Await(id)["result"]["structuredContent"];
  EXPECT_TRUE(Names(result, ".mcp.json")) << result;
  EXPECT_EQ(ReadText(root_ / ".mcp.json"), "before\n");
  bool kept = false;
  const fs::path displaced = project_.home() / ".local/state/project-actions/displaced";
  for (const auto& entry : fs::recursive_directory_iterator(displaced)) {
    kept = kept || (entry.is_regular_file() && ReadText(entry.path()) == "the user's\n");
  }
  EXPECT_TRUE(kept) << result;
}

class SealedCheckouts : public Checkouts {
 protected:
  SealedCheckouts() : Checkouts("require") {}
};

TEST_F(SealedCheckouts, GoToTheBranch) {
  if (!Run("true")["success"]) GTEST_SKIP() << "no namespaces are granted here";
  TryCheckout();
}

// As docs/policy.md says, with the way out that it names.
TEST_F(SealedCheckouts, AMergeStopsAtAProtectedFileUnlessThePolicyGivesItUp) {
  if (!Run("true")["success"]) GTEST_SKIP() << "no namespaces are granted here";
  MakeBranches();
  const Json stopped = Run("git merge -q other");
  EXPECT_FALSE(stopped["success"]) << stopped;
  EXPECT_TRUE(stopped.dump().contains("unable to unlink old '.vscode/settings.json'")) << stopped;
  EXPECT_EQ(ReadText(root_ / ".vscode/settings.json"), "one\n");
  project_.Git({"reset", "-q", "--hard"});
  project_.Git({"clean", "-q", "-f", "-d"});
  WriteText(root_ / "recipe.sh", "git merge -q other");
  WriteText(project_.home() / "policy.yaml",
            "version: 1\nnamespaces: require\ngit: {commands: write}\n"
            "filesystem: {unprotect: [.vscode/settings.json, .idea/workspace.xml]}\n");
  McpClient client(project_.Server({"--policy", project_.home() / "policy.yaml"}));
  client.Initialize();
  const Json merged = client.CallTool("make", {{"target", "run"}});
  EXPECT_TRUE(merged["success"]) << merged;
  EXPECT_EQ(ReadText(root_ / ".vscode/settings.json"), "two\n");
}

TEST_F(SealedPaths, WhatOtherProgramsExecuteStays) {
  WriteText(root_ / ".claude/settings.json", "{}\n");
  ExpectPrevented("echo evil >.claude/settings.json");
  ExpectPrevented("rm .claude/settings.json");
  ExpectPrevented("mv .claude c");
  ExpectUndone("echo evil >.mcp.json", ".mcp.json");
  const Json result = Run("echo evil >.claude/settings.json");
  EXPECT_NE(result.dump().find("filesystem: {unprotect: [.claude/settings.json]}"),
            std::string::npos)
      << result;
}

TEST_F(SealedPaths, WhatWasNotThereIsUndone) {
  ExpectUndone("echo ../other >.git/commondir", ".git/commondir");
  ExpectUndone("echo evil >.git/config.worktree", ".git/config.worktree");
}

TEST_F(SealedPaths, OrdinaryWorkGoesOn) {
  ExpectFree(
      "echo x >new; git add new; git -c user.name=a -c user.email=b commit -q -m new; git log "
      "--oneline >/dev/null");
  ExpectFree("git branch other; git checkout -q other; git gc -q; git status >/dev/null");
  ExpectFree("mkdir -p hooks; echo mine >hooks/pre-commit; mv hooks hooks2; rm -r hooks2");
}

}  // namespace
}  // namespace pa::testing
