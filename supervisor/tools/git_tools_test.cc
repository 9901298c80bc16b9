// git_add and git_commit with the real git.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/json_writer.h"
#include "tests/support/run_program.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

std::string Quoted(std::string_view text) {
  JsonWriter writer;
  writer.String(text);
  return std::move(writer).Take();
}

class GitToolsTest : public ToolFixture {
 protected:
  void SetUp() override {
    UserConfig("[user]\n\tname = Ann Author\n\temail = ann@example.com\n");
    Git({"init", "-q", "-b", "main", "."});
  }
  void UserConfig(const std::string& text) { testing::WriteText(home_ / ".gitconfig", text); }

  // git as the user runs it, outside every sandbox; what it prints, its complaints last.
  std::string Git(std::vector<std::string> arguments, const fs::path& directory = {}) {
    arguments.insert(arguments.begin(), "git");
    const testing::ProgramResult result =
        testing::RunProgram({.command = std::move(arguments),
                             .environment = {"HOME=" + home_.string(), "GIT_CONFIG_NOSYSTEM=1"},
                             .directory = directory.empty() ? project_ : directory});
    return result.output + result.errors;
  }
  std::string Staged() { return Git({"diff", "--cached", "--name-only", "-z", "--no-renames"}); }

  ToolResult Add(const std::vector<std::string>& paths, const std::string& more = "") {
    JsonWriter writer;
    writer.BeginArray();
    for (const std::string& path : paths) writer.String(path);
    writer.EndArray();
    return Call("git_add", "{\"paths\":" + std::move(writer).Take() + more + "}");
  }
  ToolResult Commit(std::string_view message, const std::string& more = "") {
    return Call("git_commit", "{\"message\":" + Quoted(message) + more + "}");
  }
  // The message as the commit object holds it.
  std::string Message() {
    const std::string object = Git({"cat-file", "commit", "HEAD"});
    return object.substr(object.find("\n\n") + 2);
  }
  static std::string Zeroed(std::string text) {
    for (char& c : text) {
      if (c == '\n') c = '\0';
    }
    return text;
  }
};

TEST_F(GitToolsTest, AddsAndCommits) {
  Write("a file", "text\n");
  Write("sub/b", "text\n");
  const JsonValue added = Data(Add({"a file", "sub"}));
  EXPECT_EQ(added.Find("command")->AsString(), "git --literal-pathspecs add -- 'a file' sub");
  EXPECT_EQ(Staged(), Zeroed("a file\nsub/b\n"));
  const JsonValue committed = Data(Commit("First\n"));
  EXPECT_EQ(committed.Find("command")->AsString(), "git commit --file=- --cleanup=verbatim");
  EXPECT_EQ(Message(), "First\n");
  EXPECT_EQ(Git({"log", "-1", "--format=%an <%ae> %cn <%ce>"}),
            "Ann Author <ann@example.com> Ann Author <ann@example.com>\n");
}

// `[{"path":"a","change":"added"}]` as `added a`, one a line.
std::string Listed(const JsonValue& data, std::string_view name) {
  std::string text;
  const JsonValue* files = data.Find(name);
  EXPECT_NE(files, nullptr) << data.Dump();
  if (files == nullptr) return text;
  for (const JsonValue& file : files->Items()) {
    text += file.Find("change")->AsString() + " " + file.Find("path")->AsString() + "\n";
  }
  return text;
}

TEST_F(GitToolsTest, AddTellsWhatIsStaged) {
  Write("a file", "text\n");
  Write("gone", "text\n");
  Write("sub/b", "text\n");
  ToolResult added = Add({"."});
  EXPECT_EQ(Listed(Data(added), "staged"), "added a file\nadded gone\nadded sub/b\n");
  EXPECT_TRUE(added.text.contains("staged for the next commit: 3 files\nadded a file\n"))
      << added.text;
  Data(Commit("first"));
  added = Add({"gone"});
  EXPECT_EQ(Listed(Data(added), "staged"), "");
  EXPECT_TRUE(added.text.contains("nothing is staged: all is as in the last commit"));
  fs::remove(project_ / "gone");
  Write("a file", "other\n");
  Data(Add({"a file", "gone"}));
  fs::remove(project_ / "sub/b");
  fs::create_symlink("nowhere", project_ / "sub/b");
  // All that the next commit will hold, seen from the working directory.
  const JsonValue data = Data(Add({"b"}, R"(,"working_directory":"sub")"));
  EXPECT_EQ(Listed(data, "staged"), "modified ../a file\ndeleted ../gone\ntype changed b\n");
}

