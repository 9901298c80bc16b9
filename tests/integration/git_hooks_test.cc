// Hooks and filters of a project with git_commit: they run on a copy of the repository, and a git
// that executes nothing takes the commit over.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

class GitHooks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CopiesOfRepositoriesAreGranted()) {
      EXPECT_FALSE(NamespacesAreGranted() && OverlaysAreGranted());
      GTEST_SKIP() << "no copy of a repository is granted here";
    }
    project_.InitGit();
    WriteText(project_.root() / "a.txt", "a\n");
    WriteText(project_.root() / "b.txt", "b\n");
    fs::remove(project_.root() / "Makefile");
    Git({"add", "a.txt", "b.txt"});
    Git({"commit", "-q", "-m", "one"});
    WriteText(project_.root() / "a.txt", "changed\n");
    Git({"add", "a.txt"});
  }
  void Git(const std::vector<std::string>& arguments) {
    const ProgramResult result = project_.Git(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  }
  std::string Said(const std::vector<std::string>& arguments) {
    const ProgramResult result = project_.Git(arguments);
    return result.output + result.errors;
  }
  void Hook(const std::string& name, const std::string& script) {
    const fs::path hook = project_.root() / ".git/hooks" / name;
    WriteText(hook, "#!/bin/sh\n" + script + "\n");
    fs::permissions(hook, fs::perms::owner_all);
  }
  Json Commit(const std::string& message, const std::string& line = "", const Json& more = {}) {
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\n" + line + "\n");
    client_.emplace(project_.Server());
    client_->Initialize();
    Json arguments = {{"message", message}};
    arguments.update(more.is_null() ? Json::object() : more);
    return client_->CallTool("git_commit", arguments);
  }
  Json Committed(const std::string& message, const Json& more = {}, bool warned = false) {
    Json result = Commit(message, "", more);
    EXPECT_TRUE(result.value("success", false)) << result;
    EXPECT_EQ(result["meta"].contains("warnings"), warned) << result;
    EXPECT_EQ(Said({"fsck", "--strict", "--no-dangling"}), "");
    return result;
  }
  void ExpectRefused(const std::string& why) {
    const std::string before = Repository();
    const Json result = Commit("two");
    EXPECT_FALSE(result.value("success", true)) << result;
    EXPECT_EQ(result["error"]["code"], "COMMAND_FAILED") << result;
    EXPECT_TRUE(result["error"]["message"].get<std::string>().contains(why)) << result;
    EXPECT_EQ(Repository(), before) << why;
  }
  // What git and other programs read of the repository, but for objects, which nobody names yet.
  std::string Repository() {
    return RunProgram({.command = {"sh", "-c",
                                   "cd \"$1\" && find . -path ./objects -prune -o "
                                   "-printf '%p %y %m %s\\n' | sort && find . -path ./objects "
                                   "-prune -o -type f -print | sort | xargs sha256sum",
                                   "sh", (project_.root() / ".git").string()}})
        .output;
  }
  // `main` and `side` have changed a.txt; it is resolved, not staged.
  void BeginAMerge() {
    Git({"commit", "-q", "-m", "ours"});
    Git({"checkout", "-q", "-b", "side", "HEAD~1"});
    WriteText(project_.root() / "a.txt", "theirs\n");
    Git({"commit", "-q", "-a", "-m", "theirs"});
    Git({"checkout", "-q", "main"});
    EXPECT_NE(project_.Git({"merge", "side"}).exit_code, 0);
    WriteText(project_.root() / "a.txt", "both\n");
  }
  std::vector<fs::path> Copies() const {
    std::vector<fs::path> copies;
    std::error_code none;
    for (const auto& entry :
         fs::directory_iterator(project_.home() / ".local/state/project-actions/copies", none)) {
      copies.push_back(entry.path());
    }
    return copies;
  }

  Project project_{".PHONY: t\nt:\n\t@:\n"};
  std::optional<McpClient> client_;  // until the next commit: it removes the copy by and by
};

