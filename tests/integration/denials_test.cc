// Denials of the real server: each refusal beside what looks like one, and the line that it names
// written into the policy, under which the same command succeeds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "tests/support/loopback.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

class Denials : public ::testing::Test {
 protected:
  Denials() {
    WriteText(key(), "the key\n");
    WriteText(file(), "before\n");
    WriteText(outside() + "/prog", "#!/bin/sh\necho ran\n");
    fs::permissions(outside() + "/prog", fs::perms::owner_all);
  }
  std::string home() const { return fs::canonical(project_.home()).string(); }
  std::string outside() const { return fs::canonical(project_.outside()).string(); }
  std::string key() const { return project_.home().string() + "/.ssh/id"; }
  std::string file() const { return project_.outside().string() + "/file"; }

  // The result of `recipe` under a policy of that one line.
  Json Make(const std::string& recipe, const std::string& line = "") {
    WriteText(project_.root() / "Makefile", ".PHONY: t\nt:\n\t@" + recipe + "\n");
    return Call("make", {{"target", "t"}}, line);
  }
  Json Call(const char* tool, const Json& arguments, const std::string& line = "") {
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\nnamespaces: " + namespaces_ + "\n" + line + "\n");
    McpClient client(project_.Server());
    client.Initialize();
    return client.Await(client.StartTool(tool, arguments))["result"];
  }
  static Json Of(const Json& result) {
    return result["structuredContent"]["data"].value("denials", Json::array());
  }
  // The only denial; an empty object where there is none.
  static Json OneOf(const Json& result) {
    const Json denials = Of(result);
    EXPECT_EQ(denials.size(), 1u) << result;
    return denials.empty() ? Json::object() : denials[0];
  }
  Json Explained(const std::string& path) {
    const ProgramResult result =
        RunProgram({.command = {BuiltProgram("PA_SERVER"), "policy", "explain", path, "--json",
                                "--root", project_.root()},
                    .environment = {"HOME=" + project_.home().string()},
                    .directory = project_.root()});
    return Json::parse(result.output);
  }

  // The recipe is refused, says so of `path`, and succeeds under the line that it names.
  void IsLifted(const std::string& recipe, const std::string& path, const std::string& access,
                const std::string& expected_line) {
    const Json refused = Make(recipe);
    EXPECT_TRUE(refused["isError"]) << refused;
    const Json denial = OneOf(refused);
    EXPECT_EQ(denial.value("path", ""), path) << recipe;
    EXPECT_EQ(denial.value("access", ""), access) << recipe;
    EXPECT_EQ(denial.value("allow_with", ""), expected_line) << recipe;
    EXPECT_EQ(denial.value("source", ""), "stderr") << recipe;
    const std::string text = refused["content"][0]["text"];
    EXPECT_NE(text.find("denied: " + access + " " + path), std::string::npos) << text;
    EXPECT_NE(text.find(expected_line), std::string::npos) << text;
    EXPECT_FALSE(Explained(path)["uses"][0][access]["allowed"]) << path;
    const Json allowed = Make(recipe, expected_line);
    EXPECT_FALSE(allowed.value("isError", true)) << allowed;
    EXPECT_TRUE(Of(allowed).empty()) << allowed;
    EXPECT_TRUE(Explained(path)["uses"][0][access]["allowed"]) << path;
  }
  std::string Read(const std::string& path) { return "filesystem: {read: [\"" + path + "\"]}"; }
  std::string Write(const std::string& path) { return "filesystem: {write: [\"" + path + "\"]}"; }

  std::string namespaces_ = "off";
  Project project_{""};
};

TEST_F(Denials, Reading) {
  const std::string path = home() + "/.ssh/id";
  IsLifted("cat " + key(), path, "read", Read(path));
  IsLifted("cat ~/.ssh/id", path, "read", Read(path));
  IsLifted("cp " + key() + " copy", path, "read", Read(path));
  fs::create_symlink(key(), project_.root() / "link");
  IsLifted("cat link", path, "read", Read(path));
  IsLifted("ls " + outside(), outside(), "read", Read(outside()));
}