TEST_F(GitToolsTest, ManyFilesAreCounted) {
  for (int i = 0; i < 120; ++i) Write("d/" + std::to_string(i), "x");
  const ToolResult added = Add({"d"});
  const JsonValue data = Data(added);
  EXPECT_EQ(data.Find("staged")->Items().size(), 100u);
  EXPECT_EQ(data.Find("staged_omitted")->AsInteger(), 20);
  EXPECT_TRUE(added.text.ends_with("... and 20 more\n")) << added.text;
  EXPECT_TRUE(added.text.contains("staged for the next commit: 120 files\n")) << added.text;
  const JsonValue committed = Data(Commit("x"));
  EXPECT_EQ(committed.Find("files")->Items().size(), 100u);
  EXPECT_EQ(committed.Find("files_omitted")->AsInteger(), 20);
}

TEST_F(GitToolsTest, CommitTellsWhichItIs) {
  const auto head = [&] {
    const std::string hash = Git({"rev-parse", "HEAD"});
    return hash.substr(0, hash.size() - 1);
  };
  Git({"checkout", "-q", "-b", "topic/a,b"});
  // Settings of the repository that change what git log prints.
  Git({"config", "log.showRoot", "false"});
  Git({"config", "log.showSignature", "true"});
  Git({"config", "log.excludeDecoration", "*"});
  Write("f", "0");
  Write("old", "0\n0\n");
  Data(Add({"."}));
  ToolResult committed = Commit("first");
  JsonValue data = Data(committed);
  EXPECT_EQ(data.Find("hash")->AsString(), head());
  EXPECT_EQ(data.Find("branch")->AsString(), "topic/a,b");
  EXPECT_EQ(Listed(data, "files"), "added f\nadded old\n");
  EXPECT_TRUE(committed.text.contains("commit " + head() + " on topic/a,b: 2 files\nadded f\n"))
      << committed.text;
  Git({"tag", "v1"});
  Git({"checkout", "-q", "--detach"});
  fs::rename(project_ / "old", project_ / "renamed");
  Data(Add({"old", "renamed"}));
  committed = Commit("second");
  data = Data(committed);
  EXPECT_EQ(data.Find("hash")->AsString(), head());
  EXPECT_EQ(data.Find("branch"), nullptr);
  EXPECT_EQ(Listed(data, "files"), "deleted old\nadded renamed\n");
  EXPECT_TRUE(committed.text.contains(" with HEAD detached: 2 files\n")) << committed.text;
}

TEST_F(GitToolsTest, OfAMergeTheFilesAreThoseOfTheOtherSide) {
  Write("f", "0");
  Data(Add({"f"}));
  Data(Commit("first"));
  Git({"checkout", "-q", "-b", "side"});
  Write("theirs", "x");
  Git({"add", "theirs"});
  Git({"commit", "-q", "-m", "theirs"});
  Git({"checkout", "-q", "main"});
  Write("ours", "x");
  Git({"add", "ours"});
  Git({"commit", "-q", "-m", "ours"});
  Git({"merge", "-q", "--no-commit", "side"});
  EXPECT_EQ(Listed(Data(Commit("merged")), "files"), "added theirs\n");
}

