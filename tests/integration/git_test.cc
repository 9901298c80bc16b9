// git_add and git_commit through the real server, judged by git itself outside the sandbox.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

class Git : public ::testing::Test {
 protected:
  Project project_{".PHONY: all\nall:\n"};
  McpClient client_{project_.Server()};

  void SetUp() override {
    project_.InitGit();
    WriteText(project_.root() / "a.txt", "a\n");
    WriteText(project_.root() / "b.txt", "b\n");
    client_.Initialize();
  }
  Json Add(Json paths) { return client_.CallTool("git_add", {{"paths", std::move(paths)}}); }
  Json Commit(const std::string& message) {
    return client_.CallTool("git_commit", {{"message", message}});
  }
  std::string Staged() { return project_.Git({"diff", "--cached", "--name-only"}).output; }
  // The message as stored: what follows the first empty line of the commit object.
  std::string Stored() {
    std::string object = project_.Git({"cat-file", "commit", "HEAD"}).output;
    std::size_t end = object.find("\n\n");
    return end == std::string::npos ? "no commit" : object.substr(end + 2);
  }
};

TEST_F(Git, AddStagesWhatWasNamed) {
  Json result = Add({"a.txt"});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_EQ(Staged(), "a.txt\n");
}

// In the name that git_commit gives, from a configuration that no command can change.
TEST_F(Git, CommandsCommitInTheUsersName) {
  const auto run = [&](const std::string& command) {
    return client_.CallTool("bash", {{"command", command}});
  };
  const std::string commit =
      "git init -q sub && cd sub && git commit -q --allow-empty -m x && git log -1 --format='%an "
      "%ae'";
  Json result = run(commit);
  EXPECT_EQ(result["data"]["stdout"], "Ada Lovelace ada@example.org\n") << result;
  EXPECT_NE(run("git config --global user.name Other")["data"]["exit_code"], 0);
  EXPECT_NE(run("echo >> \"$GIT_CONFIG_GLOBAL\"")["data"]["exit_code"], 0);
  EXPECT_NE(run("touch \"$(dirname \"$GIT_CONFIG_GLOBAL\")/x\"")["data"]["exit_code"], 0);
  WriteText(project_.home() / ".gitconfig", "[user]\n\tname = Bob\n\temail = bob@example.org\n");
  result = run("cd sub && git commit -q --allow-empty -m y && git log -1 --format=%an");
  EXPECT_EQ(result["data"]["stdout"], "Bob\n") << "as soon as the user changes it: " << result;
  result =
      run("printf '[user]\\nname = Own\\n' > own; GIT_CONFIG_GLOBAL=$PWD/own git config user.name");
  EXPECT_EQ(result["data"]["stdout"], "Own\n") << result;
}

TEST_F(Git, AddTakesNamesLiterally) {
  for (const char* name : {"-A", "--all", ":(glob)*", "*.txt"})
    WriteText(project_.root() / name, "x\n");
  EXPECT_TRUE(Add({"-A", "*.txt", ":(glob)*"})["success"]);
  EXPECT_EQ(Staged(), "*.txt\n-A\n:(glob)*\n");
}

TEST_F(Git, AddRefusesWhatLeavesTheDirectory) {
  std::filesystem::create_directory_symlink(project_.outside(), project_.root() / "link");
  WriteText(project_.outside() / "theirs", "x\n");
  for (const std::string& path :
       {std::string("../outside/theirs"), std::string("link/theirs"),
        (project_.root() / "a.txt").string(), std::string("x/../../outside/theirs")}) {
    Json result = Add({path});
    EXPECT_EQ(result["error"]["code"], "INVALID_PATH") << path << result;
  }
  EXPECT_EQ(Staged(), "");
}

TEST_F(Git, OneBadPathStagesNothing) {
  EXPECT_FALSE(Add({"a.txt", "../x"})["success"]);
  EXPECT_FALSE(Add({"a.txt", "no-such-file"})["success"]);
  EXPECT_EQ(Staged(), "");
}

