#include "supervisor/denials/denials.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <set>

#include "base/json.h"
#include "base/json_writer.h"
#include "policy/access.h"
#include "tests/support/policy_fixture.h"

namespace pa {
namespace {

using policy::Purpose;
using sandbox::Access;

// A world in which every path is what the test says, and the user may do what the test says.
class FakeInspector : public PathInspector {
 public:
  void Add(const std::string& path, FoundPath::Kind kind, int mode) {
    places_[path] = {.kind = kind, .path = path};
    modes_[path] = mode;
  }
  void File(const std::string& path, int mode = R_OK | W_OK) {
    Add(path, FoundPath::Kind::kFile, mode);
  }
  void Directory(const std::string& path, int mode = R_OK | W_OK | X_OK) {
    Add(path, FoundPath::Kind::kDirectory, mode);
  }
  void Link(const std::string& path, const std::string& target) { links_[path] = target; }

  FoundPath Look(const std::string& path, bool follow) override {
    asked_.insert(path);
    const auto link = links_.find(path);
    if (link != links_.end() && follow) return Look(link->second, true);
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    const auto found = places_.find(path);
    if (found == places_.end()) {
      if (path == "/") return {};
      const bool exists = places_.contains(parent);
      const FoundPath above = exists ? FoundPath{.directory = parent} : Look(parent, true);
      if (above.directory.empty()) return {};
      return {.kind = FoundPath::Kind::kMissing,
              .path = path,
              .directory = above.directory,
              .beneath_missing = !exists};
    }
    FoundPath place = found->second;
    place.directory = parent;
    return place;
  }
  bool May(const std::string& resolved, int mode) override {
    const auto found = modes_.find(resolved);
    return found != modes_.end() && (found->second & mode) == mode;
  }
  bool Owns(const std::string& resolved) override { return May(resolved, W_OK); }
  bool IsMountPoint(const std::string&) override { return false; }
  bool IsEmpty(const std::string&) override { return false; }
  std::string FindFull(std::uint64_t size, std::chrono::system_clock::time_point) override {
    ++searches;
    return size == full_size ? full : "";
  }
  void Sized(const std::string& path, std::uint64_t size) {
    File(path);
    places_[path].size = size;
  }
  int searches = 0;
  std::string full;
  std::uint64_t full_size = 0;
  const std::set<std::string>& asked() const { return asked_; }

 private:
  std::map<std::string, FoundPath> places_;
  std::map<std::string, int> modes_;
  std::map<std::string, std::string> links_;
  std::set<std::string> asked_;
};

class DenialsTest : public policy::PolicyTest {
 protected:
  DenialsTest() {
    inspector_.Directory("/p");
    inspector_.Directory("/h");
    inspector_.File("/h/key");
    inspector_.File("/p/file");
    confinement_.paths = {{"/p", sandbox::kReadWriteExecute, "working directory"},
                          {"/r", sandbox::kReadExecute, "policy filesystem.read[0]"}};
  }
  std::vector<Denial> Find(const std::string& err, const std::string& out = "") {
    const policy::PolicyPtr policy = Load();
    return FindDenials({.err = err, .out = out},
                       {*policy,
                        purpose_,
                        confinement_,
                        directory_,
                        "/s:/h:/p",
                        namespaces_,
                        sealed_,
                        {},
                        script_,
                        privileged_},
                       inspector_);
  }
  // The one denial; an empty one where there is none.
  Denial One(const std::string& err) {
    const std::vector<Denial> denials = Find(err);
    EXPECT_LE(denials.size(), 1u);
    return denials.empty() ? Denial{} : denials[0];
  }

