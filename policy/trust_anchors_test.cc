#include "policy/trust_anchors.h"

#include <algorithm>
#include <vector>

#include "policy/protected_paths.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using AnchorKind = TrustAnchor::Kind;

class TrustAnchorsTest : public PolicyTest {
 protected:
  TrustAnchorsTest() {
    for (const char* name : {"safe", "out", "state"}) fs::create_directories(base_ / name);
    sources_.roots = {project_};
    sources_.variables["XDG_STATE_HOME"] = base_ / "state";
    User("filesystem: {write: [" + (base_ / "out").string() + "]}");
  }

  // What comes of an anchor there.
  LoadedPolicy LoadWith(AnchorKind kind, const fs::path& path) {
    sources_.anchors = {{kind, path}};
    return LoadPolicy(sources_);
  }

  // Each place in which commands can write, and the words for it.
  struct Writable {
    fs::path place;
    std::string words;
  };
  std::vector<Writable> WritablePlaces() const {
    const fs::path caches = base_ / "state/project-actions/caches";
    return {{project_, "the root " + project_.string()},
            {base_ / "out", (base_ / "out").string() + " of filesystem.write"},
            {caches / "one", "the projects' caches in " + caches.string()}};
  }
};

// Every kind, in every place, by every way that leads there; and its twin where no command can
// write.
TEST_F(TrustAnchorsTest, EachIsJudgedAsTheTableSays) {
  std::vector<AnchorKind> judged;
  for (const AnchorRow& row : AnchorTable()) {
    judged.push_back(row.kind);
    for (const auto& [place, words] : WritablePlaces()) {
      fs::create_directories(place / "deep");
      const fs::path safe = base_ / "safe";
      fs::create_directory_symlink(safe, place / "out");
      fs::create_directory_symlink(place, base_ / "in");
      fs::create_symlink(place / "deep/target", base_ / "link");
      for (const fs::path& path :
           {place / "deep/anchor", place / "anchor", base_ / "in/anchor", base_ / "link",
            place / "out/anchor", base_ / "in/out/anchor", safe / "../in/deep/absent/anchor"}) {
        const LoadedPolicy loaded = LoadWith(row.kind, path);
        const std::string said = Format(loaded.diagnostics) + Format(loaded.warnings);
        const bool through_theirs = path == place / "out/anchor" || path == base_ / "in/out/anchor";
        const bool is_led = row.fate == AnchorFate::kNotLed && through_theirs;
        const bool covered = row.fate == AnchorFate::kCovered;
        const bool refused = row.fate == AnchorFate::kRefused || covered || is_led;
        const std::string what =
            is_led ? "commands can exchange a symlink on the way to " : "commands can write ";
        const bool named = said.find(what + std::string(row.title)) != std::string::npos;
        const bool kept = loaded.policy && loaded.policy->anchors.size() == 1 &&
                          loaded.policy->anchors[0].path == path;
        EXPECT_EQ(loaded.policy == nullptr, refused) << row.title << path;
        EXPECT_EQ(named, refused || row.fate == AnchorFate::kWarned) << row.title << path << said;
        EXPECT_EQ(kept, row.fate == AnchorFate::kProtected) << row.title << path;
        if (row.fate == AnchorFate::kCoveredLater) {
          EXPECT_TRUE(loaded.policy->covered.at(0).writable) << path;
        }
        if (row.fate != AnchorFate::kPassedOver) continue;
        EXPECT_EQ(WhereCommandsWrite(*loaded.policy, path), words) << path;
      }
      const LoadedPolicy twin = LoadWith(row.kind, safe / "anchor");
      EXPECT_TRUE(twin.policy) << row.title << Format(twin.diagnostics);
      EXPECT_TRUE(twin.policy && twin.policy->anchors.empty()) << row.title;
      const bool covers = row.fate == AnchorFate::kCovered || row.fate == AnchorFate::kCoveredLater;
      EXPECT_EQ(twin.policy && !twin.policy->covered.empty(), covers);
      EXPECT_FALSE(covers && twin.policy->covered[0].writable);
      EXPECT_EQ(Format(twin.warnings).find("commands can write"), std::string::npos);
      for (const fs::path& made : {place / "out", base_ / "in", base_ / "link"}) fs::remove(made);
    }
  }
  // All of them, each once.
  std::ranges::sort(judged);
  for (std::size_t i = 0; i < judged.size(); ++i) EXPECT_EQ(judged[i], static_cast<AnchorKind>(i));
  EXPECT_EQ(judged.size(), static_cast<std::size_t>(AnchorKind::kIssuerKeys) + 1);
}

