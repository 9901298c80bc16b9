#include "policy/warnings.h"

#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

class WarningsTest : public PolicyTest {
 protected:
  std::string Warnings(const std::string& user) {
    User(user);
    EXPECT_NE(Load(), nullptr);
    return warnings_;
  }
};

TEST_F(WarningsTest, AnOrdinaryPolicyHasNone) {
  std::filesystem::create_directories(home_ / ".ssh");
  std::filesystem::create_directories(home_ / "data");
  EXPECT_EQ(Warnings("roots: [~/src]\nfilesystem: {read: [~/data], write: [/srv/cache]}"), "");
}

TEST_F(WarningsTest, SecretsThatAreGranted) {
  std::filesystem::create_directories(home_ / ".ssh");
  pa::testing::WriteText(home_ / ".cargo/credentials.toml", "token");
  EXPECT_EQ(Warnings("filesystem: {read: [~/.ssh/id]}"),
            "user.yaml:2:21: 'home/.ssh/id' gives commands the secrets in home/.ssh\n");
  EXPECT_EQ(Warnings("filesystem: {write: [~/.cargo]}"),
            "user.yaml:2:22: 'home/.cargo' gives commands the secrets in "
            "home/.cargo/credentials.toml\n");
}

TEST_F(WarningsTest, WholeHomesAndSystems) {
  EXPECT_EQ(
      Warnings("filesystem: {read: [\"~\"]}"),
      "user.yaml:2:21: 'home' gives commands the whole home, with every key and token in it\n");
  EXPECT_NE(Warnings("filesystem: {read: [/]}").find("the whole home"), std::string::npos);
  EXPECT_NE(Warnings("filesystem: {read: [/etc]}").find("what /etc hides"), std::string::npos);
}

TEST_F(WarningsTest, TheHomeAsARoot) {
  sources_.roots = {home_};
  EXPECT_EQ(
      Warnings(""),
      "--root: 'home' gives commands the whole home, with every key and token in it, as a root "
      "of calls; name a project's directory instead\n");
}

TEST_F(WarningsTest, ARootThatHoldsSecrets) {
  std::filesystem::create_directories(home_ / ".config/gh");
  sources_.roots = {home_ / ".config"};
  EXPECT_EQ(Warnings(""),
            "--root: 'home/.config' gives commands the secrets in home/.config/gh, as a root of "
            "calls; name a project's directory instead\n");
}

// Whether this machine has the daemons or not.
TEST_F(WarningsTest, AnAuditLogThatNobodyTakes) {
  for (const auto& [to, socket] :
       {std::pair("journal", "/run/systemd/journal/socket"), std::pair("syslog", "/dev/log")}) {
    const std::string warnings = Warnings(std::string("audit: {to: ") + to + "}");
    const std::string expected = std::filesystem::is_socket(socket)
                                     ? ""
                                     : std::string("audit.to: no daemon has made ") + socket +
                                           ": without it no call can be recorded, and so none "
                                           "runs; start it, or write audit: {to: file}\n";
    EXPECT_EQ(warnings, expected);
  }
  EXPECT_EQ(Warnings("audit: {to: file}"), "");
}

TEST_F(WarningsTest, FilesOfAPackageStore) {
  pa::testing::WriteText(base_ / "store/a.js", "1");
  std::filesystem::create_directories(project_ / "node_modules/a");
  pa::testing::WriteText(project_ / "node_modules/a/copied.js", "1");
  EXPECT_EQ(Warnings(""), "");
  std::filesystem::create_hard_link(base_ / "store/a.js", project_ / "node_modules/a/linked.js");
  EXPECT_TRUE(Warnings("").starts_with(
      "roots: 'home/src/project/node_modules/a/linked.js' is a hard link: "))
      << warnings_;
  EXPECT_NE(warnings_.find("changes the package store"), std::string::npos);
  // Names are the agent's, and terminals obey them.
  std::filesystem::rename(project_ / "node_modules/a/linked.js",
                          project_ / "node_modules/a/\x1b[2J\n.js");
  EXPECT_NE(Warnings("").find("a/?[2J?.js"), std::string::npos) << warnings_;
}

TEST_F(WarningsTest, RaisedLimitsHaveNoPrice) {
  EXPECT_EQ(Warnings("limits: {memory: 8GiB, queue: 99}"), "");
}

}  // namespace
}  // namespace pa::policy