TEST_F(Denials, ASecretIsSaidToBeOne) {
  const Json denial = OneOf(Make("cat " + key()));
  EXPECT_EQ(denial["remark"],
            "gives commands the secrets in " + project_.home().string() + "/.ssh");
  const Json explained = Explained(home() + "/.ssh/id");
  EXPECT_EQ(denial["allow_with"], explained["allow_with"]);
  EXPECT_EQ(denial["remark"], explained["remark"]);
}

TEST_F(Denials, Writing) {
  const std::string directory = Write(outside());
  IsLifted("echo x > " + outside() + "/new", outside() + "/new", "write", directory);
  IsLifted("mkdir -p " + outside() + "/a/b", outside() + "/a", "write", directory);
  IsLifted("touch " + outside() + "/touched", outside() + "/touched", "write", directory);
  IsLifted("cp Makefile " + outside() + "/m", outside() + "/m", "write", directory);
  IsLifted("echo after | tee " + file(), outside() + "/file", "write", Write(outside() + "/file"));
  EXPECT_EQ(ReadText(file()), "after\n");
  IsLifted("rm " + file(), outside() + "/file", "write", directory);
}

TEST_F(Denials, Executing) {
  IsLifted("env " + outside() + "/prog", outside() + "/prog", "execute", Read(outside() + "/prog"));
}

// shm_open(3) knows it by a name that looks like a path at the root.
TEST_F(Denials, SharedMemory) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm of this user's";
  const std::string name = "pa-test-" + std::to_string(getpid());
  const std::string python = "/usr/bin/python3 -c \"from multiprocessing.shared_memory import *; ";
  const std::string shm = fs::canonical("/dev/shm").string();
  IsLifted(python + "m = SharedMemory('" + name + "', True, 8); m.close(); m.unlink()\"",
           shm + "/" + name, "write", Write(shm));
  const Json attached = Make(python + "SharedMemory('" + name + "')\"");
  EXPECT_TRUE(attached["isError"]) << attached;
  EXPECT_TRUE(Of(attached).empty()) << "there is none: " << attached;
}

TEST_F(Denials, Network) {
  const std::string bash = "/bin/bash";
  if (access(bash.c_str(), X_OK) != 0) GTEST_SKIP() << "no bash, whose /dev/tcp this uses";
  const LoopbackListener listener;
  const std::string port = std::to_string(listener.port());
  const std::string recipe = bash + " -c ': > /dev/tcp/127.0.0.1/" + port + "'";
  const Json refused = Make(recipe);
  const Json denial = OneOf(refused);
  EXPECT_EQ(denial.value("syscall", ""), "socket") << refused;
  EXPECT_EQ(denial.value("blocked_by", ""), "seccomp: network not granted by the policy");
  const std::string line = denial.value("allow_with", "");
  EXPECT_TRUE(line.starts_with("network: ")) << line;
  const Json allowed = Make(recipe, "network: full");
  EXPECT_FALSE(allowed.value("isError", true)) << allowed;
  const Json closed = Make(bash + " -c ': > /dev/tcp/127.0.0.1/1'", "network: full");
  EXPECT_TRUE(closed["isError"]);
  EXPECT_TRUE(Of(closed).empty()) << "nobody listens there: " << closed;
}

// A line that does not help, or gives away too much, is not named; the denial says why.
TEST_F(Denials, WhatNoLineShouldAllow) {
  struct Case {
    std::string recipe;
    std::string says;
  };
  const std::string state = home() + "/.local/state/project-actions";
  for (const char* tier : {"off", "auto"}) {
    namespaces_ = tier;
    for (const auto& [recipe, says] : {
             Case{"ls -A " + home(), "whole home"},
             Case{"touch " + home() + "/new", "whole home"},
             Case{"cp Makefile " + home() + "/", "whole home"},
             Case{"mkdir " + state + "/audit/new", "does not load"},
             Case{"ls /etc", "what /etc hides"},
         }) {
      const Json result = Make(recipe);
      EXPECT_TRUE(result["isError"]) << result;
      if (Of(result).empty()) continue;  // in a view what is not granted may be no denial at all
      const Json denial = OneOf(result);
      EXPECT_FALSE(denial.contains("allow_with")) << recipe << denial;
      EXPECT_TRUE(denial.value("remark", "").contains(says)) << recipe << denial;
    }
  }
}