// Where the policy lets a command commit, nobody has to tell it who the user is.
TEST_F(GitToolsTest, CommandsCommitInTheSameName) {
  testing::WriteText(home_ / ".config/git/config", "[user]\n\tname = Early\n");
  UserConfig("[user]\n\tname = Ann \"A\" Author\n\temail = ann@example.com\n[alias]\n\tx = !id\n" +
             std::string("[includeIf \"gitdir:**/work/.git\"]\n\tpath = work\n"));
  testing::WriteText(home_ / "work", "[user]\n\temail = ann@work.example\n");
  const char* commit = R"({"command":"git init -q made && cd made && git commit -q --allow-empty )"
                       R"(-m x && git log -1 --format='%an <%ae> %cn'; git config --list --global )"
                       R"(--name-only | sort -u"})";
  const auto made = [&](std::string name) {
    std::string command = commit;
    for (std::size_t at = command.find("made"); at != std::string::npos;
         at = command.find("made")) {
      command.replace(at, 4, name);
    }
    return Data(Call("bash", command)).Find("stdout")->AsString();
  };
  EXPECT_EQ(made("here"),
            "Ann A Author <ann@example.com> Ann A Author\nincludeif.gitdir:**/work/.git.path\n"
            "user.email\nuser.name\n");
  EXPECT_TRUE(made("work").starts_with("Ann A Author <ann@work.example> Ann A Author\n"));
  policy_->git.commands = policy::GitCommands::kWrite;
  Write("Makefile", ".PHONY: commit\ncommit:\n\tgit commit -q --allow-empty -m made\n");
  Data(Call("make", R"({"target":"commit"})"));
  EXPECT_EQ(Git({"log", "-1", "--format=%an %s"}), "Ann A Author made\n");
  policy_->git.inherit_identity = false;
  const ToolResult nobody = Call("make", R"({"target":"commit"})");
  EXPECT_EQ(Code(nobody), "COMMAND_FAILED");
  Git({"config", "user.name", "Repo"});
  Git({"config", "user.email", "repo@example.com"});
  policy_->git.inherit_identity = true;
  Data(Call("make", R"({"target":"commit"})"));
  EXPECT_EQ(Git({"log", "-1", "--format=%an"}), "Repo\n") << "the repository's own is stronger";
}

TEST_F(GitToolsTest, MessagesAreStoredByteForByte) {
  Write("f", "0");
  int number = 0;
  for (const std::string message :
       {"no last newline", "trailing blanks   \n\n\n\n", "# a comment\n\n# another\ntext\n",
        "\n\n  leading\n", "\xF0\x9F\x8E\x89 emoji \xC3\xA4\n", "CRLF\r\nlines\r\n", "-m --amend\n",
        "tab\tand\x01 control\n", "Signed-off-by: x\n\n\ndiff --git a/x b/x\n"}) {
    Write("f", std::to_string(++number));
    Data(Add({"f"}));
    Data(Commit(message));
    EXPECT_EQ(Message(), message);
  }
}

TEST_F(GitToolsTest, EmptyMessageIsGitsToRefuse) {
  Write("f", "x");
  Data(Add({"f"}));
  const ToolResult result = Commit("");
  EXPECT_EQ(Code(result), "COMMAND_FAILED");
  EXPECT_NE(result.error->message.find("empty commit message"), std::string::npos);
  EXPECT_FALSE(result.error->message.contains("git init")) << "there is a repository";
}

// Whoever wants signatures is told that there is none, and which key of the policy says so.
TEST_F(GitToolsTest, ACommitThatShouldBeSignedSaysThatItIsNot) {
  Write("f", "x");
  Data(Add({"f"}));
  const ToolResult plain = Commit("first");
  Data(plain);
  EXPECT_TRUE(plain.warnings.empty());
  UserConfig("[user]\n\tname = A\n\temail = a@b\n[commit]\n\tgpgSign = true\n");
  Write("f", "y");
  const ToolResult added = Add({"f"});
  EXPECT_TRUE(added.warnings.empty()) << "nothing is committed there";
  const ToolResult told = Commit("second");
  Data(told);
  ASSERT_EQ(told.warnings.size(), 1u);
  EXPECT_TRUE(told.warnings[0].contains("not signed")) << told.warnings[0];
  EXPECT_TRUE(told.warnings[0].contains("git.signing")) << told.warnings[0];
  EXPECT_TRUE(told.text.contains(told.warnings[0]));
  EXPECT_FALSE(Git({"cat-file", "commit", "HEAD"}).contains("gpgsig"));
  Git({"config", "commit.gpgSign", "false"});
  Write("f", "z");
  Data(Add({"f"}));
  EXPECT_TRUE(Commit("third").warnings.empty()) << "the repository wants none";
}

