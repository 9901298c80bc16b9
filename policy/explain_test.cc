#include "policy/explain.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/json.h"
#include "policy/access.h"
#include "policy/path.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

class ExplainTest : public PolicyTest {
 protected:
  Explanation Path(const std::string& path) {
    policy_ = Load();
    return ExplainPath(*policy_, path);
  }
  // "rwx" with a dash for each right that the use lacks.
  std::string Rights(const std::string& path, std::size_t use) {
    const Result<JsonValue> json = ParseJson(Path(path).json);
    const JsonValue& rights = json->Find("uses")->Items().at(use);
    std::string out;
    for (const char* right : {"read", "write", "execute"}) {
      out += rights.Find(right)->Find("allowed")->AsBool() ? right[0] : '-';
    }
    return out;
  }

  PolicyPtr policy_;
};

constexpr std::size_t kMake = 0;
constexpr std::size_t kInspect = 1;
constexpr std::size_t kGit = 2;

TEST_F(ExplainTest, AFileOfTheProject) {
  const std::string file = project_ / "main.c";
  EXPECT_EQ(Rights(file, kMake), "rwe");
  EXPECT_EQ(Rights(file, kInspect), "r-e");
  EXPECT_EQ(Rights(file, kGit), "rwe");
  EXPECT_EQ(Rights("main.c", kMake), "rwe");
  User("git: {hooks: skip}");
  EXPECT_EQ(Rights(file, kGit), "r--");
  EXPECT_EQ(Rights(project_ / ".git/HEAD", kGit), "rw-");
}

TEST_F(ExplainTest, ASecretAndTheLineThatWouldOpenIt) {
  const std::string key = home_ / ".ssh/id_ed25519";
  for (const std::size_t use : {kMake, kInspect, kGit}) EXPECT_EQ(Rights(key, use), "---");
  const std::string line = "filesystem: {read: [\"" + key + "\"]}";
  EXPECT_NE(Path(key).text.find("  " + line + "\n"), std::string::npos) << Path(key).text;
  EXPECT_EQ(ParseJson(Path(key).json)->Find("allow_with")->AsString(), line);
  User(line);
  EXPECT_EQ(Rights(key, kMake), "r-e");
  EXPECT_NE(Path(key).text.find("policy filesystem.read[0]"), std::string::npos);
}

TEST_F(ExplainTest, SecretsAreSaidToBeSuch) {
  const std::string key = home_ / ".ssh/id_ed25519";
  EXPECT_EQ(ParseJson(Path(key).json)->Find("remark"), nullptr) << "there is none";
  std::filesystem::create_directory(home_ / ".ssh");
  const std::string price = "gives commands the secrets in " + (home_ / ".ssh").string();
  EXPECT_EQ(ParseJson(Path(key).json)->Find("remark")->AsString(), price);
  EXPECT_NE(Path(key).text.find("which " + price + "\n"), std::string::npos);
}

TEST_F(ExplainTest, ALineThatIsShownCanBeRead) {
  const std::string odd = base_ / R"(a "quoted" \name, [#])";
  std::filesystem::create_directory(odd);
  User(ParseJson(Path(odd).json)->Find("allow_with")->AsString());
  EXPECT_EQ(Rights(odd, kMake), "r-e");
}

TEST_F(ExplainTest, OtherProcessesAreNotLookedInto) {
  const std::string line =
      "landlock: no command may trace processes that are not its own; no line of policy changes";
  for (const char* path : {"/proc/1/environ", "/proc/1/root/etc/passwd", "/proc/1/task/1/maps"}) {
    for (const std::size_t use : {kMake, kInspect, kGit}) EXPECT_EQ(Rights(path, use), "---");
    EXPECT_NE(Path(path).text.find(line), std::string::npos) << Path(path).text;
    EXPECT_EQ(ParseJson(Path(path).json)->Find("allow_with"), nullptr);
  }
  for (const char* path : {"/proc/1/status", "/proc/self/environ", "/proc/cpuinfo"}) {
    EXPECT_EQ(Rights(path, kMake)[0], 'r') << path;
    EXPECT_EQ(Path(path).text.find(line), std::string::npos);
    EXPECT_EQ(Path(path).text.find(path), 0u) << Path(path).text;
  }
}