// Whether a grant holds it decides whether commands get a cover.
TEST_F(TrustAnchorsTest, AGrantByALinkCoversToo) {
  const fs::path safe = base_ / "safe";
  fs::create_directory_symlink(safe, base_ / "link");
  const auto granted = [&](const std::string& policy) {
    User(policy);
    const LoadedPolicy loaded = LoadWith(AnchorKind::kSocket, safe / "socket");
    EXPECT_TRUE(loaded.policy) << Format(loaded.diagnostics);
    return loaded.policy && loaded.policy->covered.at(0).granted;
  };
  EXPECT_FALSE(granted(""));
  EXPECT_FALSE(granted("filesystem: {read: [" + (base_ / "out").string() + "]}"));
  for (const fs::path& path : {safe, safe / "socket", base_ / "link", base_}) {
    EXPECT_TRUE(granted("filesystem: {read: [" + path.string() + "]}")) << path;
  }
}

// A command replaces what it can write by a symlink, and the next policy that is loaded would grant
// what that leads to.
TEST_F(TrustAnchorsTest, NoPlaceOfThePolicyIsLed) {
  const fs::path lib = project_ / "lib";
  const fs::path log = project_ / "log";
  for (const fs::path& made : {lib, log}) fs::create_directories(made);
  const std::vector<std::string> policies = {
      "filesystem: {read: [" + lib.string() + "]}", "filesystem: {write: [" + lib.string() + "]}",
      "roots: [" + project_.string() + ", " + lib.string() + "]",
      "audit: {path: " + (log / "audit.jsonl").string() + "}"};
  sources_.roots.clear();
  const std::string own = "\nroots: [" + project_.string() + "]\n";
  for (const std::string& policy : policies) {
    User(policy + (policy.starts_with("roots") ? "\n" : own));
    EXPECT_TRUE(Load()) << policy;
  }
  for (const fs::path& made : {lib, log}) {
    fs::remove(made);
    fs::create_directory_symlink(base_ / "safe", made);
  }
  for (const std::string& policy : policies) {
    User(policy + (policy.starts_with("roots") ? "\n" : own));
    const std::string faults = Faults();
    EXPECT_NE(faults.find("user.yaml:2:"), std::string::npos) << faults;
    EXPECT_NE(faults.find("commands can exchange a symlink on the way to a place that this policy "
                          "names"),
              std::string::npos)
        << faults;
  }
  User("");
  sources_.roots = {project_, lib};
  EXPECT_NE(Faults().find("--root: commands can exchange a symlink"), std::string::npos);
  // Where no command can exchange it, the user may name it as he likes.
  fs::create_directory_symlink(project_, base_ / "in");
  sources_.roots = {base_ / "in"};
  EXPECT_TRUE(Load());
}

// The same of a toolchain that a variable has moved to where commands can write: it is not granted.
TEST_F(TrustAnchorsTest, NoToolchainIsLed) {
  const fs::path cargo = project_ / "cargo";
  fs::create_directories(cargo / "bin");
  sources_.variables["CARGO_HOME"] = cargo;
  const auto granted = [&] {
    const PolicyPtr policy = Load();
    return policy && std::ranges::count(policy->filesystem, "toolchain: CARGO_HOME",
                                        &sandbox::PathGrant::reason) == 1;
  };
  EXPECT_TRUE(granted());
  fs::remove(cargo / "bin");
  fs::create_directory_symlink(base_ / "safe", cargo / "bin");
  EXPECT_FALSE(granted());
}

TEST_F(TrustAnchorsTest, ThePolicysOwnFiles) {
  EXPECT_TRUE(Load());
  sources_.user_file = project_ / "policy.yaml";
  Write("home/src/project/policy.yaml", "");
  EXPECT_EQ(Faults(),
            "home/src/project/policy.yaml: commands can write this policy, which lies in "
            "the root home/src/project: keep it where no command can write, or name "
            "roots that do not hold it\n");
  sources_.elsewhere = true;  // as `policy check` looks at it
  EXPECT_TRUE(Load());
  EXPECT_NE(warnings_.find("commands can write this policy"), std::string::npos);
  sources_.elsewhere = false;
  // Named otherwise, it is the same.
  fs::create_directory_symlink(project_, base_ / "in");
  sources_.user_file = base_ / "in/policy.yaml";
  EXPECT_NE(Faults(), "");
  sources_.user_file.reset();
  sources_.administrator_file = project_ / "policy.yaml";
  EXPECT_NE(Faults(), "");
}

