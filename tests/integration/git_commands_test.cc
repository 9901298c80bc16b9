// git.commands: what make and bash may do to the repository of the project. With namespaces it is
// read-only to them; git_add and git_commit change it.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

class GitCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NamespacesAreGranted()) GTEST_SKIP() << "no namespaces are granted here";
    project_.InitGit();
    WriteText(project_.root() / "a.txt", "a\n");
    WriteText(project_.root() / "b.txt", "b\n");
    Git({"add", "a.txt", "b.txt"});
    Git({"commit", "-q", "-m", "one"});
    Git({"branch", "other"});
    Git({"tag", "v1", "-m", "v1"});
    WriteText(project_.root() / "a.txt", "changed\n");
  }
  void Git(const std::vector<std::string>& arguments) {
    const ProgramResult result = project_.Git(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.output;
  }
  Json Bash(const std::string& command, const std::string& line = "") {
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\n" + line + "\n");
    McpClient client(project_.Server());
    client.Initialize();
    return client.CallTool("bash", {{"command", command}});
  }
  // Each name in `.git`, and what it holds. Of the index what is staged: how files looked our own
  // git brings up to date.
  std::string Repository() {
    return RunProgram({.command = {"sh", "-c",
                                   "cd \"$1\" && find . -path ./index -prune -o "
                                   "-printf '%p %y %m %s\\n' | sort && find . -type f ! -path "
                                   "./index | sort | xargs sha256sum; git ls-files --stage",
                                   "sh", (project_.root() / ".git").string()}})
        .output;
  }

  Project project_{".PHONY: t\nt:\n\t@:\n"};
};

TEST_F(GitCommands, TheyReadTheRepository) {
  for (const char* command :
       {"git status --short | grep -q 'M a.txt'", "git diff --stat",
        "git diff-index --quiet v1 -- b.txt", "git log -1 --format=%s", "git blame b.txt",
        "git describe --dirty --always", "git stash list", "git archive HEAD | tar -t",
        "git ls-files", "git rev-parse HEAD",
        "git clone -q . copy && git -C copy log -1 && rm -rf copy",
        "git init -q mine && git -C mine commit -q --allow-empty -m x && rm -rf mine"}) {
    const std::string before = Repository();
    Json result = Bash(command);
    EXPECT_TRUE(result["success"]) << command << result;
    EXPECT_FALSE(result["data"].contains("denials")) << command << result;
    EXPECT_FALSE(result.contains("warnings")) << command << result;
    EXPECT_EQ(Repository(), before) << command;
  }
}

TEST_F(GitCommands, TheyChangeItUnderTheLineThatTheRefusalNames) {
  for (const char* command :
       {"git add a.txt", "git commit -qam two", "git checkout -q other -- b.txt",
        "git switch -qc another", "git restore a.txt", "git tag v2", "git fetch -q . HEAD",
        "git worktree add -q tree", "touch b.txt && git update-index --refresh",
        "git branch third"}) {
    const std::string before = Repository();
    Json refused = Bash(command);
    EXPECT_FALSE(refused["success"]) << command << refused;
    EXPECT_EQ(Repository(), before) << command;
    const Json denials = refused["data"].value("denials", Json::array());
    ASSERT_EQ(denials.size(), 1u) << command << refused;
    EXPECT_EQ(denials[0].value("allow_with", ""), "git: {commands: write}") << denials;
    EXPECT_TRUE(denials[0].value("path", "").contains("/.git")) << denials;
    EXPECT_TRUE(denials[0].value("remark", "").contains("git_commit commits")) << denials;
    const Json allowed = Bash(command, denials[0].value("allow_with", ""));
    EXPECT_TRUE(allowed.value("success", false)) << command << allowed;
    Git({"checkout", "-qf", "HEAD", "--", "."});
    WriteText(project_.root() / "a.txt", "changed\n");
  }
}

// No policy gives it to commands, so no line is named that would not help.
TEST_F(GitCommands, WhatGitExecutesHasNoLine) {
  for (const char* command : {"git config user.email x@example.org", "echo x > .git/hooks/pre-push",
                              "chmod +x .git/hooks/pre-commit.sample", "mv .git away"}) {
    for (const char* line : {"", "git: {commands: write}", "git: {commands: ask}"}) {
      const Json refused = Bash(command, line);
      EXPECT_FALSE(refused["success"]) << command << line << refused;
      const Json denials = refused["data"].value("denials", Json::array());
      ASSERT_EQ(denials.size(), 1u) << command << line << refused;
      EXPECT_FALSE(denials[0].contains("allow_with")) << command << line << denials;
      EXPECT_TRUE(denials[0].value("remark", "").contains("outside the sandbox")) << denials;
    }
  }
}