// The hook's changes are seen to happen outside, where git runs it without a sandbox.
TEST_F(GitHooks, ChangeNothingOfTheRepositoryButTheCommit) {
  Hook("pre-commit",
       "set -e\ngit config core.fsmonitor ./evil\ncp \"$0\" .git/hooks/pre-push\n"
       "git tag evil\ngit update-ref refs/heads/evil HEAD\n"
       "echo '* filter=x' > .git/info/attributes\nmkdir .git/modules\nrm .git/description\n"
       "echo more >> b.txt; git add b.txt");
  const Json result = Committed("two", {}, true);
  const std::string warning = result["meta"]["warnings"].dump();
  for (const char* name :
       {"config", "hooks", "info", "modules", "description", "refs/heads/evil", "refs/tags/evil"}) {
    EXPECT_TRUE(warning.contains(name)) << name << warning;
  }
  EXPECT_EQ(result["data"]["hash"].get<std::string>() + "\n", Said({"rev-parse", "HEAD"}));
  EXPECT_EQ(Said({"log", "-1", "--format=%s|%an|%P"}),
            "two|Ada Lovelace|" + Said({"rev-parse", "HEAD~1"}));
  EXPECT_EQ(Said({"show", "HEAD:b.txt"}), "b\nmore\n");
  EXPECT_EQ(Said({"status", "--short"}), "");
  EXPECT_EQ(Said({"config", "--get", "core.fsmonitor"}), "");
  EXPECT_FALSE(fs::exists(project_.root() / ".git/hooks/pre-push"));
  EXPECT_FALSE(fs::exists(project_.root() / ".git/info/attributes"));
  EXPECT_FALSE(fs::exists(project_.root() / ".git/modules"));
  EXPECT_TRUE(fs::exists(project_.root() / ".git/description"));
  EXPECT_EQ(Said({"tag"}) + Said({"branch", "--format=%(refname)"}), "refs/heads/main\n");
  EXPECT_TRUE(Said({"reflog", "-1"}).contains("commit: two")) << Said({"reflog"});
  EXPECT_TRUE(Eventually([&] { return Copies().empty(); }));

  WriteText(project_.root() / "a.txt", "again\n");
  Git({"commit", "-q", "-a", "-m", "outside"});
  EXPECT_EQ(Said({"config", "--get", "core.fsmonitor"}), "./evil\n");
  EXPECT_TRUE(fs::exists(project_.root() / ".git/hooks/pre-push"));
}

TEST_F(GitHooks, ChangeTheMessage) {
  Hook("prepare-commit-msg", "printf 'Ticket 7: ' | cat - \"$1\" > m && mv m \"$1\"");
  Hook("commit-msg", "printf '\\n\\nChange-Id: I1\\n# kept\\n\\n' >> \"$1\"");
  Committed("two  ");
  const std::string object = Said({"cat-file", "commit", "HEAD"});
  EXPECT_EQ(object.substr(object.find("\n\n") + 2), "Ticket 7: two  \n\nChange-Id: I1\n# kept\n\n");
}

TEST_F(GitHooks, RefuseACommit) {
  Hook("commit-msg", "echo staged > new; git add new; echo no ticket >&2; exit 7");
  const std::string before = Repository();
  const Json refused = Commit("two");
  EXPECT_FALSE(refused.value("success", true)) << refused;
  EXPECT_TRUE(refused["data"]["stderr"].get<std::string>().contains("no ticket")) << refused;
  EXPECT_EQ(Repository(), before);
  EXPECT_TRUE(fs::exists(project_.root() / "new"));
  EXPECT_TRUE(Eventually([&] { return Copies().empty(); }));
}

TEST_F(GitHooks, AmendWhatTheySee) {
  Hook("post-commit",
       "[ -e done ] || { touch done; git rev-parse HEAD > version; git add version; "
       "git commit -q --amend --no-edit --no-verify; git rev-parse HEAD > seen; }");
  Committed("two");
  EXPECT_EQ(Said({"rev-list", "--count", "HEAD"}), "2\n");
  EXPECT_EQ(Said({"ls-files"}), "a.txt\nb.txt\nversion\n");
  EXPECT_EQ(ReadText(project_.root() / "seen"), Said({"rev-parse", "HEAD"}));
}