TEST_F(ExplainTest, ProcessesAreNumberedAnewInANamespaceOfTheirOwn) {
  policy_ = Load();
  const std::string line = "commands see their own processes alone, numbered anew from 1";
  const sandbox::View view;
  const Explanation own = ExplainPath(*policy_, "/proc/1/status", &view);
  EXPECT_NE(own.text.find(line), std::string::npos) << own.text;
  EXPECT_FALSE(
      ParseJson(own.json)->Find("uses")->Items()[0].Find("read")->Find("allowed")->AsBool());
  EXPECT_EQ(Path("/proc/1/status").text.find(line), std::string::npos);
}

// Each file at the top of /proc by its mode, and what a link leads to.
TEST_F(ExplainTest, WhatTheKernelShowsToRootAloneIsCovered) {
  policy_ = Load();
  const sandbox::View view;
  const std::string line = "files that all users of the machine can read; no line of policy";
  const auto is_covered = [&](const std::string& path) {
    return ExplainPath(*policy_, path, &view).text.find(line) != std::string::npos;
  };
  std::string covered;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string path = entry.path();
    struct stat status{};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (!WhatNeverShows(path).empty()) continue;
    EXPECT_EQ(is_covered(path), (status.st_mode & S_IROTH) == 0) << path;
    EXPECT_EQ(Path(path).text.find(line), std::string::npos) << "without namespaces";
    if (is_covered(path)) covered = path;
  }
  ASSERT_NE(covered, "");
  std::filesystem::create_symlink(covered, base_ / "link");
  std::filesystem::create_symlink("/proc/kmsg", base_ / "kmsg");
  EXPECT_TRUE(is_covered(base_ / "link"));
  EXPECT_NE(Path(base_ / "kmsg").text.find("capabilities:"), std::string::npos);
  for (const char* path : {"/proc/self/mem", "/proc/no-such", "/proc/sys"}) {
    EXPECT_FALSE(is_covered(path)) << path;
  }
}

// What a view has anew for each command is no matter of grants.
TEST_F(ExplainTest, PlacesOfTheCommandsOwn) {
  User("namespaces: off");
  for (const char* path : {"/tmp/x", "/dev/shm", "/dev/ptmx"}) {
    EXPECT_EQ(Rights(path, kMake), "---") << path;
  }
  EXPECT_TRUE(Path("/tmp").text.contains("TMPDIR")) << Path("/tmp").text;
  EXPECT_EQ(ParseJson(Path("/dev/ptmx").json)->Find("allow_with")->AsString(), "namespaces: auto");
  EXPECT_TRUE(Path("/dev/shm").text.contains("namespaces: auto")) << Path("/dev/shm").text;
  User("namespaces: auto");
  policy_ = Load();
  const sandbox::View view;
  const auto rights = [&](const std::string& path, std::size_t use) {
    const Explanation explained = ExplainPath(*policy_, path, &view);
    const Result<JsonValue> json = ParseJson(explained.json);
    EXPECT_EQ(json->Find("allow_with"), nullptr) << explained.text;
    const JsonValue& found = json->Find("uses")->Items().at(use);
    std::string out;
    for (const char* right : {"read", "write", "execute"}) {
      out += found.Find(right)->Find("allowed")->AsBool() ? right[0] : '-';
    }
    return out;
  };
  EXPECT_EQ(rights("/dev/shm", kMake), "rwe");
  EXPECT_EQ(rights("/dev/shm/x", kInspect), "rw-");
  EXPECT_EQ(rights("/dev/ptmx", kMake), "rw-");
  EXPECT_EQ(rights("/dev/pts/0", kMake), "rw-");
  // The project of this test lies in /tmp, so that /tmp holds it and nothing else.
  ASSERT_TRUE(IsBeneath(project_.string(), "/tmp"));
  EXPECT_TRUE(ExplainPath(*policy_, "/tmp", &view).text.contains("TMPDIR"));
  EXPECT_FALSE(ExplainPath(*policy_, "/usr/bin", &view).text.contains("private"));
}

