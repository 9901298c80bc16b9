// Git repositories below the working directory, through the real server, with namespaces and
// without.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

class NestedRepositories : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    WriteText(project_.home() / ".gitconfig", "[user]\n\tname = a\n\temail = b\n");
    WriteText(project_.home() / "policy.yaml",
              std::string("version: 1\ngit: {commands: write}\nnamespaces: ") + GetParam() + "\n");
    project_.Git({"init", "-q", "-b", "main", "theirs"});
    project_.Git({"-C", "theirs", "commit", "-q", "--allow-empty", "-m", "first"});
    Start();
  }
  void Start() {
    client_.reset();
    client_.emplace(project_.Server({"--policy", project_.home() / "policy.yaml"}));
    client_->Initialize();
  }
  Json Bash(const std::string& command) {
    return client_->CallTool("bash", {{"command", command}});
  }
  int StartBash(const std::string& command, const std::string& directory = ".") {
    return client_->StartTool(
        "bash", {{"command", command}, {"working_directory", project_.root() / directory}});
  }
  // Of a command: says that it has come so far, and goes on when `name`.go is there.
  static std::string Wait(const std::string& name) {
    return "touch " + name + ".there; while ! test -e " + name + ".go; do sleep 0.05; done; ";
  }
  void Await(const std::string& path) {
    ASSERT_TRUE(Eventually([&] { return Exists(path); })) << path << client_->Errors();
  }
  std::string Text(const std::string& path) { return ReadText(project_.root() / path); }
  bool Exists(const std::string& path) { return fs::exists(project_.root() / path); }
  static bool Says(const Json& result, std::string_view text) {
    return result.dump().find(text) != std::string::npos;
  }
  // As git makes one, without the user's settings, which commands do not see.
  static constexpr char kCommit[] =
      "git -c user.name=a -c user.email=b commit -q --allow-empty -m x";

  Project project_{".PHONY: all\nall:\n"};
  std::optional<McpClient> client_;
};

INSTANTIATE_TEST_SUITE_P(Tiers, NestedRepositories, ::testing::Values("auto", "off"));

TEST_P(NestedRepositories, ThoseThatAreThereStayAsTheyAre) {
  const std::string config = Text("theirs/.git/config");
  Bash("printf '[core]\\n\\tfsmonitor = ./evil\\n' >> theirs/.git/config");
  Bash("echo evil > theirs/.git/hooks/pre-commit; chmod +x theirs/.git/hooks/pre-commit");
  Bash(
      "mv theirs moved && mkdir theirs && git -C theirs init && "
      "git -C theirs config core.fsmonitor ./evil");
  EXPECT_EQ(Text("theirs/.git/config"), config);
  EXPECT_FALSE(Exists("theirs/.git/hooks/pre-commit"));
  EXPECT_EQ(project_.Git({"-C", "theirs", "log", "--format=%s"}).output, "first\n");
  const Json beside = Bash("echo text > theirs/file && git -C theirs status --short");
  EXPECT_TRUE(beside["success"]) << beside;
  EXPECT_EQ(Text("theirs/file"), "text\n");
}

// What hosts execute (policy/host_files.h): the user opens each repository as a project of its own.
TEST_P(NestedRepositories, SoDoesWhatHostsExecuteInThem) {
  WriteText(project_.root() / "theirs/.vscode/tasks.json", "{}\n");
  Bash(
      "cd theirs; mkdir -p .claude/hooks .claude/skills; for file in .mcp.json .vscode/tasks.json "
      ".claude/hooks/x .envrc; do echo evil > $file; done; mv .vscode v; echo free > "
      ".claude/skills/x; echo free > file");
  EXPECT_EQ(Text("theirs/.vscode/tasks.json"), "{}\n");
  for (const char* file : {".mcp.json", ".claude/hooks/x", ".envrc"}) {
    EXPECT_FALSE(Exists(std::string("theirs/") + file)) << file;
  }
  EXPECT_EQ(Text("theirs/.claude/skills/x"), "free\n");
  EXPECT_EQ(Text("theirs/file"), "free\n");
  const auto write = [&](const char* path) {
    return client_->CallTool("write", {{"path", path}, {"content", "x"}});
  };
  EXPECT_EQ(write("theirs/.mcp.json")["error"]["code"], "POLICY_DENIED");
  EXPECT_TRUE(write("theirs/.claude/skills/y")["success"]);
}