// Each line that is named, in both tiers: the policy loads with it, and the same call succeeds.
TEST_F(Denials, EveryLineHelps) {
  const std::string zz = outside() + "/zz";
  for (const char* tier : {"off", "auto"}) {
    namespaces_ = tier;
    for (const std::string& command :
         {"echo x > " + zz, "cat < " + file(), "cat " + file() + " > " + zz, "mkdir " + zz,
          "cp " + file() + " " + zz, "rm " + file(), "mv " + file() + " " + zz, outside() + "/prog",
          "ls " + outside(), "tee " + file() + " < Makefile",
          "/usr/bin/python3 -c 'open(\"" + zz + "\", \"w\")'"}) {
      fs::remove_all(zz);
      WriteText(file(), "before\n");
      std::string lines;
      Json result;
      // One after another: what the first line opens shows what else is missing.
      for (int i = 0; i < 3; ++i) {
        result = Call("bash", {{"command", command}}, lines);
        if (!result.value("isError", true)) break;
        const Json denial = OneOf(result);
        const std::string line = denial.value("allow_with", "");
        ASSERT_NE(line, "") << tier << " " << command << result;
        ASSERT_FALSE(lines.contains(line)) << "named again: " << command << result;
        lines = i == 0
                    ? line
                    : "filesystem: {read: [\"" + outside() + "\"], write: [\"" + outside() + "\"]}";
      }
      EXPECT_FALSE(result.value("isError", true)) << tier << " " << command << result;
    }
  }
}

// Without namespaces there is no terminal that would be the command's alone.
TEST_F(Denials, Terminals) {
  if (access("/usr/bin/script", X_OK) != 0) GTEST_SKIP() << "script(1) is not installed";
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  const std::string recipe =
      "script -qec 'tty > there; echo typed > /dev/tty' /dev/null && "
      "/usr/bin/python3 -c 'import os, pty; print(os.ttyname(pty.openpty()[1]))'";
  const Json denial = OneOf(Make(recipe));
  EXPECT_EQ(denial.value("path", ""), "/dev/ptmx");
  EXPECT_EQ(denial.value("allow_with", ""), "namespaces: auto");
  namespaces_ = "auto";
  const Json allowed = Make(recipe);
  if (allowed.value("isError", true)) {
    EXPECT_EQ(OneOf(allowed).value("allow_with", ""), "");
    GTEST_SKIP() << "no namespaces are granted here";
  }
  EXPECT_EQ(ReadText(project_.root() / "there"), "/dev/pts/0\n");
}

// Nothing that a policy could open: each is named for what it is, and has no line.
TEST_F(Denials, WhatNoCommandMayDo) {
  struct Case {
    const char* program;
    const char* command;
    const char* syscall;
    const char* says;       // other versions of the program may have other words
    bool for_root = false;  // others are refused it outside as well
  };
  int tried = 0;
  for (const char* tier : {"off", "auto"}) {
    namespaces_ = tier;
    for (const Case& one : {
             Case{"/usr/bin/unshare", "unshare -n true", "unshare", "unshare failed"},
             Case{"/usr/bin/su", "su -c true nobody < /dev/null", "setuid", "Critical error"},
             Case{"/usr/bin/bwrap", "bwrap --ro-bind / / true", "unshare", "new namespace"},
             Case{"/usr/bin/perf", "perf stat true", "perf_event_open", "No permission to enable"},
             Case{"/usr/sbin/chroot", "/usr/sbin/chroot / true", "chroot", "root directory", true},
             Case{"/usr/bin/setpriv", "setpriv --reuid 1001 true", "setuid", "setresuid", true},
         }) {
      if (access(one.program, X_OK) != 0) continue;
      const Json result = Call("bash", {{"command", one.command}});
      EXPECT_TRUE(result["isError"]) << one.command << result;
      if (!result.dump().contains(one.says)) continue;
      ++tried;
      if (one.for_root && geteuid() != 0) {
        EXPECT_TRUE(Of(result).empty()) << result;
        continue;
      }
      const Json denial = OneOf(result);
      EXPECT_EQ(denial.value("syscall", ""), one.syscall) << one.command << result;
      EXPECT_FALSE(denial.contains("allow_with")) << denial;
      EXPECT_TRUE(denial.value("remark", "").contains("no line of policy")) << denial;
    }
  }
  EXPECT_GE(tried, 2) << "unshare in both tiers at least";
}