TEST_F(GitToolsTest, MessageTooLarge) {
  policy_->limits.commit_message = 2048;
  Write("f", "x");
  Data(Add({"f"}));
  const ToolResult result = Commit(std::string(2049, 'x'));
  EXPECT_EQ(Code(result), "COMMIT_TOO_LARGE");
  EXPECT_EQ(result.error->message,
            "commit message exceeds 2 KB limit (use PROJECT_ACTIONS_MAX_COMMIT_SIZE to adjust)");
  Data(Commit(std::string(2048, 'x')));
}

TEST_F(GitToolsTest, PathsAreLiteral) {
  const std::vector<std::string> names = {":(glob)x", "-A", "--all", ":!f", "*", "[a]", "a?"};
  for (const std::string& name : names) Write("d/" + name, "x");
  Write("d/other", "x");
  Write("outside_d", "x");
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    Git({"rm", "-q", "-r", "--cached", "--ignore-unmatch", "."});
    Data(Add({name}, R"(,"working_directory":"d")"));
    EXPECT_EQ(Staged(), "d/" + name + std::string(1, '\0'));
  }
  EXPECT_EQ(Code(Add({":/missing"})), "COMMAND_FAILED");
}

TEST_F(GitToolsTest, DeletedFilesCanBeStaged) {
  Write("gone/f", "x");
  Data(Add({"gone/f"}));
  Data(Commit("x"));
  fs::remove_all(project_ / "gone");
  Data(Add({"gone/f"}));
  EXPECT_EQ(Staged(), Zeroed("gone/f\n"));
}

TEST_F(GitToolsTest, PathsThatLeaveAreRefused) {
  testing::WriteText(outside_ / "secret", "x");
  fs::create_directory_symlink(outside_, project_ / "link");
  fs::create_symlink(outside_ / "secret", project_ / "secret");
  for (const std::string path : {"../outside/secret", "/etc/passwd", "link/secret", "secret"}) {
    const ToolResult result = Add({path});
    EXPECT_EQ(Code(result), "INVALID_PATH") << path;
    EXPECT_TRUE(result.error->message.starts_with("path escapes working directory: " + path));
  }
  EXPECT_EQ(Staged(), "");
}

TEST_F(GitToolsTest, OneBadPathStagesNothing) {
  Write("good", "x");
  EXPECT_EQ(Code(Add({"good", "missing"})), "COMMAND_FAILED");
  EXPECT_EQ(Staged(), "");
  EXPECT_EQ(Code(Add({})), "INVALID_ARGUMENT");
}

TEST_F(GitToolsTest, NoRepositoryIsGitsToSay) {
  fs::remove_all(project_ / ".git");
  Write("f", "x");
  const ToolResult result = Add({"f"});
  EXPECT_EQ(Code(result), "COMMAND_FAILED");
  EXPECT_NE(result.error->message.find("not a git repository"), std::string::npos);
}

TEST_F(GitToolsTest, NobodyConfigured) {
  UserConfig("");
  Git({"config", "user.useConfigOnly", "true"});
  Write("f", "x");
  Data(Add({"f"}));
  const ToolResult result = Commit("x");
  EXPECT_EQ(Code(result), "COMMAND_FAILED");
  EXPECT_NE(result.error->message.find("Author identity unknown"), std::string::npos);
}

