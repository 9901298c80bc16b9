#include "policy/system_paths.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "policy/path.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

using sandbox::Access;
using sandbox::PathGrant;

bool Grants(const std::vector<PathGrant>& grants, const std::string& path, Access access) {
  const std::string resolved = ResolvePath(path);
  return std::ranges::any_of(grants, [&](const PathGrant& grant) {
    return sandbox::Has(grant.access, access) && IsBeneath(resolved, grant.path);
  });
}

TEST(SystemPaths, ProgramsAndLibrariesCanBeUsed) {
  const std::vector<PathGrant> grants = SystemPaths();
  for (const char* path : {"/bin/sh", "/usr/bin/env", "/usr/bin/make"}) {
    EXPECT_TRUE(Grants(grants, path, Access::kRead)) << path;
    EXPECT_TRUE(Grants(grants, path, Access::kExecute)) << path;
  }
  for (const char* path : {"/etc/passwd", "/etc/ld.so.cache", "/proc/self/status"}) {
    if (!std::filesystem::exists(path)) continue;  // musl has no ld.so.cache
    EXPECT_TRUE(Grants(grants, path, Access::kRead)) << path;
    EXPECT_FALSE(Grants(grants, path, Access::kExecute)) << path;
  }
}

TEST(SystemPaths, SecretsAndSharedPlacesStayShut) {
  std::vector<PathGrant> grants = SystemPaths();
  std::ranges::copy(NetworkPaths(), std::back_inserter(grants));
  for (const char* path : {"/",
                           "/etc",
                           "/etc/shadow",
                           "/etc/gshadow",
                           "/etc/sudoers",
                           "/etc/sudoers.d/x",
                           "/etc/ssh/ssh_host_ed25519_key",
                           "/etc/ssl/private/key.pem",
                           "/etc/pki/tls/private/key.pem",
                           "/etc/machine-id",
                           "/etc/project-actions/policy.yaml",
                           "/root",
                           "/root/.ssh/id",
                           "/home",
                           "/tmp",
                           "/var/tmp",
                           "/dev",
                           "/dev/shm",
                           "/dev/tty",
                           "/dev/pts",
                           "/dev/pts/0",
                           "/dev/sda",
                           "/run",
                           "/run/docker.sock",
                           "/run/systemd/resolve/io.systemd.Resolve",
                           "/var/lib",
                           "/sys",
                           "/boot"}) {
    EXPECT_FALSE(Grants(grants, path, Access::kRead)) << path;
  }
}

constexpr int kNoNamespaces = 77;

// In namespaces of its own, /etc as another machine may have it.
int TryEtcWithSecrets() {
  const std::string user = "0 " + std::to_string(geteuid()) + " 1";
  const std::string group = "0 " + std::to_string(getegid()) + " 1";
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNoNamespaces;
  pa::testing::WriteText("/proc/self/uid_map", user);
  pa::testing::WriteText("/proc/self/setgroups", "deny");
  pa::testing::WriteText("/proc/self/gid_map", group);
  if (mount("none", "/etc", "tmpfs", 0, "mode=0755") != 0) return kNoNamespaces;
  std::filesystem::create_directory("/etc/R");
  for (const char* path : {"/etc/magic", "/etc/magic-key", "/etc/R/key"}) {
    pa::testing::WriteText(path, "text");
    chmod(path, 0644);
  }
  chmod("/etc/magic-key", 0640);
  chmod("/etc/R", 0750);
  const std::vector<PathGrant> grants = SystemPaths();
  const auto can_read = [&](const char* path) { return Grants(grants, path, Access::kRead); };
  return can_read("/etc/magic") && !can_read("/etc/magic-key") && !can_read("/etc/R/key") ? 0 : 1;
}

// Root's commands could read it.
TEST(SystemPaths, WhatOthersMayNotReadInEtcIsNotGranted) {
  bool tried = true;
  const auto right = [&](int status) {
    tried = WEXITSTATUS(status) != kNoNamespaces;
    return WIFEXITED(status) && (!tried || WEXITSTATUS(status) == 0);
  };
  EXPECT_EXIT(_exit(TryEtcWithSecrets()), right, "");
  if (!tried) GTEST_SKIP() << "no user namespaces here";
}

TEST(SystemPaths, NothingButDevicesCanBeWritten) {
  for (const PathGrant& grant : SystemPaths()) {
    if (!sandbox::Has(grant.access, Access::kWrite)) continue;
    struct stat status{};
    ASSERT_EQ(stat(grant.path.c_str(), &status), 0) << grant.path;
    EXPECT_TRUE(S_ISCHR(status.st_mode)) << grant.path;
  }
  EXPECT_TRUE(Grants(SystemPaths(), "/dev/null", Access::kWrite));
}

TEST(SystemPaths, ExistResolvedEachOnceAndWithAReason) {
  const std::vector<PathGrant> grants = SystemPaths();
  for (const PathGrant& grant : grants) {
    EXPECT_EQ(grant.path, std::filesystem::canonical(grant.path));
    EXPECT_EQ(std::ranges::count(grants, grant.path, &PathGrant::path), 1) << grant.path;
    EXPECT_TRUE(grant.reason.starts_with("system: ")) << grant.path;
  }
}

TEST(SystemPaths, NoFileOfEtcThatOthersMayNotRead) {
  for (const PathGrant& grant : SystemPaths()) {
    if (!grant.path.starts_with("/etc/")) continue;
    struct stat status{};
    ASSERT_EQ(stat(grant.path.c_str(), &status), 0) << grant.path;
    EXPECT_NE(status.st_mode & S_IROTH, 0u) << grant.path;
  }
}

}  // namespace
}  // namespace pa::policy