// Each state of a repository in which git commits in a way of its own.
TEST_F(GitHooks, AFirstCommit) {
  Git({"checkout", "-q", "--orphan", "fresh"});
  Hook("pre-commit", "true");
  Committed("first");
  EXPECT_EQ(Said({"log", "--format=%s|%P"}), "first|\n");
}

TEST_F(GitHooks, WithHeadDetached) {
  Git({"checkout", "-q", "--detach"});
  Hook("pre-commit", "true");
  EXPECT_FALSE(Committed("two")["data"].contains("branch"));
  EXPECT_EQ(Said({"log", "-1", "--format=%s"}), "two\n");
  EXPECT_EQ(Said({"log", "-1", "--format=%s", "main"}), "one\n");
}

TEST_F(GitHooks, TheEndOfAMerge) {
  BeginAMerge();
  Git({"add", "a.txt"});
  Hook("pre-commit", "true");
  Committed("merged");
  EXPECT_EQ(Said({"log", "-1", "--format=%P"}),
            Said({"log", "-1", "--format=%H", "main~1"}).substr(0, 40) + " " +
                Said({"rev-parse", "side"}));
  EXPECT_FALSE(fs::exists(project_.root() / ".git/MERGE_HEAD"));
  EXPECT_FALSE(fs::exists(project_.root() / ".git/MERGE_MSG"));
  EXPECT_TRUE(Said({"reflog", "-1"}).contains("commit (merge): merged"));
}

TEST_F(GitHooks, AStepOfACherryPick) {
  Git({"commit", "-q", "-m", "ours"});
  Git({"checkout", "-q", "-b", "side", "HEAD~1"});
  WriteText(project_.root() / "a.txt", "theirs\n");
  Git({"-c", "user.name=Eve", "commit", "-q", "-a", "-m", "theirs"});
  WriteText(project_.root() / "c.txt", "next\n");
  Git({"add", "c.txt"});
  Git({"commit", "-q", "-m", "next"});
  Git({"checkout", "-q", "main"});
  EXPECT_NE(project_.Git({"cherry-pick", "side~1", "side"}).exit_code, 0);
  WriteText(project_.root() / "a.txt", "both\n");
  Git({"add", "a.txt"});
  Hook("pre-commit", "true");
  Committed("picked");
  EXPECT_EQ(Said({"log", "-1", "--format=%an"}), "Eve\n");
  EXPECT_FALSE(fs::exists(project_.root() / ".git/CHERRY_PICK_HEAD"));
  Git({"cherry-pick", "--continue"});
  EXPECT_EQ(Said({"log", "-1", "--format=%s"}), "next\n");
}

TEST_F(GitHooks, InALinkedWorkingTreeAndASubmodule) {
  Git({"-c", "protocol.file.allow=always", "submodule", "add", "-q", "./.git", "sub"});
  Git({"worktree", "add", "-q", "tree"});
  Hook("pre-commit", "echo hooked > made; git add made");
  fs::create_directories(project_.root() / ".git/modules/sub/hooks");
  fs::copy(project_.root() / ".git/hooks/pre-commit",
           project_.root() / ".git/modules/sub/hooks/pre-commit");
  for (const std::string directory : {"sub", "tree"}) {
    WriteText(project_.root() / directory / "a.txt", directory);
    Git({"-C", directory, "add", "a.txt"});
    const std::string place = (project_.root() / directory).string();
    // By a server for that directory alone, which has the repository outside.
    McpClient client(ServerOptions{project_.Server({"--root", place})});
    client.Initialize();
    const Json result =
        client.CallTool("git_commit", {{"message", directory}, {"working_directory", place}});
    EXPECT_TRUE(result.value("success", false)) << result;
    EXPECT_EQ(Said({"-C", directory, "log", "-1", "--format=%s"}), directory + "\n");
    EXPECT_EQ(Said({"-C", directory, "show", "HEAD:made"}), "hooked\n");
    EXPECT_EQ(Said({"-C", directory, "status", "--short"}), "") << directory;
  }
}