TEST_F(Git, TheMessageIsStoredByteForByte) {
  for (const std::string& message :
       {std::string("plain"), std::string("subject\n\nbody\n"),
        std::string("trailing blanks  \n\n\n"), std::string("# looks like a comment\n"),
        std::string("Ünïcödé 漢字 🎉"), std::string("\ttab\rreturn\n"), std::string("--amend\n"),
        std::string("a\n# b\nc   ")}) {
    WriteText(project_.root() / "a.txt", message + "changed");
    Add({"a.txt"});
    Json result = Commit(message);
    ASSERT_TRUE(result["success"]) << result;
    EXPECT_EQ(Stored(), message);
  }
  EXPECT_EQ(project_.Git({"log", "-1", "--format=%an <%ae>"}).output,
            "Ada Lovelace <ada@example.org>\n");
}

TEST_F(Git, AnEmptyMessageGetsGitsOwnRefusal) {
  Add({"a.txt"});
  Json result = Commit("");
  EXPECT_EQ(result["error"]["code"], "COMMAND_FAILED") << result;
  EXPECT_NE(result.dump().find("empty commit message"), std::string::npos) << result;
}

TEST_F(Git, AMessageOverTheLimitIsRefusedAndTheLimitItselfIsNot) {
  Add({"a.txt"});
  Json result = Commit(std::string((16U << 10) + 1, 'x'));
  EXPECT_EQ(result["error"]["code"], "COMMIT_TOO_LARGE") << result;
  EXPECT_TRUE(Commit(std::string(16U << 10, 'x'))["success"]);
}

TEST_F(Git, ACommitThatIsNotSignedSaysSoToWhoWantsSignatures) {
  ASSERT_TRUE(Add({"a.txt"})["success"]);
  ASSERT_EQ(project_.Git({"config", "--global", "commit.gpgsign", "true"}).exit_code, 0);
  const Json dry = client_.CallTool("git_commit", {{"message", "m"}, {"dry_run", true}});
  EXPECT_TRUE(dry["success"]) << dry;
  EXPECT_FALSE(dry.dump().contains("not signed")) << dry;
  const Json result = Commit("m");
  ASSERT_TRUE(result["success"]) << result;
  ASSERT_EQ(result["meta"]["warnings"].size(), 1u) << result;
  EXPECT_TRUE(result["meta"]["warnings"][0].get<std::string>().contains("git.signing")) << result;
}

TEST_F(Git, WhereThereIsNoRepositoryTheHintSaysSo) {
  std::filesystem::remove_all(project_.root() / ".git");
  Json result = Add({"a.txt"});
  EXPECT_EQ(result["error"]["code"], "COMMAND_FAILED") << result;
  EXPECT_NE(result["error"].dump().find("git init"), std::string::npos) << result;
}

TEST_F(Git, HooksRunAndCanRefuse) {
  std::filesystem::path hook = project_.root() / ".git" / "hooks" / "commit-msg";
  WriteText(hook, "#!/bin/sh\ngrep -q ticket \"$1\" || { echo no ticket >&2; exit 1; }\n");
  std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
  Add({"a.txt"});
  Json refused = Commit("without");
  EXPECT_FALSE(refused["success"]);
  EXPECT_NE(refused["data"]["stderr"].get<std::string>().find("no ticket"), std::string::npos)
      << refused;
  EXPECT_TRUE(Commit("ticket 7")["success"]);
}

TEST_F(Git, DryRunsChangeNothing) {
  EXPECT_TRUE(client_.CallTool("git_add", {{"paths", {"a.txt"}}, {"dry_run", true}})["success"]);
  EXPECT_EQ(Staged(), "");
  Add({"a.txt"});
  EXPECT_TRUE(client_.CallTool("git_commit", {{"message", "m"}, {"dry_run", true}})["success"]);
  EXPECT_EQ(Stored(), "no commit");
}