TEST_F(GitCommands, PolicyExplainSaysIt) {
  const auto explained = [&](const std::string& path, const std::string& line) {
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\n" + line + "\n");
    const ProgramResult result =
        RunProgram({.command = {BuiltProgram("PA_SERVER"), "policy", "explain", path, "--json",
                                "--root", project_.root()},
                    .environment = {"HOME=" + project_.home().string()},
                    .directory = project_.root()});
    return Json::parse(result.output)["uses"][0];
  };
  const Json index = explained(".git/index", "");
  EXPECT_EQ(index.value("read_only", ""), "git.commands") << index;
  EXPECT_FALSE(index.contains("protected")) << index;
  const Json hooks = explained(".git/hooks/pre-commit", "");
  EXPECT_EQ(hooks.value("read_only", ""), "git.commands") << hooks;
  EXPECT_EQ(hooks.value("protected", ""), "git hooks") << hooks;
  for (const char* line : {"git: {commands: write}", "namespaces: off"}) {
    EXPECT_FALSE(explained(".git/index", line).contains("read_only")) << line;
  }
  EXPECT_FALSE(explained("a.txt", "").contains("read_only"));
}

// git says nothing then.
TEST_F(GitCommands, ARefusedStashIsSilent) {
  const std::string before = Repository();
  const Json refused = Bash("git stash");
  EXPECT_FALSE(refused["success"]) << refused;
  EXPECT_EQ(refused["data"]["stderr"], "") << refused;
  EXPECT_TRUE(refused["error"]["ai_message"].get<std::string>().contains("git.commands"))
      << refused;
  const Json failed = Bash("echo no; false");
  EXPECT_FALSE(failed["error"]["ai_message"].get<std::string>().contains("git")) << failed;
  EXPECT_EQ(Repository(), before);
  EXPECT_TRUE(Bash("git stash", "git: {commands: write}")["success"]);
}

// Filters of git-lfs write there. Its objects, which have the hash of their content as their name,
// are taken over; nothing else is.
TEST_F(GitCommands, OfGitLfsNewObjectsAloneAreKept) {
  if (!CopiesOfRepositoriesAreGranted()) {
    EXPECT_FALSE(OverlaysAreGranted());
    GTEST_SKIP() << "no copy of a repository is granted here";
  }
  EXPECT_FALSE(Bash("mkdir .git/lfs")["success"]);
  const fs::path lfs = project_.root() / ".git/lfs";
  const auto object = [](const std::string& text) {
    const std::string hash = Hex(Sha256Of(text));
    return hash.substr(0, 2) + "/" + hash.substr(2, 2) + "/" + hash;
  };
  fs::create_directories((lfs / "objects" / object("old\n")).parent_path());
  WriteText(lfs / "objects" / object("old\n"), "old\n");
  const std::string before = Repository();
  const Json thrown_away = Bash(
      "mkdir .git/lfs/tmp && echo x > .git/lfs/tmp/x && echo x > .git/lfs/config && echo evil > "
      ".git/lfs/objects/" +
      object("old\n") + "x && rm -r .git/lfs/objects && git status");
  EXPECT_TRUE(thrown_away["success"]) << thrown_away;
  EXPECT_FALSE(thrown_away["meta"].contains("warnings")) << thrown_away;
  EXPECT_EQ(Repository(), before);
  const std::string put =
      "put() { mkdir -p $(dirname .git/lfs/objects/$1); printf \"$2\" > "
      ".git/lfs/objects/$1; }; ";
  const Json linked = Bash("rm -r .git/lfs/objects; ln -s /etc .git/lfs/objects");
  EXPECT_TRUE(linked["meta"]["warnings"].dump().contains("objects of git-lfs are not kept"))
      << linked;
  EXPECT_EQ(Repository(), before);
  const Json forged = Bash(put + "put " + object("new\n") + " 'other\\n'");
  EXPECT_TRUE(forged["meta"]["warnings"].dump().contains("objects of git-lfs are not kept"))
      << forged;
  EXPECT_EQ(Repository(), before);
  const Json kept =
      Bash(put + "put " + object("new\n") + " 'new\\n'; put " + object("old\n") + " 'old\\n'");
  EXPECT_TRUE(kept["success"]) << kept;
  EXPECT_FALSE(kept["meta"].contains("warnings")) << kept;
  EXPECT_EQ(ReadText(lfs / "objects" / object("new\n")), "new\n");
  EXPECT_EQ(ReadText(lfs / "objects" / object("old\n")), "old\n");
}