// As policy.md says: those in what a command made are what it left, to commands.
TEST_P(NestedRepositories, ButNotInThoseThatCommandsMake) {
  const Json made = Bash("git clone -q theirs clone && echo free > clone/.mcp.json");
  EXPECT_TRUE(made["success"]) << made;
  EXPECT_FALSE(Says(made, "protected_paths_modified")) << made;
  const Json changed = Bash("echo again > clone/.mcp.json; echo free > clone/.envrc");
  EXPECT_FALSE(Says(changed, "protected_paths_modified")) << changed;
  EXPECT_EQ(Text("clone/.mcp.json"), "again\n");
  EXPECT_EQ(Text("clone/.envrc"), "free\n");
  const Json refused = client_->CallTool("write", {{"path", "clone/mise.toml"}, {"content", "x"}});
  EXPECT_EQ(refused["error"]["code"], "POLICY_DENIED") << refused;
  const Json written = client_->CallTool("write", {{"path", "clone/file"}, {"content", "x"}});
  EXPECT_TRUE(written["success"]) << written;
}

// `git clone --bare x p/.bare; git worktree add ../main`, and --separate-git-dir: git knows them by
// what is in them.
TEST_P(NestedRepositories, ThoseThatHaveAnotherNameToo) {
  project_.Git({"clone", "-q", "--bare", "theirs", "p/.bare"});
  project_.Git({"--git-dir=p/.bare", "worktree", "add", "-q", "p/main"});
  project_.Git({"init", "-q", "--separate-git-dir=data", "apart"});
  const auto refused = [&](const std::string& tool, const Json& arguments, const char* code) {
    const Json result = client_->CallTool(tool, arguments);
    EXPECT_EQ(result["error"]["code"], code) << tool << result;
  };
  const std::string config = Text("p/.bare/config");
  const Json planted = {{"path", "p/.bare/config"}, {"old", "bare"}, {"new", "fsmonitor"}};
  refused("edit", {{"edits", Json::array({planted})}}, "POLICY_DENIED");
  refused("delete", {{"path", "data/HEAD"}}, "POLICY_DENIED");
  for (const char* path : {"p/.bare/hooks/x", "data/hooks/x", "p/.bare/worktrees/main/new"}) {
    refused("write", {{"path", path}, {"content", "x"}}, "POLICY_DENIED");
    EXPECT_FALSE(Exists(path)) << path;
  }
  for (const char* path : {"p/.bare", "p/.bare/hooks", "data/hooks", "p/.bare/worktrees/main"}) {
    const std::string there = project_.root() / path;
    refused("bash", {{"command", "true"}, {"working_directory", there}}, "INVALID_DIRECTORY");
    refused("git_add", {{"paths", {"."}}, {"working_directory", there}}, "INVALID_DIRECTORY");
  }
  EXPECT_EQ(Text("p/.bare/config"), config);
  const Json wrote = client_->CallTool("write", {{"path", "p/main/file"}, {"content", "text"}});
  EXPECT_TRUE(wrote["success"]) << wrote;
  const Json worked = client_->CallTool(
      "bash", {{"command", "git status"}, {"working_directory", project_.root() / "apart"}});
  EXPECT_TRUE(worked["success"] || worked["error"]["code"] == "COMMAND_FAILED") << worked;
}

// Where the user makes one a root, what git executes in it stays as it is.
TEST_P(NestedRepositories, ABareOneThatIsARootCanBeWorkedIn) {
  project_.Git({"clone", "-q", "--bare", "theirs", "bare.git"});
  const std::string bare = project_.root() / "bare.git";
  client_.emplace(project_.Server(
      {"--policy", project_.home() / "policy.yaml", "--root", project_.root(), "--root", bare}));
  client_->Initialize();
  const auto bash = [&](const std::string& command) {
    return client_->CallTool("bash", {{"command", command}, {"working_directory", bare}});
  };
  const Json worked = bash("git branch new HEAD");
  EXPECT_TRUE(worked["success"]) << worked;
  const std::string config = Text("bare.git/config");
  bash("echo evil > hooks/pre-push; git config core.fsmonitor ./evil");
  EXPECT_FALSE(Exists("bare.git/hooks/pre-push"));
  EXPECT_EQ(Text("bare.git/config"), config);
  const Json hook = client_->CallTool("write", {{"path", bare + "/hooks/x"}, {"content", "x"}});
  EXPECT_EQ(hook["error"]["code"], "POLICY_DENIED") << hook;
}

