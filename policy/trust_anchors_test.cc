#include "policy/trust_anchors.h"

#include <algorithm>
#include <vector>

#include "policy/protected_paths.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using Kind = TrustAnchor::Kind;

class TrustAnchorsTest : public PolicyTest {
 protected:
  TrustAnchorsTest() {
    for (const char* name : {"safe", "out", "state"}) fs::create_directories(base_ / name);
    sources_.roots = {project_};
    sources_.variables["XDG_STATE_HOME"] = base_ / "state";
    User("filesystem: {write: [" + (base_ / "out").string() + "]}");
  }

  // What comes of an anchor there.
  LoadedPolicy LoadWith(Kind kind, const fs::path& path) {
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

// Every kind, in every place, by every way that leads there; and its twin where no command can write.
TEST_F(TrustAnchorsTest, EachIsJudgedAsTheTableSays) {
  std::vector<Kind> judged;
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
        const bool named =
            said.find("commands can write " + std::string(row.title)) != std::string::npos;
        const bool kept = loaded.policy && loaded.policy->anchors.size() == 1 &&
                          loaded.policy->anchors[0].path == path;
        EXPECT_EQ(loaded.policy == nullptr, row.fate == AnchorFate::kRefused) << row.title << path;
        EXPECT_EQ(named, row.fate == AnchorFate::kRefused || row.fate == AnchorFate::kWarned)
            << row.title << path << said;
        EXPECT_EQ(kept, row.fate == AnchorFate::kProtected) << row.title << path;
        if (row.fate != AnchorFate::kPassedOver) continue;
        EXPECT_EQ(WhereCommandsWrite(*loaded.policy, path), words) << path;
      }
      const LoadedPolicy twin = LoadWith(row.kind, safe / "anchor");
      EXPECT_TRUE(twin.policy) << row.title << Format(twin.diagnostics);
      EXPECT_TRUE(twin.policy && twin.policy->anchors.empty()) << row.title;
      EXPECT_EQ(Format(twin.warnings).find("commands can write"), std::string::npos);
      for (const fs::path& made : {place / "out", base_ / "in", base_ / "link"}) fs::remove(made);
    }
  }
  // All of them, each once.
  std::ranges::sort(judged);
  for (std::size_t i = 0; i < judged.size(); ++i) EXPECT_EQ(judged[i], static_cast<Kind>(i));
  EXPECT_EQ(judged.size(), static_cast<std::size_t>(Kind::kProgram) + 1);
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