// Whatever a command can do to a directory.
TEST_F(GitCommands, NothingElseChangesItEither) {
  const std::string before = Repository();
  for (const char* command :
       {"echo x > .git/HEAD", "echo x > .git/new", "mkdir .git/new", "rm -rf .git", "mv .git away",
        "mv .git/objects objects", "ln .git/HEAD head", "chmod 777 .git", "chmod 600 .git/HEAD",
        "touch .git/HEAD", "ln -sfn /tmp .git", "rm .git/index", "truncate -s 0 .git/index",
        "python3 -c 'import os; os.setxattr(\".git/HEAD\", \"user.x\", b\"1\")'",
        "mkdir d && mv d .git", "exec 3<>.git/HEAD", "git --git-dir=.git/../.git branch third"}) {
    const Json result = Bash(command);
    EXPECT_FALSE(result.value("success", true)) << command << result;
    EXPECT_EQ(Repository(), before) << command;
  }
  EXPECT_TRUE(Bash("mkdir .git/new && echo x > .git/new/x", "git: {commands: write}")["success"]);
}

TEST_F(GitCommands, NorThatOfASubmoduleOrALinkedTree) {
  Git({"-c", "protocol.file.allow=always", "submodule", "add", "-q", "./.git", "sub"});
  Git({"worktree", "add", "-q", "tree"});
  // As git made them before it kept them in .git/modules.
  Git({"clone", "-q", ".", "old"});
  Git({"add", "old"});
  for (const char* directory : {"sub", "tree", "old"}) {
    const std::string command = std::string("git -C ") + directory + " ";
    EXPECT_TRUE(Bash(command + "status")["success"]) << directory;
    const Json refused = Bash(command + "commit -q --allow-empty -m x");
    EXPECT_FALSE(refused.value("success", true)) << directory << refused;
    EXPECT_TRUE(Bash(command + "commit -q --allow-empty -m x", "git: {commands: write}")["success"])
        << directory;
  }
}

// More than a view has mounts: what the policy asks for cannot be had, so nothing runs.
TEST_F(GitCommands, WithTooManyOfThemNothingRuns) {
  const ProgramResult made = RunProgram(
      {.command = {"sh", "-ec",
                   "for i in $(seq 150); do mkdir -p s$i/.git/objects s$i/.git/refs; "
                   "echo ref: refs/heads/x >s$i/.git/HEAD; "
                   "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s$i; done"},
       .environment = {"HOME=" + project_.home().string()},
       .directory = project_.root()});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  Json refused = Bash("true");
  EXPECT_EQ(refused["error"]["code"], "SANDBOX_UNAVAILABLE") << refused;
  EXPECT_TRUE(refused.dump().contains("git: {commands: write}")) << refused;
  const Json allowed = Bash("true", "git: {commands: write}");
  EXPECT_TRUE(allowed.value("success", false)) << allowed;
}

// A build is no reason to refuse a commit, and a commit opens nothing to a build.
TEST_F(GitCommands, ACommitBesideABuild) {
  WriteText(project_.root() / "Makefile",
            ".PHONY: t later\nlater:\n\t@! touch .git/x 2>/dev/null && echo closed\n"
            "t:\n\t@touch begun; until [ -e go ]; do sleep 0.05; done; "
            "! touch .git/x 2>/dev/null && ! git tag v3 2>/dev/null && echo closed\n");
  const fs::path hook = project_.root() / ".git/hooks/pre-commit";
  WriteText(hook, "#!/bin/sh\ntouch go; until [ -e gone ]; do sleep 0.05; done\n");
  fs::permissions(hook, fs::perms::owner_all);
  McpClient client(project_.Server());
  client.Initialize();
  const auto build = client.StartTool("make", {{"target", "t"}});
  EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "begun"); }));
  EXPECT_TRUE(client.CallTool("git_add", {{"paths", {"a.txt"}}})["success"]);
  const auto commit = client.StartTool("git_commit", {{"message", "two"}});
  const Json built = client.Await(build)["result"]["structuredContent"];
  EXPECT_EQ(built["data"]["stdout"], "closed\n") << built;
  EXPECT_FALSE(built.contains("warnings")) << built;
  const Json later = client.CallTool("make", {{"target", "later"}});
  EXPECT_EQ(later["data"]["stdout"], "closed\n") << "it began beside the commit: " << later;
  WriteText(project_.root() / "gone", "");
  const Json committed = client.Await(commit)["result"]["structuredContent"];
  EXPECT_TRUE(committed["success"]) << committed;
  EXPECT_FALSE(committed.contains("warnings")) << committed;
}

