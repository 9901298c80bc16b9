#include "policy/toolchains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "policy/path.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;

class ToolchainsTest : public ::testing::Test {
 protected:
  ToolchainsTest() : home_(fs::canonical(directory_.path())) {}

  std::vector<std::string> Paths(const std::map<std::string, std::string>& environment = {}) {
    std::vector<std::string> paths;
    for (const sandbox::PathGrant& grant : FindToolchains(home_, environment).grants) {
      EXPECT_EQ(grant.access, sandbox::kReadExecute);
      paths.push_back(grant.path);
    }
    return paths;
  }
  bool Covered(const std::string& path) {
    return std::ranges::any_of(Paths(),
                               [&](const std::string& grant) { return IsBeneath(path, grant); });
  }

  pa::testing::TempDir directory_;
  fs::path home_;
};

TEST_F(ToolchainsTest, OnlyWhatExistsIsGranted) {
  EXPECT_TRUE(Paths().empty());
  fs::create_directories(home_ / ".cargo/bin");
  fs::create_directories(home_ / "go/pkg");
  EXPECT_EQ(Paths(), (std::vector<std::string>{home_ / ".cargo/bin", home_ / "go/pkg"}));
}

TEST_F(ToolchainsTest, TheSecretsBesideThemStayShut) {
  for (const char* part :
       {".cargo/bin", ".cargo/registry", ".m2/repository", ".gradle/wrapper/dists", ".gem/ruby",
        ".composer/vendor", ".local/bin", ".local/share/uv/tools"}) {
    fs::create_directories(home_ / part);
    EXPECT_TRUE(Covered(home_ / part / "x")) << part;
  }
  for (const std::string& secret : SecretPaths(home_)) {
    pa::testing::WriteText(secret + (fs::path(secret).has_extension() ? "" : "/key"), "secret");
    EXPECT_FALSE(Covered(secret)) << secret;
  }
  EXPECT_FALSE(Covered(home_ / ".local/share/uv/credentials"));
  EXPECT_FALSE(Covered(home_ / ".cargo/credentials.toml"));
  EXPECT_FALSE(Covered(home_));
}

TEST_F(ToolchainsTest, AVariableMovesThem) {
  fs::create_directories(home_ / ".cargo/bin");
  fs::create_directories(home_ / "moved/bin");
  const std::string moved = home_ / "moved";
  EXPECT_EQ(Paths({{"CARGO_HOME", moved}}), std::vector<std::string>{moved + "/bin"});
  EXPECT_EQ(FindToolchains(home_, {{"CARGO_HOME", moved}}).variables,
            std::vector<std::string>{"CARGO_HOME"});
  EXPECT_TRUE(FindToolchains(home_, {}).variables.empty());
}

TEST_F(ToolchainsTest, ButNotToTheHomeOrAboveItNorToARelativePlace) {
  fs::create_directories(home_ / ".pyenv/versions");
  fs::create_directories(home_ / "versions");
  const std::vector<std::string> usual = {home_ / ".pyenv/versions"};
  for (const std::string& place : {home_.string(), std::string("/"), std::string("versions"),
                                   home_.parent_path().string(), std::string()}) {
    EXPECT_EQ(Paths({{"PYENV_ROOT", place}}), usual) << place;
  }
}

TEST_F(ToolchainsTest, SymlinksAreGrantedWhereTheyLead) {
  fs::create_directories(home_ / "disk/rustup/toolchains");
  fs::create_directory_symlink(home_ / "disk/rustup", home_ / ".rustup");
  EXPECT_EQ(Paths(), std::vector<std::string>{home_ / "disk/rustup/toolchains"});
}

TEST_F(ToolchainsTest, NoHomeNoToolchains) { EXPECT_TRUE(FindToolchains("", {}).grants.empty()); }

}  // namespace
}  // namespace pa::policy