TEST_F(GitToolsTest, TheRepositorysIdentityIsStronger) {
  Git({"config", "user.email", "local@example.com"});
  UserConfig(
      "[user]\n\tname = Ann\n\temail = ann@example.com\n[committer]\n\tname = Robot\n"
      "[includeIf \"gitdir:" +
      project_.string() + "/\"]\n\tpath = .gitconfig-work\n");
  testing::WriteText(home_ / ".gitconfig-work", "[user]\n\tname = Ann at Work\n");
  Write("f", "x");
  Data(Add({"f"}));
  Data(Commit("x"));
  EXPECT_EQ(Git({"log", "-1", "--format=%an <%ae> %cn"}),
            "Ann at Work <local@example.com> Robot\n");
}

TEST_F(GitToolsTest, ConfigurationKeptElsewhere) {
  fs::remove(home_ / ".gitconfig");
  testing::WriteText(home_ / "dotfiles/gitconfig",
                     "[user]\n\tname = Ann\n\temail = a@b\n[include]\n\tpath = ~/dotfiles/more\n"
                     "[include]\n\tpath = ~/missing\n");
  testing::WriteText(home_ / "dotfiles/more", "[include]\n\tpath = yet_more\n");
  testing::WriteText(home_ / "dotfiles/yet_more", "[user]\n\tname = Ann Dot\n");
  fs::create_symlink("dotfiles/gitconfig", home_ / ".gitconfig");
  Write("f", "x");
  Data(Add({"f"}));
  Data(Commit("x"));
  EXPECT_EQ(Git({"log", "-1", "--format=%an"}), "Ann Dot\n");
}

TEST_F(GitToolsTest, WhatTheRepositoryIncludesIsNotRead) {
  testing::WriteText(home_ / "secret", "[user]\n\tname = Secret\n");
  Git({"config", "include.path", home_ / "secret"});
  Write("f", "x");
  policy_->namespaces = sandbox::Namespaces::kOff;
  EXPECT_EQ(Code(Add({"f"})), "COMMAND_FAILED");
  // Where it is not in sight, git goes on without it.
  policy_->namespaces = sandbox::Namespaces::kAuto;
  if (Code(Add({"f"})) == "COMMAND_FAILED") GTEST_SKIP() << "no namespaces here";
  UserConfig("[user]\n\tname = Ann\n\temail = a@b\n");
  Data(Commit("x"));
  EXPECT_EQ(Git({"log", "-1", "--format=%an"}), "Ann\n");
}

TEST_F(GitToolsTest, TheUsersLineEndingsAndIgnoredFilesCount) {
  UserConfig("[core]\n\tautocrlf = input\n[user]\n\tname = a\n\temail = b\n");
  testing::WriteText(home_ / ".config/git/ignore", "*.swp\n");
  Write("d/f", "a\r\nb\r\n");
  Write("d/x.swp", "x");
  Data(Add({"d"}));
  EXPECT_EQ(Staged(), Zeroed("d/f\n"));
  EXPECT_EQ(Git({"cat-file", "blob", ":d/f"}), "a\nb\n");
}

TEST_F(GitToolsTest, HooksRunInTheSandboxOrNotAtAll) {
  testing::WriteText(outside_ / "secret", "secret");
  const std::string hook = "#!/bin/sh\ncat '" + (outside_ / "secret").string() +
                           "' > leaked; cat '" + (home_ / ".gitconfig").string() +
                           "' >> leaked; echo ran > ran; exit 0\n";
  testing::WriteText(project_ / ".git/hooks/pre-commit", hook);
  fs::permissions(project_ / ".git/hooks/pre-commit", fs::perms::owner_all);
  Write("f", "x");
  Data(Add({"f"}));
  policy_->git.hooks = policy::Hooks::kSkip;
  Data(Commit("skipped"));
  EXPECT_EQ(Read("ran"), "");
  policy_->git.hooks = policy::Hooks::kRun;
  Write("f", "y");
  Data(Add({"f"}));
  Data(Commit("ran"));
  EXPECT_EQ(Read("ran"), "ran\n");
  EXPECT_EQ(Read("leaked"), "");
}