// The kernel has one errno for set-id bits and for a file of somebody else's.
TEST_F(Denials, SetIdBits) {
  for (const char* tier : {"off", "auto"}) {
    namespaces_ = tier;
    const auto mode = [&](const char* bits) {
      return Call("bash", {{"command", std::string("touch mine && chmod ") + bits + " mine"}});
    };
    const Json denial = OneOf(mode("u+s"));
    EXPECT_EQ(denial.value("path", ""), project_.root() / "mine");
    EXPECT_FALSE(denial.contains("allow_with")) << denial;
    EXPECT_TRUE(denial.value("blocked_by", "").contains("set-user-ID")) << denial;
    EXPECT_TRUE(denial.value("remark", "").contains("no line of policy")) << denial;
    EXPECT_FALSE(mode("a+x").value("isError", true)) << tier;
  }
  if (geteuid() == 0) return;  // who may change the mode of everybody's files
  const Json foreign = Call("bash", {{"command", "chmod a+x /usr/bin/env"}});
  EXPECT_TRUE(foreign["isError"]) << foreign;
  EXPECT_TRUE(Of(foreign).empty()) << foreign;
}

// The line of gpg's denial opens its directory as a whole, because nothing less helps.
TEST_F(Denials, Gpg) {
  if (access("/usr/bin/gpg", X_OK) != 0) GTEST_SKIP() << "no gpg";
  const std::string ring = home() + "/.gnupg";
  fs::create_directory(ring);
  fs::permissions(ring, fs::perms::owner_all);
  const Json list = {{"command", "gpg --batch --list-keys"}};
  const Json bare = OneOf(Call("bash", list));
  EXPECT_EQ(bare.value("path", ""), ring);
  EXPECT_FALSE(bare.contains("allow_with")) << bare;
  namespaces_ = "auto";
  const Json refused = Call("bash", list);
  const Json denial = OneOf(refused);
  EXPECT_EQ(denial.value("path", ""), ring) << refused;
  if (!NamespacesAreGranted()) GTEST_SKIP() << "no namespaces are granted here";
  const Json allowed = Call("bash", list, denial.value("allow_with", ""));
  EXPECT_FALSE(allowed.value("isError", true)) << allowed;
}

// An ordinary failed test: the words are its own.
TEST_F(Denials, AnOrdinaryFailedTestSaysNothingOfTheSandbox) {
  const std::string report =
      "echo \"not ok 1 - cat: /etc/app.conf: Permission denied\"; "
      "echo \"E   AssertionError: 'Could not resolve host: x' != 'not found'\"; "
      "echo \"FAIL: login: permission denied\" >&2; exit 1";
  for (const char* tier : {"off", "auto"}) {
    namespaces_ = tier;
    const Json failed = Call("bash", {{"command", report}});
    EXPECT_TRUE(failed["isError"]) << failed;
    EXPECT_TRUE(Of(failed).empty()) << failed;
    EXPECT_FALSE(failed.dump().contains("sandbox")) << failed;
    EXPECT_FALSE(failed.dump().contains("policy explain")) << failed;
  }
}

TEST_F(Denials, OfAHook) {
  project_.InitGit();
  WriteText(project_.root() / "a", "a");
  const fs::path hook = project_.root() / ".git/hooks/pre-commit";
  WriteText(hook, "#!/bin/sh\ncat " + file() + "\n");
  fs::permissions(hook, fs::perms::owner_all);
  ASSERT_EQ(project_.Git({"add", "a"}).exit_code, 0);
  const Json refused = Call("git_commit", {{"message", "m"}});
  const Json denial = OneOf(refused);
  EXPECT_EQ(denial.value("path", ""), outside() + "/file") << refused;
  const Json allowed = Call("git_commit", {{"message", "m"}}, denial.value("allow_with", ""));
  EXPECT_FALSE(allowed.value("isError", true)) << allowed;
}