TEST_F(GitCommands, ABuildAboveDoesNotKeepACommitBelowFromItsRepository) {
  const fs::path below = project_.root() / "below";
  Git({"clone", "-q", ".", "below"});
  WriteText(below / "c.txt", "c\n");
  WriteText(project_.root() / "Makefile",
            ".PHONY: t\nt:\n\t@touch begun; until [ -e go ]; do sleep 0.05; done\n");
  McpClient client(project_.Server());
  client.Initialize();
  const auto build = client.StartTool("make", {{"target", "t"}});
  EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "begun"); }));
  const Json added =
      client.CallTool("git_add", {{"paths", {"c.txt"}}, {"working_directory", below.string()}});
  EXPECT_TRUE(added.value("success", false)) << added;
  WriteText(project_.root() / "go", "");
  EXPECT_TRUE(client.Await(build)["result"]["structuredContent"]["success"]);
}

// The mount goes with the directory, so what git executes in the new one is as it was in the old.
TEST_F(GitCommands, ARepositoryThatIsReplacedOutsideGetsNoHook) {
  WriteText(project_.root() / "Makefile",
            ".PHONY: t\nt:\n\t@touch begun; until [ -e go ]; do sleep 0.05; done; "
            "echo evil >.git/hooks/pre-commit; git config core.fsmonitor ./evil; true\n");
  McpClient client(project_.Server());
  client.Initialize();
  const auto build = client.StartTool("make", {{"target", "t"}});
  EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "begun"); }));
  fs::remove_all(project_.root() / ".git");
  Git({"init", "-q", "."});
  WriteText(project_.root() / "go", "");
  const Json built = client.Await(build)["result"]["structuredContent"];
  EXPECT_TRUE(built.dump().contains("protected path")) << built;
  EXPECT_FALSE(fs::exists(project_.root() / ".git/hooks/pre-commit"));
  EXPECT_FALSE(ReadText(project_.root() / ".git/config").contains("evil"));
}

