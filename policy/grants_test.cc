// Which paths a purpose grants, and that real programs can live with them.
#include "policy/grants.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "policy/path.h"
#include "sandbox/landlock.h"
#include "sandbox/unreachable.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using sandbox::Access;
using sandbox::PathGrant;

class GrantsTest : public PolicyTest {
 protected:
  void SetUp() override {
    sources_.variables["PATH"] = "/usr/local/bin:/usr/bin:/bin";
    fs::create_directories(home_ / ".cargo/bin");
    fs::create_directories(home_ / ".config/git");
    pa::testing::WriteText(home_ / ".gitconfig",
                           "[user]\n\tname = Ann\n\temail = ann@example.org\n");
    pa::testing::WriteText(home_ / ".gitconfig-work", "");
    pa::testing::WriteText(home_ / ".config/git/config", "");
    pa::testing::WriteText(home_ / ".config/git/credentials", "secret");
    pa::testing::WriteText(home_ / ".ssh/id", "secret");
  }

  // "rwx" with a dash for each right that is missing.
  std::string Rights(Purpose purpose, const std::string& path) {
    const std::vector<PathGrant> grants = GrantsFor(*Load(), purpose, project_);
    std::string out;
    for (const auto& [access, letter] :
         {std::pair(Access::kRead, 'r'), {Access::kWrite, 'w'}, {Access::kExecute, 'x'}}) {
      const bool granted = std::ranges::any_of(grants, [&](const PathGrant& grant) {
        return sandbox::Has(grant.access, access) &&
               IsBeneath(ResolvePath(path), ResolvePath(grant.path));
      });
      out += granted ? letter : '-';
    }
    return out;
  }
};

TEST_F(GrantsTest, Build) {
  User("filesystem: {read: [/data], write: [/cache]}");
  EXPECT_EQ(Rights(Purpose::kBuild, project_ / "x"), "rwx");
  EXPECT_EQ(Rights(Purpose::kBuild, "/data/x"), "r-x");
  EXPECT_EQ(Rights(Purpose::kBuild, "/cache/x"), "rwx");
  EXPECT_EQ(Rights(Purpose::kBuild, home_ / ".cargo/bin/x"), "r-x");
  EXPECT_EQ(Rights(Purpose::kBuild, home_ / ".ssh/id"), "---");
  EXPECT_EQ(Rights(Purpose::kBuild, home_ / ".gitconfig"), "---");
  EXPECT_EQ(Rights(Purpose::kBuild, home_), "---");
  EXPECT_EQ(Rights(Purpose::kBuild, "/bin/sh"), "r-x");
  EXPECT_EQ(Rights(Purpose::kBuild, "/dev/null"), "rw-");
}

TEST_F(GrantsTest, InspectWritesNothing) {
  User("filesystem: {write: [/cache]}");
  EXPECT_EQ(Rights(Purpose::kInspect, project_ / "x"), "r-x");
  EXPECT_EQ(Rights(Purpose::kInspect, "/cache/x"), "r-x");
  EXPECT_EQ(Rights(Purpose::kInspect, "/dev/null"), "rw-");
}

TEST_F(GrantsTest, ASearchReadsOnly) {
  User("filesystem: {write: [/cache]}");
  EXPECT_EQ(Rights(Purpose::kSearch, project_ / "x"), "r--");
  EXPECT_EQ(Rights(Purpose::kSearch, "/cache/x"), "r-x");
  EXPECT_EQ(Rights(Purpose::kSearch, "/bin/sh"), "r-x") << "ripgrep itself";
  EXPECT_EQ(Rights(Purpose::kSearch, home_ / ".ssh/id"), "---");
}

TEST_F(GrantsTest, GitWithHooks) {
  EXPECT_EQ(Rights(Purpose::kGit, project_ / ".git/x"), "rwx");
  EXPECT_EQ(Rights(Purpose::kGit, "/bin/sh"), "r-x");
  EXPECT_EQ(Rights(Purpose::kGit, home_ / ".gitconfig"), "---");
}