// Where what is not granted is not in sight.
class HiddenDenials : public Denials {
 protected:
  void SetUp() override {
    namespaces_ = "require";
    if (Make("true").value("isError", true)) GTEST_SKIP() << "no namespaces are granted here";
  }
};

TEST_F(HiddenDenials, EachLineLiftsItsOwn) {
  IsLifted("cat " + key(), home() + "/.ssh/id", "read", Read(home() + "/.ssh/id"));
  IsLifted("ls " + outside(), outside(), "read", Read(outside()));
  IsLifted("touch " + outside() + "/new", outside() + "/new", "write", Write(outside()));
}

TEST_F(HiddenDenials, ALoopbackOfItsOwnIsWhatALocalTestNeeds) {
  const std::string bash = "/bin/bash";
  if (access(bash.c_str(), X_OK) != 0) GTEST_SKIP() << "no bash, whose /dev/tcp this uses";
  const std::string recipe = bash + " -c ': > /dev/tcp/127.0.0.1/1'";
  EXPECT_EQ(OneOf(Make(recipe)).value("allow_with", ""), "network: loopback");
  const Json allowed = Make(recipe, "network: loopback");
  EXPECT_NE(allowed.dump().find("Connection refused"), std::string::npos) << allowed;
  EXPECT_TRUE(Of(allowed).empty()) << allowed;
}

// A socket that was refused when it was made says nothing of the host; the milder line comes first,
// and a name that was looked up beside it hides it not.
TEST_F(HiddenDenials, ASocketAloneLeadsToLoopback) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  const std::string python = "/usr/bin/python3 -c ";
  const std::string serve =
      python + "'import socket; socket.create_server((\"127.0.0.1\", 0)); print(\"listens\")'";
  for (const std::string& command :
       {serve, python + "'import socket; socket.socket()'",
        python + "'import http.server; http.server.HTTPServer((\"\", 0), None)'",
        std::string("perl -MIO::Socket::INET -e 'IO::Socket::INET->new(Listen => 1) or die $!'")}) {
    const Json refused = Call("bash", {{"command", command}});
    EXPECT_EQ(OneOf(refused).value("allow_with", ""), "network: loopback") << refused;
    const Json allowed = Call("bash", {{"command", command}}, "network: loopback");
    EXPECT_FALSE(allowed.value("isError", true)) << allowed;
  }
  const Json both = Call(
      "bash",
      {{"command", python + "'import socket; socket.getaddrinfo(\"a.example\", 1)'; " + serve}});
  std::set<std::string> lines;
  for (const Json& denial : Of(both)) lines.insert(denial.value("allow_with", ""));
  EXPECT_EQ(lines, (std::set<std::string>{"network: full", "network: loopback"})) << both;
}

// What a mount protects (docs/adr/0015): each way to change it, beside the same in tier 0, where it
// is undone, and beside what is free.
class SealedDenials : public HiddenDenials {
 protected:
  void SetUp() override {
    HiddenDenials::SetUp();
    if (IsSkipped()) return;
    project_.InitGit();
    WriteText(root() / ".git/hooks/present", "#!/bin/sh\n");
  }
  const fs::path& root() const { return project_.root(); }

  void IsRefused(const std::string& recipe, const std::string& path, const std::string& by,
                 const std::string& policy = "") {
    SCOPED_TRACE(recipe);
    namespaces_ = "require";
    const Json refused = Make(recipe, policy);
    EXPECT_TRUE(refused["isError"]) << refused;
    const Json denial = OneOf(refused);
    EXPECT_EQ(denial.value("path", ""), fs::canonical(root()) / path) << refused;
    EXPECT_EQ(denial.value("access", ""), "write");
    EXPECT_TRUE(denial.value("blocked_by", "").starts_with("protected path: " + by)) << denial;
    EXPECT_FALSE(denial.contains("allow_with")) << denial;
    EXPECT_TRUE(denial.value("remark", "").contains("the user changes it outside")) << denial;
    namespaces_ = "off";
    const Json undone = Make(recipe, policy);
    EXPECT_FALSE(undone.value("isError", true)) << undone;
    EXPECT_TRUE(Of(undone).empty()) << undone;
    EXPECT_TRUE(undone["structuredContent"]["data"].contains("protected_paths_modified")) << undone;
    namespaces_ = "require";
  }
  void IsFree(const std::string& recipe, const std::string& policy = "") {
    const Json result = Make(recipe, policy);
    EXPECT_FALSE(result.value("isError", true)) << recipe << result;
    EXPECT_TRUE(Of(result).empty()) << recipe << result;
  }
};