TEST_F(ExplainTest, HostsAndPorts) {
  const auto read = [](std::string_view subject) {
    const auto peer = ReadHost(subject);
    return peer ? peer->host + " " + peer->port : "none";
  };
  EXPECT_EQ(read("example.org:443"), "example.org 443");
  EXPECT_EQ(read("127.0.0.1:5432"), "127.0.0.1 5432");
  EXPECT_EQ(read("[::1]:80"), "::1 80");
  EXPECT_EQ(read("https://example.org/x:1"), "example.org https");
  EXPECT_EQ(read("http://[::1]:8080/"), "::1 8080");
  for (const char* path : {"main.c", "/etc/passwd", "a/b:1", "::1", "x:", ":80", "x:y", ""}) {
    EXPECT_EQ(read(path), "none") << path;
  }
  struct Case {
    const char* network;
    const char* subject;
    bool namespaces;
    bool allowed;
    const char* line;  // "" = none
  };
  for (const Case& one : {
           Case{"none", "example.org:443", true, false, "network: full"},
           {"none", "127.0.0.1:5432", true, false, "network: loopback"},
           {"none", "127.0.0.1:5432", false, false, "network: full"},
           {"loopback", "localhost:1", true, true, ""},
           {"loopback", "example.org:443", true, false, "network: full"},
           {"full", "example.org:443", false, true, ""},
           {"full", "127.0.0.1:1", true, true, ""},
       }) {
    User("network: " + std::string(one.network));
    policy_ = Load();
    const Explanation explained = ExplainHost(*policy_, *ReadHost(one.subject), one.namespaces);
    const Result<JsonValue> json = ParseJson(explained.json);
    const JsonValue* connect = json->Find("uses")->Items().at(kMake).Find("connect");
    EXPECT_EQ(connect->Find("allowed")->AsBool(), one.allowed) << explained.text;
    EXPECT_TRUE(connect->Find("by")->AsString().contains(one.network)) << explained.text;
    const JsonValue* line = json->Find("allow_with");
    EXPECT_EQ(line == nullptr ? "" : line->AsString(), one.line) << explained.text;
    EXPECT_TRUE(explained.text.contains(one.line)) << explained.text;
  }
  User("network: loopback");
  policy_ = Load();
  EXPECT_TRUE(ExplainHost(*policy_, {"localhost", "1"}, true).text.contains("none of the host's"));
}

TEST_F(ExplainTest, SymlinksAreSaidToBeSuch) {
  std::filesystem::create_directory_symlink("/etc", project_ / "link");
  EXPECT_EQ(Path("link/shadow").text.find("link/shadow is /etc/shadow\n"), 0u);
  EXPECT_EQ(Rights("link/shadow", kMake), "---");
}

TEST_F(ExplainTest, WhatIsUndoneIsSaidToBe) {
  pa::testing::WriteText(project_ / ".git/config", "");
  pa::testing::WriteText(project_ / ".git/hooks/pre-commit", "");
  User("filesystem: {protect: [ci]}");
  const auto undone = [&](const std::string& path, std::size_t use) {
    const Result<JsonValue> json = ParseJson(Path(path).json);
    const JsonValue* by = json->Find("uses")->Items().at(use).Find("protected");
    return by == nullptr ? "" : by->AsString();
  };
  EXPECT_EQ(Rights(".git/config", kMake), "rwe");
  EXPECT_EQ(undone(".git/config", kMake), "git configuration");
  EXPECT_EQ(undone(".git/hooks/pre-commit", kGit), "git hooks");
  EXPECT_EQ(undone(".git/hooks/pre-commit", kInspect), "");
  EXPECT_NE(undone("ci", kMake).find("policy filesystem.protect ("), std::string::npos);
  EXPECT_EQ(undone("main.c", kMake), "");
  EXPECT_EQ(undone(".git/index", kMake), "");
  EXPECT_TRUE(Path(".git/config")
                  .text.contains("but changes that commands make here are undone when they end "
                                 "(git configuration)"));
}

