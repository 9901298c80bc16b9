#include "policy/caches.h"

#include <climits>
#include <set>

#include "policy/decide.h"
#include "policy/grants.h"
#include "policy/path.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;

class CachesTest : public PolicyTest {
 protected:
  std::string Base() const { return home_ / ".local/state/project-actions/caches"; }

  Variables Environment(const Variables& ambient = {}) {
    const PolicyPtr policy = Load();
    Variables environment = CommandEnvironment(*policy, ambient);
    AddCacheVariables(policy->caches, project_, environment);
    return environment;
  }
};

TEST_F(CachesTest, LieInTheStateDirectory) {
  const std::string cache = CacheDirectory(Load()->caches, project_);
  EXPECT_TRUE(cache.starts_with(Base() + "/")) << cache;
  EXPECT_TRUE(cache.ends_with("+home+src+project")) << cache;
  fs::create_directories(base_ / "disk");
  fs::create_directory_symlink(base_ / "disk", base_ / "link");
  sources_.variables["XDG_STATE_HOME"] = base_ / "link";
  EXPECT_TRUE(CacheDirectory(Load()->caches, project_)
                  .starts_with((base_ / "disk/project-actions/caches/").string()));
  sources_.variables["XDG_STATE_HOME"] = "relative";
  EXPECT_EQ(CacheDirectory(Load()->caches, project_), cache);
}

// ... any part of which may be a symlink, as long as no command can exchange it.
TEST_F(CachesTest, FollowNoSymlinkThatCommandsCanExchange) {
  fs::create_directories(base_ / "disk/caches");
  const fs::path ours = home_ / ".local/state/project-actions";
  fs::create_directories(ours.parent_path());
  fs::create_directory_symlink(base_ / "disk", ours);
  EXPECT_EQ(Load()->caches.base, base_ / "disk/caches");
  fs::create_directories(base_ / "more");
  fs::create_directory_symlink(base_ / "more", base_ / "disk/link");
  fs::remove(base_ / "disk/caches");
  fs::rename(base_ / "disk/link", base_ / "disk/caches");
  EXPECT_EQ(Load()->caches.base, base_ / "more");
  // Commands can write there, so they can lead it to where they want to.
  User("filesystem: {write: [" + (base_ / "disk").string() + "]}\naudit: {to: none}");
  EXPECT_EQ(Load()->caches.base, "");
  EXPECT_NE(Load()->caches.why_none.find("disk of filesystem.write"), std::string::npos);
  EXPECT_FALSE(Environment().contains("GOCACHE"));
  User("filesystem: {write: [" + ours.parent_path().string() + "]}\naudit: {to: none}");
  EXPECT_EQ(Load()->caches.base, "");
  // What they can write to without any symlink is theirs as before.
  fs::remove(ours);
  EXPECT_EQ(Load()->caches.base, Base());
}

TEST_F(CachesTest, NoneWithoutToolchainsOrWithoutAHome) {
  User("filesystem: {toolchains: none}");
  EXPECT_EQ(CacheDirectory(Load()->caches, project_), "");
  EXPECT_FALSE(Environment().contains("GOCACHE"));
  EXPECT_FALSE(CacheGrant(Load()->caches, project_, sandbox::kReadExecute));
  User("audit: {to: none}");
  sources_.home = "/nonexistent";
  EXPECT_EQ(CacheDirectory(Load()->caches, project_), "");
}

TEST_F(CachesTest, NoTwoProjectsShareOne) {
  const Caches caches = Load()->caches;
  std::set<std::string> names;
  const std::vector<std::string> directories = {
      "/a/b", "/a+b",  "/a~2fb", "/a/b/", "/a~b",  "/a%b", "/a b", "/a\xff", "/a~ff",   "/a/..b",
      "/a-b", "/a\nb", "/a/+b",  "/a+/b", "/a++b", "/A/b", "/a$b", "/a${b}", "/a~24~7b"};
  for (const std::string& directory : directories) {
    const std::string cache = CacheDirectory(caches, directory);
    EXPECT_EQ(fs::path(cache).parent_path(), Base()) << directory;
    EXPECT_TRUE(names.insert(cache).second) << directory;
  }
}

TEST_F(CachesTest, LongPathsAreParted) {
  const Caches caches = Load()->caches;
  std::set<std::string> names;
  for (const std::size_t size : {239u, 240u, 241u, 242u, 269u, 480u, 481u, 482u, 1000u, 3000u}) {
    for (const std::string end : {"xx", ".."}) {
      const fs::path cache = CacheDirectory(caches, "/" + std::string(size - 2, 'x') + end);
      const fs::path inside = cache.lexically_relative(Base());
      std::size_t letters = 0;
      for (const fs::path& part : inside) {
        EXPECT_LE(part.string().size(), 255u);
        EXPECT_NE(part, "..");
        letters += part.string().size();
      }
      EXPECT_GE(letters, size) << "all of it is there";
      EXPECT_FALSE(cache.string().ends_with("~+")) << "another one's would lie in it";
      EXPECT_EQ(inside.has_parent_path(), size > 240);
      EXPECT_TRUE(names.insert(cache).second);
    }
  }
  EXPECT_EQ(CacheDirectory(caches, "/" + std::string(PATH_MAX - 2, 'x')), "");
}