TEST_F(SealedDenials, EachIsNamed) {
  IsRefused("git config a.b c", ".git/config", "git configuration");
  IsRefused("echo evil >.git/hooks/pre-commit", ".git/hooks/pre-commit", "git hooks");
  IsRefused("echo evil >>.git/hooks/present", ".git/hooks/present", "git hooks");
  IsRefused("chmod +x .git/hooks/present", ".git/hooks/present", "git hooks");
  IsRefused("touch x; mv x .git/hooks/pre-push", ".git/hooks/pre-push", "git hooks");
  IsRefused("sed -i s/a/b/ .git/config", ".git/config", "git configuration",
            "git: {commands: write}");
  IsRefused("rm .git/config", ".git/config", "git configuration");
  IsRefused("mv .git/hooks .git/h", ".git/hooks", "git hooks");
  IsRefused("mv .git x", ".git", "git repository");
  // Whatever it holds, one line is enough.
  fs::remove_all(root() / ".git/hooks");
  WriteText(root() / ".git/hooks/a", "");
  WriteText(root() / ".git/hooks/b", "");
  const Json removed = OneOf(Make("rm -r .git/hooks"));
  EXPECT_TRUE(removed.value("path", "").contains("/.git/hooks/")) << removed;
  EXPECT_EQ(removed.value("blocked_by", ""), "protected path: git hooks");
}

TEST_F(SealedDenials, InTheWordsOfPolicyExplain) {
  const Json denial = OneOf(Make("echo evil >.git/hooks/pre-commit"));
  const Json explained = Explained(root().string() + "/.git/hooks/pre-commit");
  EXPECT_EQ(denial.value("blocked_by", ""),
            "protected path: " + explained["uses"][0].value("protected", ""))
      << explained;
}

TEST_F(SealedDenials, OfPython) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  const auto python = [](const std::string& code) {
    return "/usr/bin/python3 -c \"" + code + "\"";
  };
  IsRefused(python("open('.git/config', 'a').write(chr(10))"), ".git/config", "git configuration");
  IsRefused(python("open('.git/hooks/x', 'w')"), ".git/hooks/x", "git hooks");
  IsRefused(python("import os; os.rename('.git', 'x')"), ".git", "git repository");
  IsFree(python("open('.git/free', 'w'); open('free', 'w')"), "git: {commands: write}");
}

TEST_F(SealedDenials, PlacesOfThePolicy) {
  WriteText(root() / "ci/deploy", "x\n");
  const std::string policy = "filesystem: {protect: [ci]}";
  IsRefused("echo evil >ci/new", "ci/new", "policy filesystem.protect", policy);
  IsRefused("rm ci/deploy", "ci/deploy", "policy filesystem.protect", policy);
  const Json edited = OneOf(Make("sed -i s/x/y/ ci/deploy", policy));
  EXPECT_TRUE(edited.value("path", "").contains("/ci/sed")) << "its own, beside it: " << edited;
  IsFree("echo x >ci/new; sed -i s/x/y/ ci/deploy");
}

TEST_F(SealedDenials, TheRestOfTheRepositoryIsFree) {
  IsFree(
      "echo x >.git/free; chmod +x .git/free; mv .git/free .git/f; sed -i s/x/y/ .git/f; rm "
      ".git/f",
      "git: {commands: write}");
  IsFree("mkdir -p hooks; echo x >hooks/pre-commit; mv hooks h; rm -r h");
}

