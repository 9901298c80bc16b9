#include "policy/system_paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "policy/path.h"

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