// SECURITY.md lists the same, and tests/escapes tries it (GitHookMeanwhile, ChangeMode).
TEST_F(ExplainTest, WhatRemainsWithoutNamespacesIsSaid) {
  pa::testing::WriteText(project_ / ".git/config", "");
  policy_ = Load();
  const sandbox::View view;
  const auto text = [&](const std::string& path, const sandbox::View* with) {
    return ExplainPath(*policy_, project_ / path, with).text;
  };
  constexpr const char* kMeanwhile = "until then other programs find the changes";
  constexpr const char* kMetadata = "changes mode, owner and times, as far as its user can";
  EXPECT_TRUE(text(".git/config", nullptr).contains(kMeanwhile));
  EXPECT_FALSE(text("main.c", nullptr).contains(kMeanwhile));
  EXPECT_TRUE(text("main.c", nullptr).contains(kMetadata));
  EXPECT_FALSE(text(".git/config", &view).contains(kMeanwhile));
  EXPECT_FALSE(text(".git/config", &view).contains(kMetadata));
  const Result<JsonValue> json = ParseJson(Path(".git/config").json);
  EXPECT_EQ(json->Find("uses")->Items().at(kMake).Find("open")->AsString(), "protected_paths");
  EXPECT_EQ(json->Find("open")->AsString(), "file_metadata");
}

TEST_F(ExplainTest, WhatCannotBeReadIsNotTakenForUnprotected) {
  std::filesystem::create_directories(project_ / ".git/config");
  const Explanation explained = Path("main.c");
  EXPECT_TRUE(explained.text.contains("but nothing runs: what is protected cannot be read: "))
      << explained.text;
  EXPECT_TRUE(ParseJson(explained.json)->Find("uses")->Items().at(kMake).Find("unknown"));
}

// Whoever could open it could hold its lock.
TEST_F(ExplainTest, TheAuditLogIsForNoCommand) {
  const std::string log = project_ / "log";
  User("audit: {path: \"" + log + "/audit.jsonl\"}");
  policy_ = Load();
  const sandbox::View view;
  const Explanation line = ExplainPath(*policy_, log + "/audit.jsonl", &view);
  EXPECT_NE(
      line.text.find("find an empty directory in place of the audit log's; no line of policy"),
      std::string::npos)
      << line.text;
  const Explanation directory = ExplainPath(*policy_, log, &view);
  EXPECT_NE(directory.text.find("is an empty directory to commands, and stays one (audit log)"),
            std::string::npos)
      << directory.text;
  EXPECT_EQ(ExplainPath(*policy_, project_ / "main.c", &view).text.find("audit log"),
            std::string::npos);
}

TEST_F(ExplainTest, WithoutNamespacesTheAuditLogKeepsCommandsFromRunning) {
  const std::string log = project_ / "log";
  User("audit: {path: \"" + log + "/audit.jsonl\"}");
  const auto refused = [&](std::size_t use) {
    return ParseJson(Path("main.c").json)->Find("uses")->Items().at(use).Find("refused") != nullptr;
  };
  EXPECT_TRUE(refused(kMake));
  EXPECT_TRUE(refused(kGit));
  EXPECT_FALSE(refused(kInspect)) << "it cannot write";
  EXPECT_NE(Path("main.c").text.find("but nothing runs: it could write the audit log in " + log),
            std::string::npos);
  User("audit: {path: \"" + (base_ / "log/audit.jsonl").string() + "\"}");
  EXPECT_FALSE(refused(kMake));
}