TEST_F(GitHooks, InADirectoryOfTheWorkingTree) {
  fs::create_directory(project_.root() / "deep");
  WriteText(project_.root() / "deep/f", "f\n");
  Git({"add", "deep"});
  Hook("pre-commit", "git diff --cached --name-only >&2");
  const Json result = Committed("two", {{"working_directory", "deep"}});
  EXPECT_TRUE(result["data"]["stderr"].get<std::string>().contains("a.txt")) << result;
  EXPECT_EQ(Said({"show", "--format=", "--name-only"}), "a.txt\ndeep/f\n");
}

TEST_F(GitHooks, WithHashesOfSha256) {
  fs::remove_all(project_.root() / ".git");
  Git({"init", "-q", "--object-format=sha256", "-b", "main", "."});
  Git({"add", "a.txt"});
  Hook("pre-commit", "true");
  EXPECT_EQ(Committed("one")["data"]["hash"].get<std::string>().size(), 64u);
}

// An entry of `git add -N`, and bits that the user has set on others.
TEST_F(GitHooks, WhatTheIndexSaysBesidesStays) {
  WriteText(project_.root() / "later", "x\n");
  Git({"add", "-N", "later"});
  Git({"update-index", "--skip-worktree", "b.txt"});
  Hook("pre-commit", "echo more > c.txt; git add c.txt");
  Committed("two");
  EXPECT_EQ(Said({"ls-files", "-v"}), "H a.txt\nS b.txt\nH c.txt\nH later\n");
  EXPECT_EQ(Said({"status", "--short"}), " A later\n");
}

TEST_F(GitHooks, InDirectoriesThatTheConfigurationNames) {
  for (const fs::path& directory : {project_.root() / ".githooks", project_.outside() / "hooks"}) {
    fs::create_directories(directory);
    WriteText(directory / "commit-msg", "#!/bin/sh\necho \"from $0\" >> \"$1\"\n");
    fs::permissions(directory / "commit-msg", fs::perms::owner_all);
  }
  Git({"config", "core.hooksPath", ".githooks"});
  Committed("two ");
  EXPECT_EQ(Said({"log", "-1", "--format=%s"}), "two from .githooks/commit-msg\n");
}

// A configured filter is executed by `git commit`, too, where a file was touched.
TEST_F(GitHooks, AFilterRunsOnACopy) {
  Git({"config", "filter.upper.clean", "touch .git/filtered 2>/dev/null; tr a-z A-Z"});
  WriteText(project_.root() / ".gitattributes", "*.up filter=upper\n");
  WriteText(project_.root() / "f.up", "text\n");
  Git({"add", ".gitattributes", "f.up"});
  fs::remove(project_.root() / ".git/filtered");
  WriteText(project_.root() / "f.up", "other text\n");
  Committed("two");
  EXPECT_EQ(Said({"show", "HEAD:f.up"}), "TEXT\n");
  EXPECT_FALSE(fs::exists(project_.root() / ".git/filtered"));
  EXPECT_EQ(Said({"status", "--short"}), " M f.up\n");
}