TEST_F(GitCommands, TheUserLetsOneCallChangeIt) {
  WriteText(project_.home() / ".config/project-actions/policy.yaml",
            "version: 1\ngit: {commands: ask}\n");
  McpClient client(project_.Server());
  client.Initialize("2025-11-25", kElicitation);
  const char kCommit[] = "git commit -qam two";
  Json refused = client.CallTool("bash", {{"command", kCommit}});
  ASSERT_EQ(refused["data"]["denials"].size(), 1u) << refused;
  const Json denial = refused["data"]["denials"][0];
  EXPECT_FALSE(denial.contains("allow_with")) << denial;
  EXPECT_TRUE(denial.value("remark", "").contains("git_write: true")) << denial;
  for (const char* action : {"decline", "accept"}) {
    const int id = client.StartTool("bash", {{"command", kCommit}, {"git_write", true}});
    const Json question = client.Read();
    ASSERT_EQ(question.value("method", ""), "elicitation/create") << question;
    EXPECT_TRUE(question["params"]["message"].get<std::string>().contains("(.git)")) << question;
    const Json result = {{"action", action}, {"content", {{"approve", true}}}};
    client.SendLine(Json{{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", result}}.dump());
    const Json answer = client.Await(id)["result"]["structuredContent"];
    EXPECT_EQ(answer["success"], std::string(action) == "accept") << answer;
  }
  EXPECT_EQ(project_.Git({"log", "-1", "--format=%s"}).output, "two\n");
  EXPECT_FALSE(client.CallTool("bash", {{"command", "git tag v2"}})["success"]) << "the next call";
}

TEST_F(GitCommands, WhoIsNotAskedIsRefused) {
  McpClient client(project_.Server());
  client.Initialize();
  const Json refused = client.CallTool("bash", {{"command", "git tag v2"}, {"git_write", true}});
  EXPECT_EQ(refused["error"]["code"], "POLICY_DENIED") << refused;
  EXPECT_TRUE(refused["error"]["ai_message"].get<std::string>().contains("commands: ask"));
}

TEST_F(GitCommands, WithoutNamespacesWhatGitExecutesIsPutBack) {
  const std::string line = "namespaces: off";
  EXPECT_TRUE(Bash("git commit -qam two", line)["success"]);
  const Json result = Bash("echo x > .git/hooks/pre-commit", line);
  EXPECT_TRUE(result.dump().contains("protected")) << result;
  EXPECT_FALSE(fs::exists(project_.root() / ".git/hooks/pre-commit"));
}

// Plumbing compares with what the index says of the files, and porcelain reads again each file that
// looks otherwise. Commands cannot correct the index, so our own git does.
class GitRefreshed : public GitCommands {
 protected:
  void SetUp() override {
    GitCommands::SetUp();
    if (IsSkipped()) return;
    Git({"checkout", "-q", "a.txt"});
    WriteText(project_.root() / "version.sh", kDescribe + std::string("\n"));
    WriteText(project_.root() / "Makefile", ".PHONY: version touch\nversion:\n\t@" +
                                                std::string(kDescribe) +
                                                "\ntouch:\n\t@touch -d '1 year ago' a.txt b.txt\n");
    Git({"add", "Makefile", "version.sh"});
    Git({"commit", "-qm", "two"});
    client_.emplace(project_.Server());
    client_->Initialize();
  }
  // Of one server, which remembers what commands do.
  Json Call(std::string_view tool, Json arguments) {
    return client_->CallTool(tool, std::move(arguments));
  }
  static bool IsDirty(const Json& result) { return result["data"]["stdout"] != "clean\n"; }
  void Touch() {
    const auto now = fs::file_time_type::clock::now();
    for (const char* file : {"a.txt", "b.txt"}) {
      fs::last_write_time(project_.root() / file, now - std::chrono::hours(++hours_));
    }
  }
  // As git's own plumbing sees it, which writes nothing.
  bool IndexIsStale() { return project_.Git({"diff-files", "--quiet"}).exit_code != 0; }

  static constexpr const char* kDescribe =
      "git diff-index --quiet HEAD && echo clean || echo dirty";
  std::optional<McpClient> client_;
  int hours_ = 0;
};

TEST_F(GitRefreshed, BeforeACommandThatReadsIt) {
  for (int call = 0; call < 3; ++call) {
    Touch();
    EXPECT_TRUE(IndexIsStale());
    const Json said = Call("bash", {{"command", kDescribe}});
    EXPECT_FALSE(IsDirty(said)) << call << said;
    EXPECT_FALSE(said.contains("warnings")) << said;
    EXPECT_FALSE(IndexIsStale());
    Touch();
    const Json made = Call("make", {{"target", "version"}});
    EXPECT_FALSE(IsDirty(made)) << call << made;
  }
  WriteText(project_.root() / "a.txt", "changed\n");
  EXPECT_TRUE(IsDirty(Call("bash", {{"command", kDescribe}})));
  EXPECT_TRUE(IsDirty(Call("make", {{"target", "version"}})));
}

// They are right without, and do not wait.
TEST_F(GitRefreshed, NotForCommandsThatLookForThemselves) {
  for (const char* command :
       {"git status --porcelain", "git diff", "git diff --quiet && true", "git diff --stat HEAD",
        "git diff --exit-code", "git diff --raw | cat", "git ls-files -m"}) {
    Touch();
    const Json result = Call("bash", {{"command", command}});
    EXPECT_TRUE(result["success"]) << command << result;
    EXPECT_EQ(result["data"]["stdout"], "") << command;
  }
  Git({"tag", "v2"});
  Touch();
  EXPECT_EQ(Call("bash", {{"command", "git describe --tags --dirty"}})["data"]["stdout"], "v2\n");
}

// What a command does shows once it has run.
TEST_F(GitRefreshed, BeforeAScriptThatHasReadItOnce) {
  EXPECT_FALSE(IsDirty(Call("bash", {{"command", "sh version.sh"}})));
  for (int call = 0; call < 3; ++call) {
    EXPECT_TRUE(Call("make", {{"target", "touch"}})["success"]);
    const Json said = Call("bash", {{"command", "sh version.sh"}});
    EXPECT_FALSE(IsDirty(said)) << call << said;
  }
}

TEST_F(GitRefreshed, AfterACommandThatReadsIt) {
  const Json result = Call("bash", {{"command", "sh version.sh; touch -d yesterday a.txt b.txt"}});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_TRUE(Eventually([&] { return !IndexIsStale(); }));
}

// One that does not read it waits for no git.
TEST_F(GitRefreshed, NotForOtherCommands) {
  EXPECT_TRUE(Call("make", {{"target", "touch"}})["success"]);
  Touch();
  for (int call = 0; call < 3; ++call) {
    EXPECT_TRUE(Call("make", {{"target", "touch"}})["success"]);
    EXPECT_TRUE(Call("bash", {{"command", "cat a.txt"}})["success"]);
  }
  EXPECT_TRUE(IndexIsStale());
}

// A call that comes after another one does not wait. `HEAD` is read by each git, and by no `cat`.
TEST_F(GitRefreshed, NotWhereNothingHasChanged) {
  const UniqueFd events(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const auto git_ran = [&] {
    char buffer[4096];
    return read(events.get(), buffer, sizeof buffer) > 0;
  };
  const auto peek = [&] { EXPECT_TRUE(Call("bash", {{"command", "sh peek.sh"}})["success"]); };
  WriteText(project_.root() / "peek.sh", "cat .git/index >/dev/null\n");
  peek();
  Touch();
  peek();
  ASSERT_GE(inotify_add_watch(events.get(), (project_.root() / ".git/HEAD").c_str(), IN_OPEN), 0);
  for (int call = 0; call < 3; ++call) peek();
  EXPECT_FALSE(git_ran());
  Touch();
  peek();
  EXPECT_TRUE(git_ran());
  WriteText(project_.root() / "sub/new.txt", "x\n");
  peek();
  EXPECT_TRUE(git_ran());
}

// Commands in a directory below do not see the repository.
TEST_F(GitRefreshed, NotForCommandsThatCannotReadIt) {
  fs::create_directory(project_.root() / "sub");
  Touch();
  const std::string below = (project_.root() / "sub").string();
  const Json result = Call("bash", {{"command", "git status"}, {"working_directory", below}});
  EXPECT_FALSE(result["success"]) << result;
  EXPECT_TRUE(IndexIsStale());
}

// Whatever the repository names, that git executes nothing but git.
TEST_F(GitRefreshed, ExecutesNothingOfTheProject) {
  const fs::path evil = project_.root() / ".git/hooks/post-index-change";
  WriteText(evil, "#!/bin/sh\ntouch \"" + (project_.root() / "ran").string() + "\"\n");
  fs::permissions(evil, fs::perms::owner_all);
  Git({"config", "core.fsmonitor", evil.string()});
  Git({"config", "filter.x.clean", evil.string()});
  WriteText(project_.root() / ".git/info/attributes", "b.txt filter=x\n");
  Touch();
  // `:` executes nothing either.
  const Json result = Call("bash", {{"command", ": git"}});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
  const auto stale = [&] {
    return project_.Git({"-c", "core.fsmonitor=false", "diff-files", "--name-only"}).output;
  };
  EXPECT_EQ(stale(), "") << "it was refreshed all the same";
  Git({"config", "filter.x.required", "true"});
  Touch();
  EXPECT_TRUE(Call("bash", {{"command", ": git"}})["success"]);
  EXPECT_TRUE(stale().contains("b.txt")) << "not without the filter that it has to go through";
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
  Git({"status"});
  EXPECT_TRUE(fs::exists(project_.root() / "ran")) << "outside git executes it";
}

// Whoever holds the index outside is not disturbed.
TEST_F(GitRefreshed, NotWhileAnotherGitHoldsTheIndex) {
  WriteText(project_.root() / ".git/index.lock", "");
  Touch();
  const Json result = Call("bash", {{"command", ": git"}});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_FALSE(result.contains("warnings")) << result;
  EXPECT_TRUE(IndexIsStale());
  EXPECT_TRUE(fs::exists(project_.root() / ".git/index.lock"));
}

// Where commands may write the repository, their own git does it.
TEST_F(GitRefreshed, NotWhereCommandsDoItThemselves) {
  for (const char* line : {"git: {commands: write}", "namespaces: off"}) {
    Touch();
    EXPECT_TRUE(IsDirty(Bash(kDescribe, line))) << line;
    EXPECT_FALSE(IsDirty(Bash("git status >/dev/null; " + std::string(kDescribe), line))) << line;
  }
}

}  // namespace
}  // namespace pa::testing