TEST_F(Git, WritesToOneRepositoryAreSerialised) {
  std::vector<int> calls;
  for (int i = 0; i < 10; ++i) {
    std::string name = "many" + std::to_string(i);
    WriteText(project_.root() / name, "x\n");
    calls.push_back(client_.StartTool("git_add", {{"paths", {name}}}));
  }
  for (int call : calls) {
    Json reply = client_.Await(call);
    EXPECT_TRUE(reply["result"]["structuredContent"]["success"]) << reply;
  }
}

TEST_F(Git, WorksInALinkedWorktree) {
  Add({"a.txt"});
  Commit("first");
  project_.Git({"worktree", "add", "-q", "tree"});
  WriteText(project_.root() / "tree" / "new.txt", "x\n");
  Json added = client_.CallTool("git_add", {{"paths", {"new.txt"}}, {"working_directory", "tree"}});
  EXPECT_TRUE(added["success"]) << added;
  Json committed =
      client_.CallTool("git_commit", {{"message", "in the tree"}, {"working_directory", "tree"}});
  EXPECT_TRUE(committed["success"]) << committed;
}

TEST_F(Git, OneToolDoesAllFive) {
  Json added = client_.CallTool("project_actions", {{"operation", "add"}, {"paths", {"a.txt"}}});
  EXPECT_TRUE(added["success"]) << added;
  Json committed = client_.CallTool("project_actions", {{"operation", "commit"}, {"message", "m"}});
  EXPECT_TRUE(committed["success"]) << committed;
  Json made = client_.CallTool("project_actions", {{"operation", "all"}});
  EXPECT_TRUE(made["success"]) << made;
  Json unknown = client_.CallTool("project_actions", {{"operation", "none_such"}});
  EXPECT_EQ(unknown["error"]["code"], "INVALID_TARGET") << unknown;
}

// Who is killed while git is at work leaves git's lock, at which every later git would fail; in
// both tiers.
class GitKilled : public ::testing::TestWithParam<const char*> {
 protected:
  Project project_{".PHONY: all\nall:\n"};
  const std::filesystem::path lock_ = project_.root() / ".git/index.lock";

  void SetUp() override {
    WriteText(project_.home() / "policy.yaml",
              std::string("version: 1\nnamespaces: ") + GetParam() + "\n");
    project_.InitGit();
    for (const char* file : {"slow.txt", "a.txt"}) WriteText(project_.root() / file, "text\n");
    // Nothing but holes, which take seconds to hash; the index is locked meanwhile. A filter would
    // lock that of a copy.
    std::filesystem::resize_file(project_.root() / "slow.txt", std::uintmax_t{3} << 30);
  }
  ServerOptions Server() const {
    return project_.Server({"--policy", project_.home() / "policy.yaml"});
  }
  void StartToAdd(McpClient& client) const {
    client.Initialize();
    client.StartTool("git_add", {{"paths", {"slow.txt"}}});
    ASSERT_TRUE(Eventually([&] { return exists(lock_); })) << client.Errors();
  }
  static Json Add(McpClient& client) { return client.CallTool("git_add", {{"paths", {"a.txt"}}}); }
  std::string Staged() { return project_.Git({"diff", "--cached", "--name-only"}).output; }
};

INSTANTIATE_TEST_SUITE_P(Tiers, GitKilled, ::testing::Values("auto", "off"),
                         [](const auto& tier) { return std::string(tier.param); });

TEST_P(GitKilled, TheNextServerClearsWhatTheLastOneLeft) {
  for (int i = 0; i < 10; ++i) {
    {
      McpClient client(Server());
      StartToAdd(client);
      usleep(static_cast<useconds_t>(2000 * i));
      const std::vector<pid_t> others = ChildrenOf(client.pid());  // launchers and guardian
      client.Signal(SIGKILL);
      for (const pid_t pid : others) {
        if (i % 2 != 0) kill(pid, SIGKILL);
      }
    }
    McpClient next(Server());
    next.Initialize();
    const Json result = Add(next);
    ASSERT_TRUE(result["success"]) << result;
    EXPECT_TRUE(result.dump().contains("index.lock, which a git command of ours left")) << result;
    EXPECT_EQ(Staged(), "a.txt\n");
    EXPECT_FALSE(exists(lock_));
    EXPECT_FALSE(Add(next).dump().contains("of ours left")) << "once";
    project_.Git({"rm", "-q", "--cached", "a.txt"});
  }
}

