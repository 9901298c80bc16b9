#include "policy/layers.h"

#include <sys/stat.h>

#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;

class LayersTest : public PolicyTest {};

TEST_F(LayersTest, ANamedFileMustExistAndReplacesTheDefaultOne) {
  User("limits: {queue: 1}");
  Write("named.yaml", "limits: {concurrent: 2}");
  sources_.user_file = base_ / "named.yaml";
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->limits.concurrent, 2u);
  EXPECT_EQ(policy->limits.queue, 64u);
  sources_.user_file = base_ / "none.yaml";
  EXPECT_EQ(Faults(), "none.yaml: the policy cannot be read: No such file or directory\n");
}

TEST_F(LayersTest, AFileThatIsNoRegularFileIsRefused) {
  fs::create_directory(base_ / "administrator.yaml");
  EXPECT_NE(Faults().find("administrator.yaml: the policy cannot be read"), std::string::npos);
  fs::remove(base_ / "administrator.yaml");
  ASSERT_EQ(mkfifo((base_ / "user.yaml").c_str(), 0600), 0);
  EXPECT_NE(Faults().find("user.yaml: the policy cannot be read"), std::string::npos);
}

TEST_F(LayersTest, FaultsOfAllFilesAreTold) {
  Administrator("limts: {}");
  User("network: ful");
  const std::string faults = Faults();
  EXPECT_NE(faults.find("administrator.yaml:2:1: unknown key 'limts'"), std::string::npos);
  EXPECT_NE(faults.find("user.yaml:2:10: 'network' must be"), std::string::npos);
}

TEST_F(LayersTest, RootsOfTheCommandLineStandForThemselves) {
  fs::create_directories(home_ / "other");
  User("roots: [~/src]");
  sources_.roots = {"../../other", "."};
  const PolicyPtr policy = Load();
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->roots, (std::vector<std::string>{project_, home_ / "other"}))
      << "the one in which the server is started comes first";
}

TEST_F(LayersTest, RootsMustBeDirectories) {
  sources_.roots = {"/nonexistent/x", ""};
  EXPECT_EQ(Faults(),
            "--root: the root '/nonexistent/x' is not a directory\n"
            "--root: the root '' is not a directory\n");
  sources_.roots = {};
  User("roots: [~/none]");
  EXPECT_EQ(Faults(), "user.yaml:2:9: the root 'home/none' is not a directory\n");
  User("roots: []");
  EXPECT_EQ(Faults(), "user.yaml:2:1: 'roots' names no directory\n");
}

TEST_F(LayersTest, UnknownToolsOfTheEnvironmentAndCommandLineAreFaults) {
  sources_.env_enable = "git_ad";
  sources_.enable = {"mak"};
  EXPECT_EQ(Faults(),
            "--enable: unknown tool 'mak' - did you mean 'make'?\n"
            "ENABLE_ADDITIONAL_TOOLS: unknown tool 'git_ad' - did you mean 'git_add'?\n");
}

TEST_F(LayersTest, TheCommitSizeOfTheEnvironmentIsInBytesOrHasAUnit) {
  User("limits: {commit_message: 64KiB}");
  const struct {
    const char* text;
    std::uint64_t bytes;
  } sizes[] = {{"32768", 32768},    {"1", 1},           {"32KiB", 32768},
               {"5B", 5},           {"1MiB", 1u << 20}, {"67108864", 64u << 20},
               {"64MiB", 64u << 20}};
  for (const auto& size : sizes) {
    sources_.env_commit_size = size.text;
    const PolicyPtr policy = Load();
    ASSERT_NE(policy, nullptr) << size.text;
    EXPECT_EQ(policy->limits.commit_message, size.bytes) << size.text;
  }
  for (const char* wrong : {"", "0", "0KiB", "-1", "+1", " 1", "1 ", "1KB", "1k", "KiB", "1.5",
                            "0x10", "1e3", "67108865", "65MiB", "99999999999999999999"}) {
    sources_.env_commit_size = wrong;
    EXPECT_EQ(Faults(),
              std::string("PROJECT_ACTIONS_MAX_COMMIT_SIZE: expected bytes or a size from 1B to "
                          "64MiB, such as 32768 or 32KiB, found '") +
                  wrong + "'\n");
  }
}

}  // namespace
}  // namespace pa::policy
