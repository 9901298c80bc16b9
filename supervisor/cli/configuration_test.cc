#include "supervisor/cli/configuration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

TEST(Configuration, TemporaryFilesLieWhereNoCommandCanWrite) {
  policy::Policy policy{.roots = {"/src"}};
  const auto base = [&](const Environment& environment) {
    return TemporaryBase(policy, environment).value_or("none");
  };
  EXPECT_EQ(base({{"TMPDIR", "/scratch"}}), "/scratch");
  EXPECT_EQ(base({{"TMPDIR", "relative"}}), "/tmp");
  EXPECT_EQ(base({}), "/tmp");
  EXPECT_EQ(base({{"TMPDIR", "/src/tmp"}}), "/tmp");
  policy.filesystem = {{"/tmp", sandbox::kReadWriteExecute, "filesystem.write"}};
  EXPECT_EQ(base({{"TMPDIR", "/src/tmp"}}), "/var/tmp");
  EXPECT_EQ(base({{"TMPDIR", "/scratch"}}), "/scratch");
  policy.filesystem.push_back({"/var", sandbox::kReadWriteExecute, "filesystem.write"});
  const Result<std::string> nowhere = TemporaryBase(policy, {{"TMPDIR", "/src/tmp"}});
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().Message().find("/src/tmp, /tmp, /var/tmp"), std::string::npos)
      << nowhere.error().Message();
}

// Whatever is believed or executed is asked about: our program, the worker, the clients, what is
// preloaded.
TEST(Configuration, AnchorsAreAllNamed) {
  CommonOptions options;
  const Environment environment = {{"HOME", "/home/a"},
                                   {"CODEX_HOME", "/codex"},
                                   {"LD_LIBRARY_PATH", "/lib1:lib2;"},
                                   {"LD_PRELOAD", "/preload.so plain.so"},
                                   {"LD_AUDIT", "./audit.so:plain.so:"}};
  const auto paths = [&](policy::TrustAnchor::Kind kind) {
    std::vector<std::string> found;
    for (const policy::TrustAnchor& anchor : SourcesOf(options, environment).anchors) {
      if (anchor.kind == kind) found.push_back(anchor.path);
    }
    return found;
  };
  using enum policy::TrustAnchor::Kind;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::vector<std::string> executables = paths(kExecutable);
  EXPECT_EQ(executables.at(0), self);
  // The name by which we were started, if it is another one.
  EXPECT_LE(executables.size(), 2u);
  EXPECT_EQ(std::ranges::count(executables, self), 1);
  EXPECT_EQ(std::filesystem::canonical(executables.back()), self);
  EXPECT_EQ(paths(kWorker).size(), 2u) << "beside us, and where it is installed";
  const std::string here = StartDirectory();
  EXPECT_EQ(paths(kLibraries), (std::vector<std::string>{"/lib1", here + "/lib2", here,
                                                         "/preload.so", here + "/./audit.so"}));
  const std::vector<std::string> clients = paths(kClient);
  for (const char* path : {"/home/a/.mcp.json", "/home/a/.config/Claude/claude_desktop_config.json",
                           "/home/a/.vscode/mcp.json", "/home/a/.cursor/mcp.json",
                           "/codex/config.toml", "/home/a/.gemini/settings.json",
                           "/home/a/.claude/settings.json", "/home/a/.config/Code/User/mcp.json"}) {
    EXPECT_EQ(std::ranges::count(clients, path), 1) << path;
  }
  options.worker = "/elsewhere/worker";
  EXPECT_EQ(paths(kWorker), std::vector<std::string>{"/elsewhere/worker"});
}

TEST(Configuration, SourcesFollowTheContract) {
  CommonOptions options;
  options.roots = {"/r"};
  options.enable = {"make"};
  const Environment environment = {{"HOME", "/home/a"},
                                   {"PROJECT_ACTIONS_POLICY", "/p.yaml"},
                                   {"PROJECT_ACTIONS_MAX_COMMIT_SIZE", "32768"},
                                   {"ENABLE_ADDITIONAL_TOOLS", "git_add"}};
  auto sources = SourcesOf(options, environment);
  EXPECT_EQ(sources.user_file, "/p.yaml");
  EXPECT_EQ(sources.default_user_file, "/home/a/.config/project-actions/policy.yaml");
  EXPECT_EQ(sources.env_enable, "git_add");
  EXPECT_EQ(sources.env_commit_size, "32768");
  EXPECT_EQ(sources.roots, std::vector<std::string>{"/r"});
  EXPECT_NE(std::find(sources.known_tools.begin(), sources.known_tools.end(), "make_targets"),
            sources.known_tools.end());
  const auto& always_on = sources.read_only_tools;
  EXPECT_NE(std::find(always_on.begin(), always_on.end(), "read"), always_on.end());
  EXPECT_EQ(std::find(always_on.begin(), always_on.end(), "make"), always_on.end());

  options.policy_file = "/cli.yaml";  // stronger than the environment
  EXPECT_EQ(SourcesOf(options, environment).user_file, "/cli.yaml");
}

TEST(Configuration, RelativeConfigHomeIsIgnored) {
  EXPECT_EQ(SourcesOf({}, {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "x"}}).default_user_file,
            "/h/.config/project-actions/policy.yaml");
  EXPECT_EQ(SourcesOf({}, {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}}).default_user_file,
            "/x/project-actions/policy.yaml");
}

TEST(Configuration, AWorkerThatIsNotThereIsAnError) {
  EXPECT_EQ(FindWorker("/nonexistent/worker").error().sys_errno, ENOENT);
  EXPECT_EQ(FindWorker("/bin/true"), "/bin/true");
}

TEST(CheckProcTest, WithoutProcThatIsSaid) {
  EXPECT_TRUE(CheckProc().has_value());
  const testing::TempDir root;
  const Result<void> missing = CheckProc(root.path().string());
  ASSERT_FALSE(missing.has_value());
  EXPECT_TRUE(missing.error().Message().starts_with("/proc is missing"));
}

}  // namespace
}  // namespace pa