TEST_F(GrantsTest, GitAloneExecutesGitAlone) {
  User("filesystem: {read: [/data]}");
  EXPECT_EQ(Rights(Purpose::kGitAlone, project_ / ".git/x"), "r--");
  EXPECT_EQ(Rights(Purpose::kGitAlone, "/bin/sh"), "r--");
  EXPECT_EQ(Rights(Purpose::kGitAlone, "/data/x"), "r--");
  EXPECT_EQ(Rights(Purpose::kGitAlone, home_ / ".cargo/bin/x"), "r--");
  EXPECT_EQ(Rights(Purpose::kGitAlone, "/usr/bin/git"), "r-x");
  EXPECT_EQ(Rights(Purpose::kGitAlone, "/dev/null"), "rw-");
}

TEST_F(GrantsTest, AGitThatCommandsCanWriteIsNotGits) {
  const fs::path own = project_ / "bin/git";
  fs::create_directories(own.parent_path());
  fs::copy_file("/bin/true", own);
  sources_.variables["PATH"] = own.parent_path().string() + ":relative:/usr/bin:/bin";
  User("");
  EXPECT_EQ(Rights(Purpose::kGitAlone, own), "r--");
  EXPECT_EQ(Rights(Purpose::kGitAlone, "/usr/bin/git"), "r-x");
  User("roots: [/usr/share]\nfilesystem: {write: [~/src]}");
  EXPECT_EQ(Rights(Purpose::kGitAlone, own), "r--");
}

TEST_F(GrantsTest, IdentityReadsGitsConfigurationAlone) {
  EXPECT_EQ(Rights(Purpose::kGitIdentity, home_ / ".gitconfig"), "r--");
  EXPECT_EQ(Rights(Purpose::kGitIdentity, home_ / ".gitconfig-work"), "r--");
  EXPECT_EQ(Rights(Purpose::kGitIdentity, home_ / ".config/git/config"), "r--");
  EXPECT_EQ(Rights(Purpose::kGitIdentity, home_ / ".config/git/credentials"), "---");
  EXPECT_EQ(Rights(Purpose::kGitIdentity, home_ / ".ssh/id"), "---");
  EXPECT_EQ(Rights(Purpose::kGitIdentity, project_ / "x"), "---");
  EXPECT_EQ(Rights(Purpose::kGitIdentity, "/bin/sh"), "r--");
}

TEST_F(GrantsTest, WriteFileNeedsTheProjectAlone) {
  EXPECT_EQ(GrantsFor(*Load(), Purpose::kWriteFile, project_),
            (std::vector<PathGrant>{
                {project_, sandbox::kReadWrite, "working directory", sandbox::Symlinks::kRefuse}}));
}

TEST_F(GrantsTest, ReadFileReadsTheProjectAlone) {
  User("filesystem: {read: [/srv], write: [/var/tmp]}");
  EXPECT_EQ(GrantsFor(*Load(), Purpose::kReadFile, project_),
            (std::vector<PathGrant>{{project_, sandbox::Access::kRead, "working directory",
                                     sandbox::Symlinks::kRefuse}}));
}

TEST_F(GrantsTest, NameServersAreForThoseWithANetwork) {
  const std::size_t without = GrantsFor(*Load(), Purpose::kBuild, project_).size();
  User("network: full");
  const PolicyPtr policy = Load();
  EXPECT_EQ(GrantsFor(*policy, Purpose::kBuild, project_).size(),
            without + policy->system_network.size());
  EXPECT_EQ(GrantsFor(*policy, Purpose::kInspect, project_).size(), without);
}

// Real programs under Landlock with nothing but these grants.
class GrantsRunTest : public GrantsTest {
 protected:
  void SetUp() override {
    GrantsTest::SetUp();
    abi_ = sandbox::DetectLandlock().abi;
    if (abi_ == 0) GTEST_SKIP() << "this kernel has no Landlock";
  }