class GitFilters : public GitHooks {
 protected:
  void SetUp() override {
    GitHooks::SetUp();
    if (IsSkipped()) return;
    WriteText(project_.root() / ".gitattributes", "* filter=upper\n?.txt -filter\n");
    Filter("tr a-z A-Z");
  }
  void Filter(const std::string& command) { Git({"config", "filter.upper.clean", command}); }
  Json Add(const std::vector<std::string>& paths, const std::string& directory = ".",
           const std::string& line = "") {
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\n" + line + "\n");
    client_.emplace(project_.Server());
    client_->Initialize();
    return client_->CallTool("git_add", {{"paths", paths}, {"working_directory", directory}});
  }
  // The same is staged as git stages outside, in a copy of the project.
  void ExpectAsOutside(const std::vector<std::string>& paths, const std::string& directory = ".") {
    const fs::path twin = project_.outside() / "twin";
    fs::remove_all(twin);
    fs::copy(project_.root(), twin, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    std::vector<std::string> command = {"-C", (twin / directory).string(), "add", "--"};
    command.insert(command.end(), paths.begin(), paths.end());
    Git(command);
    const Json result = Add(paths, directory);
    EXPECT_TRUE(result["success"]) << result;
    EXPECT_FALSE(result["meta"].contains("warnings")) << result;
    EXPECT_EQ(Said({"ls-files", "--stage", "-z"}),
              Said({"-C", twin.string(), "ls-files", "--stage", "-z"}));
    EXPECT_EQ(Said({"status", "--short"}), Said({"-C", twin.string(), "status", "--short"}));
    EXPECT_EQ(Said({"fsck", "--strict", "--no-dangling"}), "");
  }
};

TEST_F(GitFilters, OfGitAddStageWhatTheyStageOutside) {
  for (const char* name :
       {"new file", "a\nb", "deep/f", "deep/g", "-x", "ünïcode", "to be a directory"}) {
    WriteText(project_.root() / name, "text\n");
  }
  ExpectAsOutside({"new file", "a\nb", "deep", "-x", "ünïcode", "to be a directory"});
  EXPECT_EQ(Said({"show", ":new file"}), "TEXT\n");
  Git({"commit", "-q", "-m", "two"});
  WriteText(project_.root() / "new file", "other\n");
  fs::permissions(project_.root() / "-x", fs::perms::owner_all);
  fs::remove(project_.root() / "deep/f");
  fs::remove(project_.root() / "to be a directory");
  WriteText(project_.root() / "to be a directory/f", "x\n");
  fs::create_symlink("nowhere", project_.root() / "link");
  fs::remove(project_.root() / "a\nb");
  ExpectAsOutside({"."});
  ExpectAsOutside({"."});
  WriteText(project_.root() / "deep/h", "in a directory\n");
  ExpectAsOutside({"h"}, "deep");
}

TEST_F(GitFilters, OfGitAddEndAConflict) {
  BeginAMerge();
  ExpectAsOutside({"a.txt"});
}

TEST_F(GitFilters, OfGitAddChangeNothingElse) {
  WriteText(project_.root() / "f", "text\n");
  Filter("touch .git/seen; tr a-z A-Z");
  const Json result = Add({"f"});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_EQ(Said({"show", ":f"}), "TEXT\n");
  EXPECT_FALSE(fs::exists(project_.root() / ".git/seen"));
  Filter("false");
  Git({"config", "filter.upper.required", "true"});
  const std::string before = Repository();
  WriteText(project_.root() / "f", "more\n");
  EXPECT_FALSE(Add({"f"}).value("success", true));
  EXPECT_EQ(Repository(), before);
}

// As git-annex does. The agent can write such a filter, so it gets the repository only where the
// policy gives it to commands anyway; the guard watches over it then.
TEST_F(GitFilters, OfGitAddThatStoreSomethingNeedTheLineThatTheRefusalNames) {
  WriteText(project_.root() / "f", "text\n");
  Filter("mkdir -p .git/annex; tee .git/annex/content; cp .git/config .git/hooks/pre-push");
  const std::string before = Repository();
  const Json refused = Add({"f"});
  EXPECT_EQ(refused["error"]["code"], "COMMAND_FAILED") << refused;
  EXPECT_TRUE(refused["meta"]["warnings"].dump().contains("annex")) << refused;
  const std::string line = "git: {commands: write}";
  EXPECT_TRUE(refused["error"]["ai_message"].get<std::string>().contains(line)) << refused;
  EXPECT_EQ(Repository(), before);
  const Json result = Add({"f"}, ".", line);
  EXPECT_TRUE(result.dump().contains("pre-push")) << result;
  EXPECT_EQ(Said({"show", ":f"}), "text\n");
  EXPECT_EQ(ReadText(project_.root() / ".git/annex/content"), "text\n");
  EXPECT_FALSE(fs::exists(project_.root() / ".git/hooks/pre-push"));
}

// Nobody may believe that a call has staged what it has not.
TEST_F(GitFilters, OfGitAddWithoutTheProgramsThatItTakesFail) {
  const fs::path programs = project_.outside() / "bin";
  fs::create_directory(programs);
  for (const char* name : {"git", "sh"}) {
    fs::create_symlink(fs::canonical(fs::path("/usr/bin") / name), programs / name);
  }
  WriteText(project_.root() / "f", "text\n");
  Filter("/usr/bin/tr a-z A-Z");
  WriteText(project_.home() / ".config/project-actions/policy.yaml",
            "version: 1\nfilesystem: {read: [" + programs.string() + "]}\n");
  ServerOptions options = project_.Server();
  options.environment.push_back("PATH=" + programs.string());
  client_.emplace(options);
  client_->Initialize();
  const Json result = client_->CallTool("git_add", {{"paths", {"f"}}});
  EXPECT_FALSE(result.value("success", true)) << result;
  EXPECT_TRUE(result.dump().contains("sort")) << result;
}

// Whatever hooks leave for the git that takes it over.
TEST_F(GitHooks, LeaveWhatIsNoCommitOfTheirs) {
  Git({"branch", "other", "HEAD"});
  const std::string other = Said({"commit-tree", "-m", "x", "HEAD^{tree}"}).substr(0, 40);
  Hook("post-commit", "mkdir .git/project-actions.head .git/project-actions.pack");
  ExpectRefused("not a regular file");
  Hook("post-commit",
       "ln -s /etc/hostname .git/project-actions.head; "
       "ln -s /etc/hostname .git/project-actions.pack");
  ExpectRefused("project-actions.head");
  Hook("post-commit", "git update-ref HEAD " + other);
  ExpectRefused("HEAD has moved meanwhile, or the hooks made another commit");
  Hook("post-commit", "git update-ref -d HEAD");
  ExpectRefused("not the name of a commit");
}

// Trees that git itself does not make: a path that leads into the repository of whoever checks it
// out.
TEST_F(GitHooks, LeaveATreeThatGitRefuses) {
  Hook("post-commit",
       "blob=$(echo evil | git hash-object -w --stdin)\n"
       "sub=$(printf '100644 blob %s\\tconfig\\n' $blob | git mktree)\n"
       "top=$(printf '040000 tree %s\\t.git\\n' $sub | git mktree)\n"
       "git update-ref HEAD $(git commit-tree -p HEAD~1 -m evil $top)");
  ExpectRefused("unpack-objects");
}

TEST_F(GitHooks, MakeMoreThanOneCommit) {
  Hook("post-commit", "[ -e done ] || { touch done; git commit -q --allow-empty -m three; }");
  ExpectRefused("the hooks made another commit");
}

class GitHooksMeanwhile : public GitHooks {
 protected:
  // Runs `change` while a hook waits. The result of the commit.
  Json While(const std::vector<std::string>& change) {
    Hook("pre-commit", "touch begun; until [ -e go ]; do sleep 0.02; done");
    McpClient client(project_.Server());
    client.Initialize();
    const auto commit = client.StartTool("git_commit", {{"message", "two"}});
    EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "begun"); }));
    Git(change);
    WriteText(project_.root() / "go", "");
    return client.Await(commit)["result"]["structuredContent"];
  }
};