TEST_F(GitToolsTest, AHookMayRefuse) {
  testing::WriteText(project_ / ".git/hooks/commit-msg", "#!/bin/sh\necho no ticket >&2\nexit 1\n");
  fs::permissions(project_ / ".git/hooks/commit-msg", fs::perms::owner_all);
  Write("f", "x");
  Data(Add({"f"}));
  const ToolResult result = Commit("x");
  EXPECT_EQ(Code(result), "COMMAND_FAILED");
  EXPECT_NE(ParseJson(result.data)->Find("stderr")->AsString().find("no ticket"),
            std::string::npos);
}

TEST_F(GitToolsTest, LinkedWorktree) {
  Write("f", "x");
  Data(Add({"f"}));
  Data(Commit("first"));
  fs::rename(project_, base_ / "main");
  EXPECT_EQ(Git({"worktree", "add", "-q", "-b", "side", project_}, base_ / "main").find("fatal"),
            std::string::npos);
  Write("g", "y");
  Data(Add({"g"}));
  Data(Commit("on the side"));
  EXPECT_EQ(Git({"log", "--format=%s", "side"}, base_ / "main"), "on the side\nfirst\n");
  EXPECT_EQ(Git({"log", "--format=%s", "main"}, base_ / "main"), "first\n");
}

TEST_F(GitToolsTest, SubdirectoryOfTheRepository) {
  Write(".gitignore", "*.o\n");
  Write("top", "x");
  Write("sub/f", "x");
  Write("sub/f.o", "x");
  Data(Add({"."}, R"(,"working_directory":"sub")"));
  EXPECT_EQ(Staged(), Zeroed("sub/f\n"));
  EXPECT_EQ(Code(Add({"../top"}, R"(,"working_directory":"sub")")), "INVALID_PATH");
  Data(Commit("sub", R"(,"working_directory":"sub")"));
  EXPECT_EQ(Git({"show", "--name-only", "--format=%s"}), "sub\n\nsub/f\n");
}

// The server was started in a subdirectory: the rest of the tree is not git's to see.
TEST_F(GitToolsTest, RepositoryAboveTheRoot) {
  policy_->roots = {project_ / "pkg"};
  Write("pkg/f", "x");
  const ToolResult refused = Add({"."});
  EXPECT_EQ(Code(refused), "INVALID_DIRECTORY");
  EXPECT_NE(refused.error->ai_message.find("--root " + project_.string()), std::string::npos);
  policy_->roots.push_back(project_);
  Data(Add({"."}));
  EXPECT_EQ(Staged(), Zeroed("pkg/f\n"));
}

TEST_F(GitToolsTest, Submodule) {
  fs::create_directory(base_ / "lib");
  Git({"init", "-q", "-b", "main"}, base_ / "lib");
  Git({"commit", "-q", "--allow-empty", "-m", "lib"}, base_ / "lib");
  Git({"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", base_ / "lib", "lib"});
  Write("lib/f", "x");
  Data(Add({"f"}, R"(,"working_directory":"lib")"));
  Data(Commit("in the submodule", R"(,"working_directory":"lib")"));
  EXPECT_EQ(Git({"log", "-1", "--format=%s"}, project_ / "lib"), "in the submodule\n");
}

TEST_F(GitToolsTest, RepositoriesThatAreNotOursAreNotTouched) {
  Git({"init", "-q", outside_ / "victim"});
  fs::remove_all(project_ / ".git");
  Write(".git", "gitdir: " + (outside_ / "victim/.git").string() + "\n");
  Write("f", "x");
  const ToolResult result = Add({"f"});
  EXPECT_EQ(Code(result), "INVALID_DIRECTORY");
  EXPECT_FALSE(fs::exists(outside_ / "victim/.git/index"));
}