// What would be read by the next server must not come to be there.
TEST_F(TrustAnchorsTest, APolicyThatIsNotThereStaysAway) {
  sources_.default_user_file = project_ / ".config/project-actions/policy.yaml";
  const PolicyPtr policy = Load();
  ASSERT_EQ(policy->anchors.size(), 1u);
  const Result<ProtectedPaths> kept =
      FindProtectedPaths(QueryFor(*policy, project_, {project_.string()}));
  ASSERT_TRUE(kept);
  const std::string file = sources_.default_user_file;
  EXPECT_TRUE(std::ranges::any_of(kept->paths,
                                  [&](const ProtectedPath& one) { return Forbids(one, file); }));
  EXPECT_FALSE(std::ranges::any_of(kept->paths, [&](const ProtectedPath& one) {
    return Forbids(one, project_ / ".config/other");
  })) << "only it, not what lies beside it";
}

TEST_F(TrustAnchorsTest, ARootStandsForWhereCallsCanWork) {
  Policy policy;
  policy.home = "/home/ann";
  policy.roots = {"/"};
  for (const char* path : {"/usr/bin/git", "/etc/project-actions/policy.yaml", "/tmp", "/var/tmp",
                           "/usr/libexec/project-actions-worker", "/root/x"}) {
    EXPECT_FALSE(WhereCommandsWrite(policy, path)) << path;
  }
  for (const char* path : {"/home/ann/bin/git", "/srv/x", "/opt/x/worker", "/tmp/mine/x"}) {
    EXPECT_TRUE(WhereCommandsWrite(policy, path)) << path;
  }
  policy.roots = {"/tmp"};
  EXPECT_FALSE(WhereCommandsWrite(policy, "/tmp"));
  EXPECT_TRUE(WhereCommandsWrite(policy, "/tmp/x"));
}

TEST_F(TrustAnchorsTest, WhereCommandsCanWrite) {
  Policy policy;
  policy.roots = {"/src"};
  policy.caches.base = "/cache";
  policy.filesystem = {{"/data", sandbox::kReadExecute, "read"},
                       {"/out", sandbox::kReadWriteExecute, "write"}};
  for (const char* path : {"/src", "/src/a/b", "/cache/x", "/out/x", "/srv/../src/x"}) {
    EXPECT_TRUE(WhereCommandsWrite(policy, path)) << path;
  }
  for (const char* path : {"/", "/srcs", "/data/x", "/home/ann/.local/state", "/src/../srv"}) {
    EXPECT_FALSE(WhereCommandsWrite(policy, path)) << path;
  }
  policy.caches.base = "";
  EXPECT_FALSE(WhereCommandsWrite(policy, "/cache/x"));
}

TEST_F(TrustAnchorsTest, SymlinksAloneLead) {
  const PolicyPtr policy = Load();
  EXPECT_FALSE(WhereCommandsLead(*policy, project_ / "state"));
  fs::create_directory_symlink(base_ / "safe", project_ / "link");
  EXPECT_TRUE(WhereCommandsLead(*policy, project_ / "link/state"));
  fs::create_directory_symlink(project_ / "link", base_ / "link");
  EXPECT_TRUE(WhereCommandsLead(*policy, base_ / "link/state")) << "by another one";
  fs::create_directory_symlink(project_, base_ / "in");
  EXPECT_FALSE(WhereCommandsLead(*policy, base_ / "in/state")) << "it leads there, whoever writes";
}

// It would be appended to whatever the symlink leads to.
TEST_F(TrustAnchorsTest, TheAuditLogIsLedNowhere) {
  fs::create_directory_symlink(base_ / "safe", project_ / "log");
  const std::string refused = "commands can exchange a symlink on the way to the audit log";
  sources_.variables["XDG_STATE_HOME"] = project_ / "log";
  EXPECT_NE(Faults().find(refused), std::string::npos);
  fs::create_directory_symlink(base_ / "safe", base_ / "log");
  sources_.variables["XDG_STATE_HOME"] = base_ / "log";
  EXPECT_TRUE(Load());
}

TEST_F(TrustAnchorsTest, SymlinksInACircleEnd) {
  fs::create_symlink(project_ / "b", project_ / "a");
  fs::create_symlink(project_ / "a", project_ / "b");
  fs::create_symlink(base_ / "d", base_ / "c");
  fs::create_symlink(base_ / "c", base_ / "d");
  const PolicyPtr policy = Load();
  EXPECT_TRUE(WhereCommandsWrite(*policy, project_ / "a/x"));
  EXPECT_FALSE(WhereCommandsWrite(*policy, base_ / "c/x"));
}

}  // namespace
}  // namespace pa::policy