TEST_F(GitHooksMeanwhile, TheUserCommits) {
  const Json result =
      While({"commit", "-q", "--no-verify", "-m", "the user's", "b.txt", "--allow-empty"});
  EXPECT_TRUE(result.dump().contains("HEAD has moved meanwhile")) << result;
  EXPECT_EQ(Said({"log", "-1", "--format=%s"}), "the user's\n");
  EXPECT_EQ(Said({"diff", "--cached", "--name-only"}), "a.txt\n");
  EXPECT_TRUE(Commit("two").value("success", false)) << "the call can be made again";
}

TEST_F(GitHooksMeanwhile, TheUserStages) {
  WriteText(project_.root() / "c.txt", "c\n");
  const Json result = While({"add", "c.txt"});
  EXPECT_TRUE(result.dump().contains("what is staged has changed meanwhile")) << result;
  EXPECT_EQ(Said({"diff", "--cached", "--name-only"}), "a.txt\nc.txt\n");
}

TEST_F(GitHooksMeanwhile, NothingElseHappens) {
  // git writes a new index with the times of the files.
  RunProgram({.command = {"touch", "-d", "2026-01-01", (project_.root() / "b.txt").string()}});
  const Json result = While({"status"});
  EXPECT_TRUE(result.value("success", false)) << result;
  EXPECT_EQ(Said({"status", "--short"}), "?? begun\n?? go\n");
}