TEST_F(SealedDenials, OrdinaryFailuresAreNone) {
  for (const std::string& recipe : {
           std::string("cat .git/none"),
           std::string("rm .git/hooks/none"),
           std::string("rmdir .git"),  // not empty
           std::string("echo x >.git/none/x"),
           std::string("echo 'rm: cannot remove .git/index: Device or resource busy' >&2; false"),
           std::string("echo 'touch: cannot touch .git/x: Read-only file system' >&2; false"),
           std::string("echo 'cat: .git/config: Permission denied' >&2; false"),
       }) {
    const Json result = Make(recipe);
    EXPECT_TRUE(result["isError"]) << recipe;
    EXPECT_TRUE(Of(result).empty()) << recipe << result;
  }
}

// What is granted for reading alone is read-only in the view, too, and a line opens it.
TEST_F(SealedDenials, AReadOnlyGrantIsNoProtection) {
  const Json result = Make("touch " + outside() + "/new", Read(outside()));
  const Json denial = OneOf(result);
  EXPECT_EQ(denial.value("blocked_by", ""), "mounts: write not granted by the policy") << result;
  EXPECT_EQ(denial.value("allow_with", ""), Write(outside()));
  const Json shell = Make("echo x >" + outside() + "/file", Read(outside()));
  EXPECT_EQ(OneOf(shell).value("allow_with", ""), Write(outside() + "/file")) << shell;
}

TEST_F(HiddenDenials, OrdinaryFailuresAreNone) {
  for (const char* recipe : {"cat none", "cat /usr/none", "cat /nonexistent/none", "false"}) {
    const Json result = Make(recipe);
    EXPECT_TRUE(result["isError"]) << recipe;
    EXPECT_TRUE(Of(result).empty()) << recipe << result;
  }
}

// What fails outside the sandbox just so.
TEST_F(Denials, OrdinaryFailuresAreNone) {
  WriteText(project_.root() / "tool", "#!/bin/sh\n");
  WriteText(project_.root() / "shut", "");
  fs::permissions(project_.root() / "shut", fs::perms::none);
  for (const std::string& recipe : {
           std::string("cat none"),
           "cat " + outside() + "/none",
           "cat " + home() + "/.ssh/none",
           std::string("cat /nonexistent/none"),
           std::string("./tool"),
           outside() + "/file",
           "env " + outside() + "/file",
           std::string("mkdir /proc/x"),
           std::string("echo 'cat: ") + project_.root().string() +
               "/Makefile: Permission denied' >&2; false",
           std::string("false"),
       }) {
    const Json result = Make(recipe);
    EXPECT_TRUE(result["isError"]) << recipe;
    EXPECT_TRUE(Of(result).empty()) << recipe << result;
  }
  const Json shut = Make("cat shut");
  EXPECT_EQ(shut.value("isError", false), geteuid() != 0) << shut;
  EXPECT_TRUE(Of(shut).empty()) << shut;
}

// A file that is shut by its mode and not granted either: root is kept out by the sandbox alone.
TEST_F(Denials, WhatIsShutByItsModeIsOrdinaryButForRoot) {
  fs::permissions(file(), fs::perms::none);
  EXPECT_EQ(Of(Make("cat " + file())).size(), geteuid() == 0 ? 1u : 0u);
  fs::permissions(project_.outside(), fs::perms::none);
  EXPECT_EQ(Of(Make("echo x > " + outside() + "/new")).size(), geteuid() == 0 ? 1u : 0u);
  fs::permissions(project_.outside(), fs::perms::owner_all);
}

TEST_F(Denials, SuccessIsNotLookedAt) {
  const Json result = Make("cat " + key() + " || true");
  EXPECT_FALSE(result.value("isError", true)) << result;
  EXPECT_TRUE(Of(result).empty()) << result;
}

TEST_F(Denials, PeopleSeeThem) {
  WriteText(project_.root() / "Makefile", ".PHONY: t\nt:\n\t@cat " + key() + "\n");
  const ProgramResult result =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "call", "make", R"({"target":"t"})",
                              "--enable", "make", "--root", project_.root()},
                  .environment = {"HOME=" + project_.home().string()},
                  .directory = project_.root()});
  EXPECT_NE(result.errors.find("denied: read "), std::string::npos) << result.errors;
}

}  // namespace
}  // namespace pa::testing