TEST_P(NestedRepositories, ThoseThatCommandsMakeStayWritable) {
  const Json cloned = Bash("git clone -q theirs clone");
  EXPECT_TRUE(cloned["success"]) << cloned;
  EXPECT_TRUE(Says(cloned, "1 new git repository below the working directory: clone/.git"))
      << cloned;
  const Json committed = Bash(std::string("cd clone && ") + kCommit);
  EXPECT_TRUE(committed["success"]) << committed;
  EXPECT_FALSE(Says(committed, "new git repository")) << committed;
  Start();  // it is remembered
  const Json again = Bash(std::string("cd clone && git remote set-url origin ../x && ") + kCommit);
  EXPECT_TRUE(again["success"]) << again;
  EXPECT_FALSE(Says(again, "protected_paths_modified")) << again;
  EXPECT_EQ(project_.Git({"-C", "clone", "rev-list", "--count", "HEAD"}).output, "3\n");
}

TEST_P(NestedRepositories, WhatGitWouldExecuteInThoseIsTakenOut) {
  const Json made = Bash(
      "git init -q made && git -C made config core.fsmonitor ./evil && "
      "git -C made config user.name x && echo evil > made/.git/hooks/pre-commit");
  EXPECT_TRUE(made["success"]) << made;
  EXPECT_TRUE(Says(made, "core.fsmonitor")) << made;
  EXPECT_FALSE(Exists("made/.git/hooks/pre-commit"));
  EXPECT_FALSE(Text("made/.git/config").contains("fsmonitor"));
  EXPECT_EQ(project_.Git({"-C", "made", "config", "user.name"}).output, "x\n");
  Bash("git -C made config core.fsmonitor ./evil");  // in a later call, too
  EXPECT_FALSE(Text("made/.git/config").contains("fsmonitor"));
}

TEST_P(NestedRepositories, ALinkToARepositoryIsJudgedByWhereItLeads) {
  Bash("git init -q --bare evil && mkdir a && echo 'gitdir: ../evil' > a/.git");
  Bash("git -C evil config core.fsmonitor ./evil");
  EXPECT_FALSE(Text("evil/config").contains("fsmonitor"));
  Bash("mkdir b && echo \"gitdir: $TMPDIR\" > b/.git");
  EXPECT_FALSE(Exists("b/.git"));
}

TEST_P(NestedRepositories, OneThatTheUserSetsUpIsTheUsers) {
  Bash("git clone -q theirs clone");
  project_.Git({"-C", "clone", "config", "core.hooksPath", "hooks"});
  const std::string config = Text("clone/.git/config");
  const Json refused = Bash("echo evil > clone/.git/hooks/pre-commit; echo >> clone/.git/config");
  EXPECT_EQ(Text("clone/.git/config"), config) << refused;
  EXPECT_FALSE(Exists("clone/.git/hooks/pre-commit")) << refused;
}

TEST_P(NestedRepositories, SubmodulesOfAMadeOneCanBeUpdated) {
  const std::string git = "git -c protocol.file.allow=always -c user.name=a -c user.email=b ";
  const Json made =
      Bash("git init -q outer && cd outer && " + git +
           "submodule --quiet add \"$PWD/../theirs\" inner && " + git +
           "commit -q -m x && cd .. && " + git + "clone -q --recurse-submodules outer clone");
  EXPECT_TRUE(made["success"]) << made;
  EXPECT_TRUE(Says(made, "4 new git repositories")) << made;
  EXPECT_FALSE(Says(made, "protected_paths_modified")) << made;
  const Json updated =
      Bash("cd clone && " + git + "submodule update --init --recursive && cd inner && " + kCommit);
  EXPECT_TRUE(updated["success"]) << updated;
}

TEST_P(NestedRepositories, WhereTheLookEndsIsSaid) {
  constexpr int kSeen = 63;  // levels below the working directory
  std::string deepest = "d";
  for (int level = 1; level < kSeen; ++level) deepest += "/d";
  const Json seen = Bash("mkdir -p " + deepest + " && git init -q " + deepest);
  EXPECT_TRUE(Says(seen, "1 new git repository")) << seen;
  EXPECT_FALSE(Says(seen, "were looked for only")) << seen;
  const Json unseen = Bash("mkdir " + deepest + "/d && git init -q " + deepest + "/d");
  EXPECT_FALSE(Says(unseen, "1 new git repository")) << unseen;
  EXPECT_TRUE(Says(unseen, "were looked for only within limits (64 levels, in " + deepest + "/d);"))
      << unseen;
}