// lint-staged puts changes that are not staged aside, as an entry of the stash and as a patch.
TEST_F(GitHooks, OfHooksThatAreKilledTheCopyIsKept) {
  WriteText(project_.root() / "a.txt", "not staged\n");
  Hook("pre-commit",
       "git diff --binary --output=.git/unstaged.patch\n"
       "git stash store -q -m backup $(git stash create)\n"
       "git checkout -q --force -- .\ntouch begun\nsleep 60");
  const Json result = Commit("two", "limits: {wall_time: 2s}");
  EXPECT_EQ(result["error"]["code"], "TIMED_OUT") << result;
  ASSERT_EQ(Copies().size(), 1u);
  const fs::path copy = Copies()[0];
  EXPECT_TRUE(result.dump().contains(copy.string())) << result;
  EXPECT_EQ(ReadText(project_.root() / "a.txt"), "changed\n");
  Git({"apply", (copy / "upper/unstaged.patch").string()});
  EXPECT_EQ(ReadText(project_.root() / "a.txt"), "not staged\n");
  // The same from the entry of the stash, as docs/policy.md has it.
  Git({"checkout", "-q", "--", "a.txt"});
  const ProgramResult restored =
      RunProgram({.command = {"sh", "-c",
                              "GIT_ALTERNATE_OBJECT_DIRECTORIES=\"$1/upper/objects\" git restore "
                              "--source=$(cat \"$1/upper/refs/stash\") .",
                              "sh", copy.string()},
                  .environment = {"HOME=" + project_.home().string()},
                  .directory = project_.root()});
  EXPECT_EQ(restored.exit_code, 0) << restored.output << restored.errors;
  EXPECT_EQ(ReadText(project_.root() / "a.txt"), "not staged\n");
}

// Where there can be no copy, the guard watches over the repository as before.
TEST_F(GitHooks, WithoutNamespacesTheyChangeTheRepositoryItself) {
  Hook("pre-commit", "git tag seen; cp \"$0\" .git/hooks/pre-push");
  const Json result = Commit("two", "namespaces: off");
  EXPECT_EQ(Said({"tag"}), "seen\n");
  EXPECT_FALSE(fs::exists(project_.root() / ".git/hooks/pre-push"));
  EXPECT_TRUE(result.dump().contains("pre-push")) << result;
}

// The audit log has each run of git.
TEST_F(GitHooks, AreInTheLog) {
  Hook("pre-commit", "true");
  Committed("two");
  const Json end = project_.EndsInTheLog().back();
  std::string commands;
  for (const Json& command : end["unmapped"]["commands"]) commands += command["argv"].dump() + "\n";
  EXPECT_TRUE(commands.contains("\"sh\",\"-c\"")) << commands;
  EXPECT_TRUE(commands.contains("unpack-objects")) << commands;
  EXPECT_TRUE(commands.contains("-C")) << commands;
}

}  // namespace
}  // namespace pa::testing
