#include "supervisor/environment.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace pa {
namespace {

TEST(Environment, FirstEntryOfANameCountsAndBrokenOnesAreLeftOut) {
  const char* entries[] = {"A=1", "B=x=y", "A=2", "novalue", "=nameless", "C=", nullptr};
  EXPECT_EQ(ReadEnvironment(entries), (Environment{{"A", "1"}, {"B", "x=y"}, {"C", ""}}));
}

TEST(Environment, HomeMustBeAbsolute) {
  EXPECT_EQ(HomeDirectory({{"HOME", "/home/a"}}), "/home/a");
  EXPECT_NE(HomeDirectory({{"HOME", "relative"}}), "relative");
  EXPECT_EQ(HomeDirectory({}), HomeDirectory({{"HOME", ""}}));
}

TEST(Environment, StateHomeMustBeAbsolute) {
  EXPECT_EQ(StateHome({{"HOME", "/home/a"}}), "/home/a/.local/state");
  EXPECT_EQ(StateHome({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "/state"}}), "/state");
  EXPECT_EQ(StateHome({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "state"}}), "/home/a/.local/state");
}

TEST(Environment, SourcesFollowTheContract) {
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

  options.policy_file = "/cli.yaml";  // stronger than the environment
  EXPECT_EQ(SourcesOf(options, environment).user_file, "/cli.yaml");
}

TEST(Environment, RelativeConfigHomeIsIgnored) {
  EXPECT_EQ(SourcesOf({}, {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "x"}}).default_user_file,
            "/h/.config/project-actions/policy.yaml");
  EXPECT_EQ(SourcesOf({}, {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}}).default_user_file,
            "/x/project-actions/policy.yaml");
}

TEST(Environment, AWorkerThatIsNotThereIsAnError) {
  EXPECT_EQ(FindWorker("/nonexistent/worker").error().sys_errno, ENOENT);
  EXPECT_EQ(FindWorker("/bin/true"), "/bin/true");
}

}  // namespace
}  // namespace pa