TEST_P(GitKilled, TheServerClearsWhatItsGuardianLeft) {
  McpClient client(Server());
  client.Initialize();
  for (int i = 0; i < 3; ++i) {
    const int call = client.StartTool("git_add", {{"paths", {"slow.txt"}}});
    ASSERT_TRUE(Eventually([&] { return exists(lock_); })) << client.Errors();
    for (const pid_t pid : WorkersOf(client.pid())) kill(pid, SIGKILL);
    const Json killed = client.Await(call)["result"]["structuredContent"];
    EXPECT_FALSE(killed["success"]) << killed;
    EXPECT_FALSE(exists(lock_)) << killed;
    const Json result = Add(client);
    EXPECT_TRUE(result["success"]) << result;
  }
}

// The editor of a commit message may be open for hours, and its git has no lock open.
TEST_P(GitKilled, ALockOfSomebodyElseStays) {
  WriteText(lock_, "");
  {
    McpClient client(Server());
    client.Initialize();
    const Json result = Add(client);
    EXPECT_EQ(result["error"]["code"], "COMMAND_FAILED") << result;
    EXPECT_TRUE(result.dump().contains("was not left by a git command of this server's")) << result;
  }
  McpClient client(Server());
  client.Initialize();
  EXPECT_FALSE(Add(client)["success"]) << "a command that failed in order has left nothing";
  EXPECT_TRUE(exists(lock_));
  std::filesystem::remove(lock_);
  const Json result = Add(client);
  EXPECT_TRUE(result["success"]) << result;
}

// While it moves the branch, `HEAD` and the branch are locked: in the repository, or in the copy of
// it that hooks get.
TEST_P(GitKilled, ACommitIsNotInTheWayOfTheNext) {
  const std::filesystem::path hook = project_.root() / ".git/hooks/reference-transaction";
  WriteText(hook, "#!/bin/sh\n[ \"$1\" = prepared ] || exit 0\ntouch ran\nsleep 5\n");
  std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
  const std::filesystem::path locks[] = {project_.root() / ".git/HEAD.lock",
                                         project_.root() / ".git/refs/heads/main.lock"};
  {
    McpClient client(Server());
    client.Initialize();
    ASSERT_TRUE(Add(client)["success"]);
    client.StartTool("git_commit", {{"message", "m"}});
    ASSERT_TRUE(Eventually([&] { return exists(project_.root() / "ran"); })) << client.Errors();
    const bool copied = GetParam() != std::string("off") && CopiesOfRepositoriesAreGranted();
    for (const auto& lock : locks) EXPECT_EQ(exists(lock), !copied) << lock;
    client.Signal(SIGKILL);
  }
  std::filesystem::remove(hook);
  McpClient client(Server());
  client.Initialize();
  const Json result = client.CallTool("git_commit", {{"message", "m"}});
  EXPECT_TRUE(result["success"]) << result;
  for (const auto& lock : locks) EXPECT_FALSE(exists(lock)) << lock;
}

// A hook stages what is gone, so what its view does not show it deletes. In a place that no other
// of the view's lies above (not /tmp, not the home), with a server on `root`, which lies in the
// repository or is it.
class GitInASubdirectory : public ::testing::Test {
 protected:
  TempDir place_{"/var/tmp"};
  TempDir home_;