TEST_F(ExplainTest, AProjectBeneathTheDirectoryOfTheAuditLogIsSeen) {
  User("audit: {path: \"" + (home_ / "audit.jsonl").string() + "\"}");
  policy_ = Load();
  const sandbox::View view;
  const Explanation file = ExplainPath(*policy_, project_ / "main.c", &view);
  EXPECT_EQ(file.text.find("audit"), std::string::npos) << file.text;
  EXPECT_TRUE(ParseJson(file.json)
                  ->Find("uses")
                  ->Items()
                  .at(kMake)
                  .Find("read")
                  ->Find("allowed")
                  ->AsBool());
}

TEST_F(ExplainTest, Tools) {
  User(
      "permissions:\n  - {tool: make, target: x, decision: deny, reason: why}\n"
      "  - {tool: git_add, decision: allow}\nnetwork: full");
  Explanation off = ExplainTool(*Load(), "make", false);
  EXPECT_EQ(off.text.find("make: not enabled\n"), 0u);
  EXPECT_NE(off.text.find("--enable make"), std::string::npos);
  EXPECT_FALSE(ParseJson(off.json)->Find("enabled")->AsBool());
  sources_.enable = {"make"};
  const Explanation on = ExplainTool(*Load(), "make", false);
  EXPECT_EQ(on.text.find("make: enabled (make in --enable)\n"), 0u);
  EXPECT_NE(on.text.find("  network  full\n"), std::string::npos);
  EXPECT_NE(on.text.find("  rule     deny make x: why - permissions[0] ("), std::string::npos);
  EXPECT_EQ(on.text.find("git_add"), std::string::npos);
  EXPECT_NE(on.text.find("  limit    memory 4GiB (default)\n"), std::string::npos);
  EXPECT_EQ(ParseJson(on.json)->Find("rules")->Items().size(), 1u);
  EXPECT_NE(ExplainTool(*Load(), "git_add", false).text.find("  network  none\n"),
            std::string::npos);
}

TEST_F(ExplainTest, SaysWhetherAPipelineMayCallTheTool) {
  User("tools: {enable: [make, bash]}\npipeline: {tools: [make]}");
  const PolicyPtr policy = Load();
  const auto may = [&](const char* tool, bool read_only) {
    const Explanation told = ExplainTool(*policy, tool, read_only);
    const bool in_json = ParseJson(told.json)->Find("in_pipelines")->AsBool();
    EXPECT_EQ(told.text.find("  pipeline may call it") != std::string::npos, in_json) << told.text;
    return in_json;
  };
  EXPECT_TRUE(may("make", false));
  EXPECT_FALSE(may("bash", false));
  EXPECT_TRUE(may("read", true));
  EXPECT_NE(ExplainTool(*policy, "bash", false).text.find("pipeline.tools does not name it"),
            std::string::npos);
}

TEST_F(ExplainTest, RulesAreShownOfToolsThatTheyCanMatch) {
  User(
      "permissions:\n"
      "  - {tool: \"*\", path: keys, decision: deny, reason: r}\n"
      "  - {tool: \"*\", command: rm, decision: deny, reason: r}\n");
  policy_ = Load();
  const auto rules = [&](const std::string& tool) {
    const Result<JsonValue> json = ParseJson(ExplainTool(*policy_, tool, false).json);
    return json->Find("rules")->Items().size();
  };
  EXPECT_EQ(rules("read"), 1u);
  EXPECT_EQ(rules("bash"), 1u);
  EXPECT_EQ(rules("make"), 0u);
}

TEST_F(ExplainTest, ReadOnlyToolsNeedNoLeave) {
  EXPECT_EQ(ExplainTool(*Load(), "make_targets", true).text.find("make_targets: enabled ("), 0u);
}

}  // namespace
}  // namespace pa::policy