TEST_F(GitToolsTest, WithoutTheUsersIdentityTheRepositorysOwnCounts) {
  policy_->git.inherit_identity = false;
  Write("f", "x");
  Data(Add({"f"}));
  const ToolResult nobody = Commit("x");
  EXPECT_EQ(Code(nobody), "COMMAND_FAILED");
  EXPECT_NE(nobody.error->message.find("identity unknown"), std::string::npos);
  Git({"config", "user.name", "Repo"});
  Git({"config", "user.email", "repo@example.com"});
  Data(Commit("x"));
  EXPECT_EQ(Git({"log", "-1", "--format=%an"}), "Repo\n");
}

// git would set the set-group-ID bit of new directories, which the sandbox refuses, had they not
// what they need when they are made.
TEST_F(GitToolsTest, SharedRepositories) {
  const mode_t before = umask(0022);
  for (const char* shared : {"group", "all", "0660"}) {
    const fs::path project = project_ / shared;
    fs::create_directory(project);
    Git({"init", "-q", std::string("--shared=") + shared, "."}, project);
    Write(std::string(shared) + "/f", shared);
    const std::string directory = std::string(R"(,"working_directory":")") + shared + '"';
    policy_->git.inherit_identity = false;  // the repository's own settings are read all the same
    Data(Add({"f"}, directory));
    policy_->git.inherit_identity = true;
    Data(Commit("shared", directory));
    EXPECT_EQ(Git({"fsck", "--strict"}, project).find("error"), std::string::npos);
    for (const auto& entry : fs::directory_iterator(project / ".git/objects")) {
      struct stat status{};
      ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 02770, mode_t{02770}) << entry.path();
    }
  }
  umask(before);
}

TEST_F(GitToolsTest, DryRunChangesNothing) {
  Write("f", "x");
  const JsonValue data = Data(Add({"f"}, R"(,"dry_run":true)"));
  EXPECT_EQ(data.Find("argv")->Dump(), R"(["git","--literal-pathspecs","add","--","f"])");
  EXPECT_NE(data.Find("confinement"), nullptr);
  EXPECT_EQ(Staged(), "");
  Data(Add({"f"}));
  Data(Commit("x", R"(,"dry_run":true)"));
  EXPECT_NE(Git({"log"}).find("does not have any commits"), std::string::npos);
}

TEST_F(GitToolsTest, DryRunShowsWhatTheUsersSettingsOpen) {
  const auto grants_of = [&] {
    const JsonValue data = Data(Add({"f"}, R"(,"dry_run":true)"));
    return data.Find("confinement")->Find("paths")->Dump();
  };
  Write("f", "x");
  const std::string excludes = (outside_ / "excludes").string();
  testing::WriteText(excludes, "*.o\n");
  EXPECT_EQ(grants_of().find(excludes), std::string::npos);
  UserConfig("[core]\n\texcludesFile = " + excludes + "\n");
  EXPECT_NE(grants_of().find(excludes), std::string::npos);
}

TEST_F(GitToolsTest, NothingOfTheEnvironmentReachesGit) {
  ambient_["GIT_DIR"] = (outside_ / "victim").string();
  ambient_["GIT_AUTHOR_NAME"] = "Mallory";
  policy_->environment_pass = {"GIT_DIR", "GIT_AUTHOR_NAME"};
  Write("f", "x");
  Data(Add({"f"}));
  Data(Commit("x"));
  EXPECT_EQ(Git({"log", "-1", "--format=%an"}), "Ann Author\n");
}

TEST_F(GitToolsTest, NoGitOnThePath) {
  ambient_["PATH"] = "/nonexistent";
  Write("f", "x");
  const ToolResult result = Add({"f"});
  EXPECT_EQ(Code(result), "TOOL_NOT_FOUND");
  EXPECT_EQ(result.error->message, "git not found on PATH - install git to use git operations");
}

TEST_F(GitToolsTest, ProjectActionsDoesTheSame) {
  Write("f", "x");
  Data(Call("project_actions", R"({"operation":"add","paths":["f"]})"));
  Data(Call("project_actions", R"({"operation":"commit","message":"by operation"})"));
  EXPECT_EQ(Message(), "by operation");
}

}  // namespace
}  // namespace pa