  void SetUp() override {
    WriteText(home_.path() / ".gitconfig", "[user]\n\tname = a\n\temail = b\n");
    for (const char* file : {"top.txt", "beside/file.txt", "sub/file.txt"}) {
      WriteText(place_.path() / file, "first\n");
    }
    Outside({"init", "-q"});
    Outside({"add", "."});
    Outside({"commit", "-q", "-m", "first"});
    const std::filesystem::path hook = place_.path() / ".git/hooks/pre-commit";
    WriteText(hook, "#!/bin/sh\ngit add -u\n");
    std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
    WriteText(place_.path() / "sub/file.txt", "second\n");
  }
  std::string Outside(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "git");
    return RunProgram({.command = std::move(arguments),
                       .environment = {"HOME=" + home_.path().string(), "GIT_CONFIG_NOSYSTEM=1"},
                       .directory = place_.path()})
        .output;
  }
  Json CommitIn(const std::string& directory, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--enable", "all"});
    McpClient client({.arguments = std::move(arguments), .home = home_.path()});
    client.Initialize();
    Json added = client.CallTool(
        "git_add", {{"paths", {"file.txt"}}, {"working_directory", place_.path() / directory}});
    if (!added["success"]) return added;
    return client.CallTool(
        "git_commit", {{"message", "second"}, {"working_directory", place_.path() / directory}});
  }
  // What the commit changed, a line each: `M\tsub/file.txt`.
  std::string Committed() { return Outside({"show", "--format=", "--name-status", "HEAD"}); }
};

TEST_F(GitInASubdirectory, ACommitSeesTheWholeWorkingTree) {
  Json committed = CommitIn("sub", {"--root", place_.path()});
  EXPECT_TRUE(committed["success"]) << committed;
  EXPECT_EQ(Committed(), "M\tsub/file.txt\n");
}

// With namespaces and without them.
TEST_F(GitInASubdirectory, AWorkingTreeBeyondTheRootsIsRefused) {
  for (const char* namespaces : {"auto", "off"}) {
    WriteText(home_.path() / "policy.yaml",
              std::string("version: 1\nnamespaces: ") + namespaces + "\n");
    const std::vector<std::string> arguments = {"--root", place_.path() / "sub", "--policy",
                                                home_.path() / "policy.yaml"};
    Json refused = CommitIn("sub", arguments);
    EXPECT_EQ(refused["error"]["code"], "INVALID_DIRECTORY") << refused;
    EXPECT_NE(refused["error"].dump().find("--root " + place_.path().string()), std::string::npos)
        << refused;
    EXPECT_EQ(Outside({"diff", "--cached", "--name-only"}), "");
  }
}

// make and bash are granted the subdirectory alone; a git of theirs finds no repository, or may not
// read it.
TEST_F(GitInASubdirectory, OtherCommandsFindNoRepository) {
  for (const char* namespaces : {"auto", "off"}) {
    WriteText(home_.path() / "policy.yaml",
              std::string("version: 1\ngit: {commands: write}\nnamespaces: ") + namespaces + "\n");
    McpClient client({.arguments = {"--root", place_.path(), "--enable", "all", "--policy",
                                    home_.path() / "policy.yaml"},
                      .home = home_.path()});
    client.Initialize();
    const auto bash = [&](const char* command, const std::string& directory) {
      return client.CallTool("bash", {{"command", command}, {"working_directory", directory}});
    };
    EXPECT_FALSE(bash("git add -u", place_.path() / "sub")["success"]);
    EXPECT_EQ(Outside({"diff", "--cached", "--name-only"}), "");
    EXPECT_TRUE(bash("git add -u", place_.path())["success"]);
    EXPECT_EQ(Outside({"diff", "--cached", "--name-only"}), "sub/file.txt\n");
    Outside({"reset", "-q"});
  }
}

TEST_F(GitInASubdirectory, AnyRootOrReadablePathThatHoldsTheTreeWillDo) {
  Json committed = CommitIn("sub", {"--root", place_.path() / "sub", "--root", place_.path()});
  EXPECT_TRUE(committed["success"]) << committed;
  EXPECT_EQ(Committed(), "M\tsub/file.txt\n");

  WriteText(place_.path() / "sub/file.txt", "third\n");
  WriteText(home_.path() / "policy.yaml",
            "version: 1\nfilesystem: {read: [" + place_.path().string() + "]}\n");
  Json read =
      CommitIn("sub", {"--root", place_.path() / "sub", "--policy", home_.path() / "policy.yaml"});
  EXPECT_TRUE(read["success"]) << read;
  EXPECT_EQ(Committed(), "M\tsub/file.txt\n");
}

}  // namespace
}  // namespace pa::testing