  // The exit status of a shell line, or of `argv` itself, in the project; 126 if it could not be
  // confined.
  int Run(Purpose purpose, std::vector<std::string> argv) {
    const PolicyPtr policy = Load();
    std::vector<PathGrant> grants = GrantsFor(*policy, purpose, project_);
    if (purpose == Purpose::kGitAlone) {
      grants.push_back({project_ / ".git", sandbox::kReadWrite, "git repository"});
    }
    const pid_t child = fork();
    if (child == 0) _exit(Confined(grants, argv));
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int Confined(const std::vector<PathGrant>& grants, std::vector<std::string>& argv) {
    const SysResult<UniqueFd> ruleset = sandbox::CreateRuleset(abi_, sandbox::Network::kNone);
    if (!ruleset) return 126;
    for (const PathGrant& grant : grants) {
      const SysResult<void> added =
          sandbox::AddPath(ruleset->get(), grant.path.c_str(), grant.access, abi_);
      if (!added && !sandbox::IsUnreachable(added.error())) return 126;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 126;
    if (!sandbox::Enforce(ruleset->get()) || chdir(project_.c_str()) != 0) return 126;
    std::vector<char*> pointers;
    for (std::string& word : argv) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const std::string home = "HOME=" + home_.string();
    const char* const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", home.c_str(),
                                       "GIT_CONFIG_GLOBAL=/dev/null", nullptr};
    execvpe(pointers[0], pointers.data(), const_cast<char**>(environment));
    return 127;
  }
  int Shell(Purpose purpose, const std::string& line) {
    return Run(purpose, {"/bin/sh", "-c", "exec 2>/dev/null >/dev/null; " + line});
  }

  // A repository whose configuration and hooks run attacker's code, each in another way.
  void PoisonedRepository() {
    ASSERT_EQ(Shell(Purpose::kBuild,
                    "git init -q . && git config user.name a && "
                    "git config user.email a@b"),
              0);
    const fs::path evil = project_ / "evil";
    pa::testing::WriteText(evil, "#!/bin/sh\ntouch '" + (project_ / "ran").string() + "'\n");
    fs::permissions(evil, fs::perms::all);
    for (const char* hook : {"pre-commit", "commit-msg", "post-commit", "post-index-change"}) {
      fs::copy(evil, project_ / ".git/hooks" / hook);
    }
    ASSERT_EQ(Shell(Purpose::kBuild, "git config core.fsmonitor '" + evil.string() +
                                         "' && git config filter.x.clean '" + evil.string() + "'"),
              0);
    pa::testing::WriteText(project_ / ".gitattributes", "*.c filter=x\n");
    pa::testing::WriteText(project_ / "a.c", "int a;\n");
    fs::remove(project_ / "ran");
  }

  int abi_ = 0;
};

TEST_F(GrantsRunTest, CompilersAndShellsWork) {
  EXPECT_EQ(
      Shell(Purpose::kBuild, "echo 'all: ; @echo hi' > Makefile && make && ls -l /usr && date"), 0);
  EXPECT_EQ(Shell(Purpose::kBuild, "id -un || id -u"), 0);
  EXPECT_EQ(Shell(Purpose::kBuild, "cat '" + (home_ / ".ssh/id").string() + "'"), 1);
  EXPECT_NE(Shell(Purpose::kBuild, "echo x > '" + (home_ / "new").string() + "'"), 0);
  EXPECT_EQ(Shell(Purpose::kBuild, "echo x > new"), 0);
  EXPECT_NE(Shell(Purpose::kInspect, "echo x > new2"), 0);
  EXPECT_EQ(Shell(Purpose::kInspect, "cat new"), 0);
}

TEST_F(GrantsRunTest, HooksRunWhereThePolicyLetsThem) {
  PoisonedRepository();
  Run(Purpose::kGit, {"git", "add", "--", "a.c"});
  EXPECT_TRUE(fs::exists(project_ / "ran"));
}

TEST_F(GrantsRunTest, GitAloneWorksAndTheRepositoryRunsNothing) {
  PoisonedRepository();
  EXPECT_EQ(Run(Purpose::kGitAlone, {"git", "add", "--", "a.c"}), 0);
  EXPECT_EQ(
      Run(Purpose::kGitAlone, {"git", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "x"}),
      0);
  Run(Purpose::kGitAlone, {"git", "commit", "-q", "--allow-empty", "-m", "hooks on"});
  EXPECT_FALSE(fs::exists(project_ / "ran"));
  EXPECT_EQ(Run(Purpose::kGit, {"git", "rev-parse", "-q", "--verify", "HEAD"}), 0);
}

TEST_F(GrantsRunTest, GitReadsTheIdentityAndNothingOfTheProject) {
  const std::string config = home_ / ".gitconfig";
  EXPECT_EQ(Run(Purpose::kGitIdentity, {"git", "config", "--file", config, "user.name"}), 0);
  pa::testing::WriteText(project_ / "c", "[user]\n\tname = Eve\n");
  EXPECT_NE(Run(Purpose::kGitIdentity, {"git", "config", "--file", project_ / "c", "user.name"}),
            0);
}

}  // namespace
}  // namespace pa::policy