  FakeInspector inspector_;
  sandbox::Confinement confinement_;
  Purpose purpose_ = Purpose::kBuild;
  bool namespaces_ = false;
  std::vector<SealedPath> sealed_;
  std::string directory_ = "/p";
  std::string script_;
  bool privileged_ = false;
};

TEST_F(DenialsTest, AFileThatIsNotGranted) {
  const Denial expected{.path = "/h/key",
                        .access = "read",
                        .blocked_by = "landlock: read not granted by the policy",
                        .allow_with = R"(filesystem: {read: ["/h/key"]})",
                        .source = "stderr"};
  EXPECT_EQ(One("cat: /h/key: Permission denied\n"), expected);
  EXPECT_EQ(One("cat: ../h/key: Permission denied\n"), Denial{}) << "the inspector resolves it";
  inspector_.Link("/p/link", "/h/key");
  EXPECT_EQ(One("cat: link: Permission denied\n"), expected) << "where the link leads";
}

TEST_F(DenialsTest, AnOrdinaryRefusalIsNone) {
  inspector_.File("/h/shut", 0);
  inspector_.File("/p/shut", 0);
  for (const char* line : {
           "cat: /h/shut: Permission denied",          // nobody may
           "cat: shut: Permission denied",             // in the project
           "cat: /p/file: Permission denied",          // it was shut then
           "cat: /h/none: Permission denied",          // there is nothing to read
           "cat: /h/key: No such file or directory",   // Landlock does not say so
           "cat: /h/key: Operation not permitted",     // nor this
           "cat: /h/key: Read-only file system",       // nor this
           "cat: /elsewhere/x: Permission denied",     // cannot be looked at
           "cat: /p/none: No such file or directory",  //
           "bash: line 1: ./file: Permission denied",  // lacks the right to execute
       }) {
    EXPECT_TRUE(Find(line).empty()) << line;
  }
}

TEST_F(DenialsTest, AFileThatIsFullShowsTheLimit) {
  constexpr std::uint64_t kLimit = 4ull << 30;  // the default
  const Denial expected{.path = "/p/big",
                        .limit = "file_size",
                        .access = "write",
                        .blocked_by = "limits: file_size is 4GiB, and the file is full",
                        .allow_with = "limits: {file_size: 8GiB}",
                        .remark = "twice as much; how much is needed is not known",
                        .source = "stderr"};
  inspector_.Sized("/p/big", kLimit);
  EXPECT_EQ(One("dd: error writing 'big': File too large"), expected);
  EXPECT_EQ(inspector_.searches, 0) << "it is named";
  inspector_.Sized("/p/other", kLimit - 1);
  EXPECT_EQ(One("dd: error writing 'other': File too large"), Denial{}) << "of the file system";
  EXPECT_EQ(One("OSError: [Errno 27] File too large"), Denial{});
  inspector_.full = "/p/big";
  inspector_.full_size = kLimit;
  inspector_.searches = 0;
  EXPECT_EQ(One("OSError: [Errno 27] File too large\nFile size limit exceeded\n"
                "make: *** [Makefile:3: t] File size limit exceeded"),
            expected);
  EXPECT_EQ(inspector_.searches, 1);
}

TEST_F(DenialsTest, ASignalAloneIsAHintWithoutALine) {
  const Denial hint = One("make: *** [Makefile:3: t] File size limit exceeded");
  EXPECT_EQ(hint.path, "");
  EXPECT_EQ(hint.limit, "file_size");
  EXPECT_EQ(hint.blocked_by, "limits: perhaps file_size, which is 4GiB");
  EXPECT_EQ(hint.allow_with, "");
  EXPECT_TRUE(hint.remark.contains("one of the command's own")) << hint.remark;
  EXPECT_TRUE(DenialText(hint).starts_with("denied: write a larger file (limits: perhaps"));
}

// supervisor/denials/sealing_test.cc has the rest.
TEST_F(DenialsTest, WhatIsSealedHasNoLine) {
  inspector_.Directory("/p/hooks");
  inspector_.File("/p/hooks/a");
  inspector_.File("/p/hooks/b");
  sealed_ = {{"/p/hooks", true, "git hooks"},
             {.path = "/p/file",
              .read_only = true,
              .reason = "policy filesystem.protect (policy.yaml:2:3)",
              .source = policy::ProtectionSource::kPolicy}};
  namespaces_ = true;
  const Denial expected{
      .path = "/p/hooks/a",
      .access = "write",
      .blocked_by = "protected path: git hooks",
      .remark = "no line of policy allows it; the user changes it outside the sandbox",
      .source = "stderr"};
  EXPECT_EQ(One("touch: cannot touch 'hooks/a': Read-only file system"), expected);
  EXPECT_EQ(One("rm: cannot remove 'hooks/a': Read-only file system\n"
                "rm: cannot remove 'hooks/b': Read-only file system"),
            expected)
      << "one for each protection";
  EXPECT_EQ(One("sh: 1: cannot create file: Read-only file system").remark,
            "no line allows it while filesystem.protect names it; the user changes it outside the "
            "sandbox");
  EXPECT_EQ(One("bash: line 1: hooks/a: Read-only file system"), expected) << "not executed";
  EXPECT_EQ(One("cat: hooks/a: Read-only file system"), Denial{}) << "nobody is told so who reads";
  EXPECT_EQ(One("cat: hooks/a: Permission denied"), Denial{});
  EXPECT_EQ(One("mv: cannot move '/r/x' to 'hooks/a': Read-only file system"), Denial{})
      << "perhaps for the other name";
  inspector_.Directory("/r");
  EXPECT_EQ(One("touch: cannot touch '/r/new': Read-only file system").blocked_by,
            "mounts: write not granted by the policy");
}

// No line is named that may open another repository than the one that was refused.
TEST_F(DenialsTest, WhichRepositoryWasRefusedIsNotAlwaysKnown) {
  inspector_.Directory("/p/.git");
  const SealedPath own{.path = "/p/.git",
                       .read_only = true,
                       .reason = "the repository",
                       .source = policy::ProtectionSource::kGitCommands};
  const std::string line = "error: cannot open '.git/FETCH_HEAD': Read-only file system";
  namespaces_ = true;
  sealed_ = {own};
  EXPECT_EQ(One(line).path, "/p/.git/FETCH_HEAD");
  EXPECT_EQ(One(line).allow_with, policy::kGitCommandsLine);
  sealed_ = {own, {.path = "/p/below/.git", .read_only = true, .reason = "git repository below"}};
  const Denial either = One(line);
  EXPECT_EQ(either.path, "");
  EXPECT_EQ(either.allow_with, "");
  EXPECT_TRUE(either.blocked_by.starts_with("protected path: a git repository"))
      << either.blocked_by;
  EXPECT_EQ(One("error: cannot open '/p/.git/FETCH_HEAD': Read-only file system").allow_with,
            policy::kGitCommandsLine);
  sealed_ = {own, own};
  sealed_.back().path = "/p/submodule/.git";
  EXPECT_EQ(One(line).allow_with, policy::kGitCommandsLine) << "it opens both";
  sealed_ = {{.path = "/p/below/.git", .read_only = true, .reason = "git repository below"}};
  EXPECT_EQ(One(line), either) << "the project's own can be written";
}

TEST_F(DenialsTest, WhatMayHaveBeenAnythingMustBeRefusedAsEverything) {
  inspector_.File("/h/readable", R_OK);
  EXPECT_EQ(One("cat: /h/readable: Permission denied").access, "read");
  EXPECT_EQ(One("tool: /h/readable: Permission denied"), Denial{}) << "perhaps it wanted to write";
  const Denial either = One("tool: /h/key: Permission denied");
  EXPECT_EQ(either.access, "read");
  EXPECT_EQ(either.remark, "to write it as well, filesystem.write");
  EXPECT_EQ(One("bash: line 1: /h/key: Permission denied"), Denial{}) << "perhaps executed it";
  inspector_.File("/h/prog", R_OK | W_OK | X_OK);
  EXPECT_EQ(One("bash: line 1: /h/prog: Permission denied").access, "read");
  EXPECT_EQ(One("dash: 1: /h/prog: Permission denied").access, "execute");
  EXPECT_EQ(One("dash: 1: /h: Permission denied"), Denial{}) << "nobody executes a directory";
}

TEST_F(DenialsTest, TheLineThatMakeShowsTellsWhatAShellTried) {
  const std::string line = "bash: line 1: /h/key: Permission denied";
  EXPECT_EQ(Find(line, "echo x > /h/key\n")[0].access, "write");
  EXPECT_EQ(Find(line, "echo x >>'/h/key'\n")[0].access, "write");
  EXPECT_EQ(Find(line, "read x < /h/key\n")[0].access, "read");
  EXPECT_TRUE(Find(line, "read x < /h/key; /h/key\n").empty());
  EXPECT_TRUE(Find(line, "/h/key\n").empty());
}

TEST_F(DenialsTest, TheScriptOfAShellTellsWhatItTried) {
  inspector_.File("/h/key", R_OK | W_OK | X_OK);
  const std::string line = "bash: line 1: /h/key: Permission denied\n";
  EXPECT_EQ(One(line).access, "read") << "it may have been anything";
  script_ = "echo x > /h/key";
  EXPECT_EQ(One(line).access, "write");
  EXPECT_EQ(One(line).allow_with, R"(filesystem: {write: ["/h/key"]})");
  script_ = "read x < /h/key";
  EXPECT_EQ(One(line).access, "read");
  namespaces_ = true;
  const std::string hidden = "bash: line 1: /var/tmp/zz: No such file or directory";
  script_ = "echo x > /var/tmp/zz";
  EXPECT_EQ(One(hidden).access, "write");
  script_ = "cat < /var/tmp/zz";
  EXPECT_EQ(One(hidden).access, "read");
  const std::string python =
      "FileNotFoundError: [Errno 2] No such file or directory: '/var/tmp/zz'";
  script_ = "python3 -c 'open(\"/var/tmp/zz\", \"w\")'";
  EXPECT_EQ(One(python).access, "write");
  script_ = "python3 -c 'open(\"/var/tmp/zz\")'";
  EXPECT_EQ(One(python).access, "read");
}

TEST_F(DenialsTest, ProgramsByTheirNameAlone) {
  const std::string line = "sh: 1: prog: Permission denied";
  EXPECT_EQ(One(line), Denial{});
  inspector_.File("/h/prog", R_OK | W_OK);
  EXPECT_EQ(One(line), Denial{}) << "nobody may execute it";
  inspector_.File("/h/prog", R_OK | W_OK | X_OK);
  EXPECT_EQ(One(line).path, "/h/prog");
  EXPECT_EQ(One("make: prog: Permission denied").access, "execute");
  EXPECT_EQ(One("cat: prog: Permission denied"), Denial{});
  inspector_.File("/p/prog", R_OK | X_OK);
  EXPECT_EQ(One(line), Denial{}) << "another would have run";
}

TEST_F(DenialsTest, Directories) {
  EXPECT_EQ(One("find: \u2018/h\u2019: Permission denied").access, "read");
  EXPECT_EQ(One("find: \u2018/h/key\u2019: Permission denied"), Denial{}) << "perhaps -exec";
  EXPECT_EQ(One("PermissionError: [Errno 13] Permission denied: '/h'").remark, "");
}

TEST_F(DenialsTest, WhatIsGrantedToReadWasWritten) {
  inspector_.Directory("/r");
  inspector_.File("/r/x");
  const Denial written = One("tool: /r/x: Permission denied");
  EXPECT_EQ(written.access, "write");
  EXPECT_EQ(written.allow_with, R"(filesystem: {write: ["/r/x"]})");
  EXPECT_EQ(One("cat: /r/x: Permission denied"), Denial{});
  inspector_.File("/r/readable", R_OK);
  EXPECT_EQ(One("tool: /r/readable: Permission denied"), Denial{});
}

TEST_F(DenialsTest, CreatingAndRemovingTakesTheDirectory) {
  const std::string line = R"(filesystem: {write: ["/h"]})";
  for (const char* text : {
           "dash: 1: cannot create /h/new: Permission denied",
           "bash: line 1: /h/new: Permission denied",
           "tool: /h/new: Permission denied",
           "mkdir: cannot create directory '/h/new': Permission denied",
       }) {
    const Denial denial = One(text);
    EXPECT_EQ(denial.path, "/h/new") << text;
    EXPECT_EQ(denial.access, "write") << text;
    EXPECT_EQ(denial.allow_with, line) << text;
  }
  EXPECT_EQ(One("rm: cannot remove '/h/key': Permission denied").allow_with, line);
  EXPECT_EQ(One("mv: cannot move 'file' to '/h/new': Permission denied").path, "/h/new");
  EXPECT_EQ(One("Error: EACCES: permission denied, mkdir '/h/a/b/c'").allow_with, line);
  EXPECT_EQ(One("tee: /h/a/b/c: Permission denied"), Denial{}) << "it would have been ENOENT";
  inspector_.Directory("/s", R_OK | X_OK);
  EXPECT_EQ(One("mkdir: cannot create directory '/s/new': Permission denied"), Denial{});
}

TEST_F(DenialsTest, TheirSourceAndNumber) {
  EXPECT_EQ(Find("", "cat: /h/key: Permission denied")[0].source, "stdout");
  EXPECT_EQ(Find("cat: /h/key: Permission denied", "head: /h/key: Permission denied").size(), 1u);
  std::string many;
  for (int i = 0; i < 100; ++i) {
    inspector_.File("/h/" + std::to_string(i));
    many += "cat: /h/" + std::to_string(i) + ": Permission denied\n";
  }
  EXPECT_EQ(Find(many).size(), kMaxDenials);
  std::string useless;
  for (int i = 0; i < 1000; ++i)
    useless += "cat: /no/" + std::to_string(i) + ": Permission denied\n";
  const std::size_t before = inspector_.asked().size();
  Find(useless, useless);
  EXPECT_LE(inspector_.asked().size() - before, 3 * 64u) << "a name and what is above it";
}

TEST_F(DenialsTest, SecretsAreSaidToBeSuch) {
  const std::string key = home_ / ".ssh/id";
  pa::testing::WriteText(key, "");
  inspector_.File(key);
  const Denial denial = One("cat: " + key + ": Permission denied");
  EXPECT_EQ(denial.remark, "gives commands the secrets in " + (home_ / ".ssh").string());
  EXPECT_EQ(One("cat: ~/.ssh/id: Permission denied"), denial);
}

TEST_F(DenialsTest, NoLineIsMadeUp) {
  inspector_.Directory("/");
  inspector_.File("/h/$x");
  const Denial root = One("mkdir: cannot create directory '/new': Permission denied");
  EXPECT_EQ(root.path, "/new");
  EXPECT_EQ(root.allow_with, "");
  EXPECT_EQ(One("cat: /h/$x: Permission denied").allow_with, "");
  EXPECT_EQ(DenialText(root),
            "denied: write /new (landlock: write not granted by the policy) - no line of policy "
            "gives the whole file system");
}

TEST_F(DenialsTest, Network) {
  const std::string line = "curl: (6) Could not resolve host: example.com";
  const Denial denial = One(line);
  EXPECT_EQ(denial.syscall, "socket");
  EXPECT_EQ(denial.allow_with, "network: full");
  EXPECT_EQ(denial.blocked_by, "seccomp: network not granted by the policy");
  EXPECT_EQ(
      Find(line + "\nsocket.gaierror: [Errno -3] Temporary failure in name resolution").size(), 1u);
  purpose_ = Purpose::kGit;
  EXPECT_EQ(One(line).allow_with, "") << "git never has one";
  purpose_ = Purpose::kBuild;
  confinement_.network = sandbox::Network::kFull;
  EXPECT_EQ(One(line), Denial{}) << "then it failed by itself";
  const Denial local =
      One("dial unix /run/x.sock: socket: address family not supported by protocol");
  EXPECT_EQ(local.syscall, "socket");
  EXPECT_EQ(local.allow_with, "");
}

TEST_F(DenialsTest, Terminals) {
  inspector_.Add("/dev/ptmx", FoundPath::Kind::kOther, R_OK | W_OK);
  const std::string line = "OSError: out of pty devices";
  EXPECT_EQ(One(line).path, "/dev/ptmx");
  EXPECT_EQ(One(line).allow_with, "") << "the policy has not switched namespaces off";
  EXPECT_NE(One(line).remark, "");
  User("namespaces: off\n");
  EXPECT_EQ(One(line).allow_with, "namespaces: auto");
  namespaces_ = true;
  EXPECT_EQ(One(line), Denial{}) << "there it has its own";
}

// No policy opens them, so there is nothing to check and no line.
TEST_F(DenialsTest, WhatNoCommandMayDo) {
  const Denial expected{.syscall = "perf_event_open",
                        .blocked_by = "seccomp: performance events are closed to commands",
                        .remark =
                            "no line of policy allows it; the user does it outside the "
                            "sandbox",
                        .source = "stderr"};
  EXPECT_EQ(One("No permission to enable cycles:u event."), expected);
  EXPECT_EQ(DenialText(expected),
            "denied: perf_event_open (seccomp: performance events are closed to commands) - no "
            "line of policy allows it; the user does it outside the sandbox");
  const std::string mount = "mount: /h: permission denied.";
  EXPECT_EQ(One(mount), Denial{}) << "outside, too, only root may";
  privileged_ = true;
  EXPECT_EQ(One(mount).syscall, "mount");
  namespaces_ = true;
  EXPECT_EQ(One(mount).syscall, "mount");
  confinement_.network = sandbox::Network::kFull;
  EXPECT_EQ(One("ping: socket: Address family not supported by protocol").allow_with, "");
}

// gpg: one denial for its directory, and a line only where the agent can be reached.
TEST_F(DenialsTest, TheKeyring) {
  const std::string ring = (home_ / ".gnupg").string();
  inspector_.Directory(ring);
  inspector_.File(ring + "/trustdb.gpg");
  const std::string output = "gpg: failed to create temporary file '" + ring +
                             "/.#lk0x1.vm.1': Permission denied\n"
                             "gpg: Fatal: can't open '" +
                             ring + "/trustdb.gpg': Permission denied\n";
  const Denial bare = One(output);
  EXPECT_EQ(bare.path, ring);
  EXPECT_EQ(bare.access, "write");
  EXPECT_EQ(bare.allow_with, "");
  EXPECT_TRUE(bare.remark.contains("gpg-agent")) << bare.remark;
  const std::string agent = "gpg: can't connect to the agent: General error";
  EXPECT_EQ(One(agent).syscall, "socket");
  EXPECT_EQ(One("cat: " + ring + "/trustdb.gpg: Permission denied").allow_with,
            "filesystem: {read: [\"" + ring + "/trustdb.gpg\"]}");
  namespaces_ = true;
  EXPECT_EQ(One(agent), Denial{}) << "there it is made";
  const Denial seen =
      One("gpg: Fatal: can't create directory '" + ring + "': Read-only file system");
  EXPECT_EQ(seen.path, ring);
  EXPECT_EQ(seen.allow_with, "filesystem: {write: [\"" + ring + "\"]}");
  EXPECT_TRUE(seen.remark.contains("GNUPGHOME")) << seen.remark;
}

// What tests say of themselves: the words are theirs.
TEST_F(DenialsTest, AnOrdinaryFailedTestIsNone) {
  namespaces_ = true;
  for (const char* line : {
           "E       AssertionError: assert 'curl: (6) Could not resolve host: x' == ''",
           "E         - cat: /etc/app.conf: Permission denied",
           "AssertionError: 'Network is unreachable' != 'ok'",
           "not ok 3 - reads /etc/app.conf: Permission denied",
           "ok 4 - cat: /etc/app.conf: No such file or directory",
           "PASS: cat: /etc/app.conf: Permission denied",
           "FAIL: login: permission denied for user bob",
           "    Expected: \"open '/etc/app.conf': Permission denied\"",
           "    Received: 'cat: /etc/app.conf: Permission denied'",
           "  left: \"cat: /etc/app.conf: Permission denied\"",
           "app: /srv/app.conf: Permission denied (expected)",
           "test net::could_not_resolve ... FAILED: Could not resolve host: x",
           "command not found",
       }) {
    EXPECT_EQ(One(line), Denial{}) << line;
  }
  EXPECT_NE(One("E   PermissionError: [Errno 13] Permission denied: '/etc/app.conf'"), Denial{});
  EXPECT_NE(One("# cat: /etc/app.conf: Permission denied"), Denial{});
}

TEST_F(DenialsTest, GitWithoutHooksExecutesNothingElse) {
  inspector_.File("/h/hook", R_OK | W_OK | X_OK);
  purpose_ = Purpose::kGit;
  const std::string line = "fatal: cannot exec '/h/hook': Permission denied";
  EXPECT_EQ(One(line).allow_with, R"(filesystem: {read: ["/h/hook"]})");
  purpose_ = Purpose::kGitAlone;
  EXPECT_EQ(One(line).allow_with, "");
  EXPECT_NE(One(line).blocked_by.find("no hook"), std::string::npos);
  User("git: {hooks: skip}");
  EXPECT_EQ(One(line).allow_with, "");
  EXPECT_NE(One(line).blocked_by.find("git.hooks"), std::string::npos);
}

TEST_F(DenialsTest, ThePrivateTmpIsNotJudged) {
  const std::string tmp = "/tmp/project-actions-" + std::to_string(geteuid()) + "-abcdef/0";
  inspector_.Directory(tmp);
  EXPECT_EQ(One("touch: cannot touch '" + tmp + "/x': Permission denied"), Denial{});
}

TEST_F(DenialsTest, AsJsonAndAsALine) {
  const std::vector<Denial> denials =
      Find("cat: /h/key: Permission denied\ncurl: (6) Could not resolve host: example.com\n");
  JsonWriter writer;
  WriteDenials(writer, denials);
  const Result<JsonValue> json = ParseJson(std::move(writer).Take());
  ASSERT_EQ(json->Items().size(), 2u);
  EXPECT_EQ(json->Items()[0].Find("path")->AsString(), "/h/key");
  EXPECT_EQ(json->Items()[0].Find("syscall"), nullptr);
  EXPECT_EQ(json->Items()[0].Find("remark"), nullptr);
  EXPECT_EQ(json->Items()[1].Find("syscall")->AsString(), "socket");
  EXPECT_EQ(json->Items()[1].Find("path"), nullptr);
  EXPECT_EQ(DenialText(denials[0]),
            "denied: read /h/key (landlock: read not granted by the policy); allow with: "
            R"(filesystem: {read: ["/h/key"]})");
}

TEST_F(DenialsTest, OnlyFailuresAreLookedAt) {
  const policy::PolicyPtr policy = Load();
  Execution run{.outcome = Outcome::kExited, .exit_code = 1};
  run.err.text = "curl: (6) Could not resolve host: example.com";
  const Confined confined{*policy, purpose_, confinement_, directory_};
  Inside inside;
  EXPECT_EQ(DenialsOf(run, confined, inside).size(), 1u);
  run.exit_code = 0;
  EXPECT_TRUE(DenialsOf(run, confined, inside).empty());
  run.outcome = Outcome::kTimedOut;
  EXPECT_EQ(DenialsOf(run, confined, inside).size(), 1u) << "a refusal may be why";
  run.outcome = Outcome::kSetupFailed;
  EXPECT_TRUE(DenialsOf(run, confined, inside).empty());
}

// With mounts of its own a command cannot see what is not granted, and must not learn it from us.
class HiddenDenialsTest : public DenialsTest {
 protected:
  HiddenDenialsTest() { namespaces_ = true; }
};

TEST_F(HiddenDenialsTest, WhatIsSaidOfHiddenPathsDoesNotDependOnWhatIsThere) {
  for (const char* error : {"No such file or directory", "Permission denied"}) {
    for (const char* name : {"/home/x/there", "/home/x/not"}) {
      inspector_.File("/home/x/there");
      const Denial denial = One("cat: " + std::string(name) + ": " + error);
      EXPECT_EQ(denial.path, name);
      EXPECT_EQ(denial.allow_with, "filesystem: {read: [\"" + std::string(name) + "\"]}");
      EXPECT_TRUE(denial.blocked_by.starts_with("mounts: ")) << denial.blocked_by;
    }
  }
  EXPECT_EQ(inspector_.asked(), std::set<std::string>{}) << "it was not even looked at";
  const Denial made =
      One("mkdir: cannot create directory '/home/x/a/new': No such file or directory");
  EXPECT_EQ(made.allow_with, R"(filesystem: {write: ["/home/x/a"]})");
  EXPECT_EQ(made.remark, "if /home/x/a does not exist, create it first");
  EXPECT_EQ(One("cat: /home/x/a: No such file or directory").remark,
            "if it does not exist, create it first");
  EXPECT_EQ(
      One("mkdir: cannot create directory '/home/x/new': No such file or directory").allow_with, "")
      << "a whole home";
  EXPECT_EQ(One("cat: /nonexistent/x: No such file or directory"), Denial{});
}

// One denial stands for all of gpg's directory, and that is what would have to be there.
TEST_F(HiddenDenialsTest, TheRemarkNamesWhatTheLineNames) {
  const Denial denial = One("gpg: Fatal: can't create directory '" + (home_ / ".gnupg").string() +
                            "': Read-only file system");
  EXPECT_EQ(denial.path, home_ / ".gnupg");
  EXPECT_TRUE(denial.remark.ends_with("; if it does not exist, create it first")) << denial.remark;
}

TEST_F(HiddenDenialsTest, NorDoesTheRemark) {
  const std::string line = "cat: " + (home_ / ".ssh/id").string() + ": No such file or directory";
  const Denial before = One(line);
  EXPECT_NE(before.remark, "");
  pa::testing::WriteText(home_ / ".ssh/id", "");
  EXPECT_EQ(One(line), before);
}

TEST_F(HiddenDenialsTest, WhatCanBeSeenIsJudgedAsEver) {
  inspector_.Directory("/r");
  inspector_.File("/r/x");
  EXPECT_EQ(One("cat: none: No such file or directory"), Denial{});
  EXPECT_EQ(One("cat: /r/none: No such file or directory"), Denial{});
  EXPECT_EQ(One("touch: cannot touch '/r/new': Read-only file system").allow_with,
            R"(filesystem: {write: ["/r"]})");
  EXPECT_EQ(One("tee: /r/x: Read-only file system").blocked_by,
            "mounts: write not granted by the policy");
  inspector_.File("/r/mine", R_OK);
  EXPECT_EQ(One("tee: /r/mine: Read-only file system"), Denial{}) << "it is so outside as well";
}

}  // namespace
}  // namespace pa