// A command that reaches a limit neither opens what was kept nor makes it its own.
TEST_P(NestedRepositories, WhereTheLookEndsTheUsersStayAsTheyAre) {
  project_.Git({"-C", "theirs", "config", "alias.st", "status"});
  WriteText(project_.root() / "theirs/.git/hooks/pre-commit", "ours");
  const std::string config = Text("theirs/.git/config");
  Start();
  const Json deep = Bash("for i in $(seq 70); do mkdir 0 && cd 0; done");
  EXPECT_TRUE(Says(deep, "were looked for only within limits (64 levels")) << deep;
  Bash("echo evil > theirs/.git/hooks/post-checkout; echo evil >> theirs/.git/config");
  EXPECT_FALSE(Exists("theirs/.git/hooks/post-checkout"));
  EXPECT_EQ(Text("theirs/.git/config"), config);
  const Json made = Bash("git init -q made && git -C made config core.fsmonitor ./evil");
  EXPECT_TRUE(Says(made, "1 new git repository")) << made;
  EXPECT_FALSE(Text("made/.git/config").contains("fsmonitor")) << "born in that call";
  const Json gone = Bash("rm -rf 0");
  EXPECT_FALSE(Says(gone, "git repositor")) << gone;
  EXPECT_EQ(Text("theirs/.git/hooks/pre-commit"), "ours");
  EXPECT_EQ(Text("theirs/.git/config"), config);
}

TEST_P(NestedRepositories, WhatACommandClosesBehindItselfIsJudged) {
  Bash("git init -q made && git -C made config core.fsmonitor ./evil && chmod 300 made");
  EXPECT_FALSE(Text("made/.git/config").contains("fsmonitor"));
  const Json allowed = Bash("mkdir plain && chmod 300 plain && chmod 700 made");
  EXPECT_TRUE(allowed["success"]) << allowed;
  EXPECT_FALSE(Says(allowed, "git repositor")) << allowed;
}

TEST_P(NestedRepositories, TooManyHooksGoWithTheirRepository) {
  Bash("git init -q made && cd made/.git/hooks && touch $(seq -f a%g 1100) post-checkout");
  EXPECT_FALSE(Exists("made/.git"));
  Bash("git init -q made && cd made/.git/hooks && touch $(seq -f a%g 100)");
  EXPECT_TRUE(Exists("made/.git/HEAD"));
  EXPECT_FALSE(Exists("made/.git/hooks/a100"));
}

TEST_P(NestedRepositories, OneHiddenInTheProjectsOwnIsJudged) {
  project_.Git({"init", "-q", "-b", "main"});
  project_.Git({"commit", "-q", "--allow-empty", "-m", "first"});
  project_.Git({"config", "alias.st", "status"});
  Bash(
      "git init -q t && git -C t config core.fsmonitor ./evil && mv t/.git .git/evil && "
      "mkdir sub && echo 'gitdir: ../.git/evil' > sub/.git");
  EXPECT_FALSE(Text(".git/evil/config").contains("fsmonitor"));
  const Json worktree = Bash("git worktree add -q tree && git -C tree status");
  EXPECT_TRUE(worktree["success"]) << worktree;
  EXPECT_FALSE(Says(worktree, "protected_paths_modified")) << worktree;
  EXPECT_TRUE(Text(".git/config").contains("alias"));
}

// `git submodule update` writes the configuration of each anew, with the same text, for which there
// is no way where that is mounted read-only.
TEST_P(NestedRepositories, SubmodulesOfTheUsersFollowWithoutTheirConfiguration) {
  const auto git = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"-c", "protocol.file.allow=always"});
    const ProgramResult result = project_.Git(std::move(arguments));
    ASSERT_EQ(result.exit_code, 0) << result.errors;
  };
  git({"init", "-q", "-b", "main"});
  git({"submodule", "--quiet", "add", "./theirs", "sub"});
  git({"-C", "theirs", "commit", "-q", "--allow-empty", "-m", "second"});
  git({"-C", "sub", "pull", "-q"});
  git({"add", "sub"});
  git({"-C", "sub", "checkout", "-q", "HEAD~"});
  const std::string config = Text(".git/modules/sub/config");
  const Json followed = Bash(
      "export GIT_ALLOW_PROTOCOL=file; git submodule foreach 'git fetch -q && git checkout -q "
      "$sha1'");
  EXPECT_TRUE(followed["success"]) << followed;
  EXPECT_FALSE(Says(followed, "protected path")) << followed;
  EXPECT_EQ(project_.Git({"-C", "sub", "log", "-1", "--format=%s"}).output, "second\n");
  Bash("GIT_ALLOW_PROTOCOL=file git submodule update; git -C sub config core.fsmonitor ./evil");
  EXPECT_EQ(Text(".git/modules/sub/config"), config);
}

