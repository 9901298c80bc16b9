#include "policy/access.h"

#include <filesystem>

#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

using sandbox::Access;

class AccessTest : public PolicyTest {
 protected:
  const std::string home() const { return home_; }
  const std::string base() const { return base_; }
  const std::string project() const { return project_; }
};

TEST_F(AccessTest, TheNarrowestGrantThatGivesTheRight) {
  std::filesystem::create_directory_symlink(project(), base() + "/link");
  const GrantedPaths granted(
      {{base(), sandbox::kReadWrite, "wide"}, {base() + "/link", Access::kRead, "narrow"}});
  EXPECT_EQ(granted.Find(project() + "/x", Access::kRead)->reason, "narrow");
  EXPECT_EQ(granted.Find(base() + "/x", Access::kRead)->reason, "wide");
  EXPECT_EQ(granted.Find(project() + "/x", Access::kWrite)->reason, "wide");
  EXPECT_EQ(granted.Find(project() + "/x", Access::kExecute), nullptr);
  EXPECT_EQ(granted.Find(base() + "x", Access::kRead), nullptr);
}

TEST_F(AccessTest, WhatIsGrantedAndTheWayThere) {
  const GrantedPaths granted({{project(), Access::kRead, ""}});
  EXPECT_TRUE(granted.LeadTo(project() + "/x"));
  EXPECT_TRUE(granted.LeadTo(project()));
  EXPECT_TRUE(granted.LeadTo(home()));
  EXPECT_TRUE(granted.LeadTo("/"));
  EXPECT_FALSE(granted.LeadTo((home() + "/x")));
  EXPECT_FALSE(granted.LeadTo(project() + "x"));
}

TEST_F(AccessTest, Lines) {
  Policy policy;
  policy.home = "/h/ann";
  policy.unwritable = {"/srv/pa/policy.yaml"};
  const auto line = [&](const char* path, Access right) {
    const Suggestion suggested = SuggestGrant(policy, path, right);
    EXPECT_NE(suggested.line.empty(), suggested.why_none.empty()) << path;
    return suggested.line;
  };
  EXPECT_EQ(line("/a b", Access::kRead), R"(filesystem: {read: ["/a b"]})");
  EXPECT_EQ(line("/a", Access::kWrite), R"(filesystem: {write: ["/a"]})");
  EXPECT_EQ(line("/a", Access::kExecute), R"(filesystem: {read: ["/a"]})");
  EXPECT_EQ(line("/a\"\\", Access::kRead), R"(filesystem: {read: ["/a\"\\"]})");
  EXPECT_EQ(line("/a/$x", Access::kRead), "") << "no policy can write it";
  EXPECT_EQ(line("/a/\xFF", Access::kRead), "") << "the line would name another path";
  EXPECT_EQ(line("/a/\xEF\xBB\xBF", Access::kRead), "") << "no policy can write it";
  EXPECT_EQ(line("/a/\xC3\xBC", Access::kRead), "filesystem: {read: [\"/a/\xC3\xBC\"]}");
  EXPECT_EQ(line("/", Access::kWrite), "") << "nobody should write it";
  for (const char* path :
       {"/h/ann", "/h", "/home", "/home/bob", "/root", "/etc", "/etc/shadow", "/dev/kvm", "/dev"}) {
    EXPECT_EQ(line(path, Access::kRead), "") << path;
  }
  for (const char* path : {"/h/ann/src", "/home/bob/src", "/etc/fstab", "/dev/shm/x"}) {
    EXPECT_NE(line(path, Access::kRead), "") << path;
  }
  EXPECT_EQ(line("/srv/pa", Access::kWrite), "") << "the policy would not load";
  EXPECT_NE(line("/srv/pa", Access::kRead), "");
  EXPECT_NE(line("/srv/other", Access::kWrite), "");
}

TEST_F(AccessTest, NetworksThatAreShownCanBeAskedFor) {
  EXPECT_EQ(NetworkLine(false), "network: full");
  for (const bool loopback : {false, true}) {
    User(NetworkLine(loopback));
    EXPECT_NE(Load()->network, sandbox::Network::kNone);
  }
}

TEST_F(AccessTest, Prices) {
  std::filesystem::create_directory(home() + "/.ssh");
  EXPECT_EQ(PriceOf(project(), home()), "");
  EXPECT_NE(PriceOf(home() + "/.ssh/id", home()).find("secrets in"), std::string::npos);
  EXPECT_EQ(PriceOf(home() + "/.netrc", home()), "") << "there is none";
  EXPECT_NE(PriceByName(home() + "/.netrc", home()).find("secrets in"), std::string::npos);
  EXPECT_NE(PriceOf(home(), home()).find("whole home"), std::string::npos);
  EXPECT_NE(PriceOf("/etc", home()).find("/etc hides"), std::string::npos);
  EXPECT_EQ(PriceOf("/srv/x", ""), "");
}

TEST_F(AccessTest, WhatNoGrantShows) {
  for (const char* path :
       {"/proc/1/environ", "/proc/42/mem", "/proc/1/root/etc/passwd", "/proc/1/cwd", "/proc/1/fd/3",
        "/proc/1/task/2/maps", "/proc/1/ns/net"}) {
    EXPECT_TRUE(WhatNeverShows(path).starts_with("landlock:")) << path;
  }
  for (const char* path :
       {"/proc/self/environ", "/proc/1/status", "/proc/1/cmdline", "/proc/1/fd", "/proc/environ",
        "/proc/1", "/proc", "/x/proc/1/environ", "proc/1/environ", "/proc/1x/environ", "", "/",
        "/proc/1/task/2/status"}) {
    EXPECT_EQ(WhatNeverShows(path), "") << path;
  }
  EXPECT_TRUE(WhatNeverShows("/proc/kmsg").starts_with("capabilities:"));
  EXPECT_EQ(WhatNeverShows("/proc/kmsgs"), "");
}

}  // namespace
}  // namespace pa::policy