TEST_F(CachesTest, BuildsAndHooksWriteTheirOwnInspectionReadsItGitAloneHasNone) {
  const PolicyPtr policy = Load();
  const auto access = [&](Purpose purpose, const std::string& path) {
    sandbox::Access found = sandbox::Access::kNone;
    for (const sandbox::PathGrant& grant : GrantsFor(*policy, purpose, project_)) {
      if (IsBeneath(path, grant.path)) found = found | grant.access;
    }
    return found;
  };
  const std::string own = CacheDirectory(policy->caches, project_);
  EXPECT_EQ(access(Purpose::kBuild, own), sandbox::kReadWriteExecute);
  EXPECT_EQ(access(Purpose::kInspect, own), sandbox::kReadExecute);
  EXPECT_EQ(access(Purpose::kGit, own), sandbox::kReadWriteExecute);
  EXPECT_EQ(access(Purpose::kGitCopy, own), sandbox::kReadWriteExecute);
  EXPECT_EQ(access(Purpose::kGitAlone, own), sandbox::Access::kNone);
  const std::string other = CacheDirectory(policy->caches, (home_ / "src/other").string());
  EXPECT_EQ(access(Purpose::kBuild, other), sandbox::Access::kNone);
  const std::string below = CacheDirectory(policy->caches, (project_ / "sub").string());
  EXPECT_EQ(access(Purpose::kBuild, below), sandbox::Access::kNone);
}

TEST_F(CachesTest, VariablesLeadThere) {
  Variables environment = Environment();
  const std::string own = CacheDirectory(Load()->caches, project_);
  EXPECT_EQ(environment["GOCACHE"], own + "/go-build");
  EXPECT_EQ(environment["XDG_CACHE_HOME"], own + "/xdg");
  EXPECT_EQ(environment["GOPROXY"], "file://" + (home_ / "go").string() +
                                        "/pkg/mod/cache/download,https://proxy.golang.org,direct");
  EXPECT_EQ(environment["MAVEN_ARGS"],
            "-Dmaven.repo.local=" + own +
                "/m2 -Dmaven.repo.local.tail=" + (home_ / ".m2/repository").string());
  for (const auto& [name, value] : environment) {
    const bool later = name == "JAVA_TOOL_OPTIONS";
    EXPECT_EQ(value.find("${") != std::string::npos, later) << name << '=' << value;
  }
}

// Before 3.9 it knows one repository: the user's, where there is one to read.
TEST_F(CachesTest, AnOldMavenWithoutTheUsersRepositoryGetsTheProjects) {
  const std::string own = CacheDirectory(Load()->caches, project_);
  EXPECT_EQ(Environment()["MAVEN_OPTS"], "-Dmaven.repo.local=" + own + "/m2");
  std::filesystem::create_directories(home_ / ".m2/repository");
  EXPECT_FALSE(Environment().contains("MAVEN_OPTS"));
  EXPECT_TRUE(Environment().contains("MAVEN_ARGS"));
}

TEST_F(CachesTest, ButWhatTheUserSaysCounts) {
  User("environment: {pass: [npm_config_cache], set: {GOCACHE: /mine}}");
  Variables environment = Environment({{"npm_config_cache", "/theirs"}, {"PIP_CACHE_DIR", "/no"}});
  EXPECT_EQ(environment["GOCACHE"], "/mine");
  EXPECT_EQ(environment["npm_config_cache"], "/theirs");
  EXPECT_TRUE(environment["PIP_CACHE_DIR"].starts_with(Base())) << "not passed, so not theirs";
}

TEST_F(CachesTest, AndACacheThatThePolicyGrantsIsUsed) {
  User("filesystem: {write: [~/.cache/sccache], read: [~/.npm, ~/go/pkg/mod]}");
  Variables environment = Environment();
  EXPECT_FALSE(environment.contains("XDG_CACHE_HOME"));
  EXPECT_FALSE(environment.contains("npm_config_cache"));
  EXPECT_TRUE(environment.contains("GOCACHE"));
  EXPECT_TRUE(environment.contains("GOMODCACHE")) << "reading does not suffice for go";
  User("filesystem: {write: [~/go]}");
  EXPECT_FALSE(Environment().contains("GOMODCACHE"));
}

TEST_F(CachesTest, CargoKeepsAHomeThatIsThere) {
  EXPECT_TRUE(Environment()["CARGO_HOME"].starts_with(Base()));
  fs::create_directories(home_ / ".cargo/registry");
  EXPECT_FALSE(Environment().contains("CARGO_HOME"));
  fs::create_directories(base_ / "moved/registry");
  sources_.variables["CARGO_HOME"] = base_ / "moved";
  EXPECT_EQ(Environment(sources_.variables)["CARGO_HOME"], base_ / "moved");
}

}  // namespace
}  // namespace pa::policy