TEST_P(NestedRepositories, CommandsAtOnceDoNotTakeEachOthersForTheUsers) {
  const int slow = client_->StartTool(
      "bash", {{"command", std::string("git clone -q theirs clone && touch made && "
                                       "while ! test -e go; do sleep 0.05; done && cd clone && ") +
                               kCommit}});
  Await("made");
  const Json beside = Bash(std::string("cd clone && ") + kCommit);
  EXPECT_TRUE(beside["success"]) << beside;
  WriteText(project_.root() / "go", "");
  const Json ended = client_->Await(slow)["result"]["structuredContent"];
  EXPECT_TRUE(ended["success"]) << ended;
  EXPECT_FALSE(Says(ended, "protected_paths_modified")) << ended;
}

// What one command has left in a repository that commands made is no state to which another one's
// end returns.
TEST_P(NestedRepositories, WhatACommandLeavesInAMadeOneIsNotPutBackByAnother) {
  Bash("git init -q made && git -C made config user.name x");
  for (const char* cleared : {"true", "rm made/.git/hooks/post-checkout"}) {
    const int first = StartBash(std::string("echo evil > made/.git/hooks/post-checkout && "
                                            "git -C made config core.fsmonitor ./evil && ") +
                                Wait("a") + cleared);
    Await("a.there");
    const int second = StartBash(Wait("b"), "made");
    Await("made/b.there");
    WriteText(project_.root() / "a.go", "");
    client_->Await(first);
    const int third = StartBash(Wait("c"), "made");  // takes over what the second one has found
    Await("made/c.there");
    for (const auto& [name, call] : {std::pair("made/c.go", third), {"made/b.go", second}}) {
      WriteText(project_.root() / name, "");
      const Json ended = client_->Await(call)["result"]["structuredContent"];
      EXPECT_TRUE(ended["success"]) << ended;
      EXPECT_FALSE(Exists("made/.git/hooks/post-checkout")) << cleared << ended;
      EXPECT_FALSE(Text("made/.git/config").contains("fsmonitor")) << cleared << ended;
    }
    Bash("rm *.there *.go */*.there */*.go");
  }
  EXPECT_EQ(project_.Git({"-C", "made", "config", "user.name"}).output, "x\n");
}

// What is not held beside another command is judged at the end.
TEST_P(NestedRepositories, AMadeOneIsHeldOnlyWhereNobodyElseWritesIt) {
  Bash("git init -q made");
  const std::string hostile = "echo evil > .git/hooks/pre-commit; git config core.fsmonitor ./evil";
  const int beside = StartBash(Wait("a"));
  Await("a.there");
  const int second = StartBash(Wait("b") + hostile + "; " + Wait("d"), "made");
  Await("made/b.there");
  WriteText(project_.root() / "a.go", "");
  client_->Await(beside);
  WriteText(project_.root() / "made/b.go", "");
  Await("made/d.there");
  const int third = StartBash(Wait("c"));
  Await("c.there");
  WriteText(project_.root() / "made/d.go", "");
  client_->Await(second);
  EXPECT_FALSE(Exists("made/.git/hooks/pre-commit"));
  EXPECT_FALSE(Text("made/.git/config").contains("fsmonitor"));
  WriteText(project_.root() / "c.go", "");
  client_->Await(third);
  EXPECT_FALSE(Exists("made/.git/hooks/pre-commit"));
  const Json later = Bash("git -C made config user.name y");
  EXPECT_FALSE(Says(later, "protected_paths_modified")) << "it is still a command's: " << later;
  const std::string config = Text("made/.git/config");
  client_->Await(StartBash(hostile, "made"));
  EXPECT_EQ(Text("made/.git/config"), config) << "alone, it is held";
  EXPECT_TRUE(Exists("made/.git/HEAD"));
}

TEST_P(NestedRepositories, OneInWhichACommandWorksStaysTheUsers) {
  WriteText(project_.root() / "theirs/.git/hooks/pre-commit", "ours");
  project_.Git({"-C", "theirs", "config", "core.fsmonitor", "false"});
  const std::string config = Text("theirs/.git/config");
  const int within = StartBash(Wait("b"), "theirs");
  Await("theirs/b.there");
  const Json beside = Bash("true");
  EXPECT_TRUE(beside["success"]) << beside;
  EXPECT_FALSE(Says(beside, "git repositor")) << beside;
  const int third = StartBash(Wait("c"), "theirs");
  Await("theirs/c.there");
  for (const auto& [name, call] : {std::pair("theirs/b.go", within), {"theirs/c.go", third}}) {
    WriteText(project_.root() / name, "");
    const Json ended = client_->Await(call)["result"]["structuredContent"];
    EXPECT_FALSE(Says(ended, "protected_paths_modified")) << ended;
  }
  EXPECT_EQ(Text("theirs/.git/hooks/pre-commit"), "ours");
  EXPECT_EQ(Text("theirs/.git/config"), config);
}

}  // namespace
}  // namespace pa::testing
