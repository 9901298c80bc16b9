#include "policy/grants.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/words.h"
#include "policy/caches.h"
#include "policy/glob.h"
#include "policy/path.h"
#include "policy/trust_anchors.h"

namespace pa::policy {
namespace {

using sandbox::Access;
using sandbox::PathGrant;

using Grants = std::vector<PathGrant>;

void Append(Grants& to, const Grants& more) { to.insert(to.end(), more.begin(), more.end()); }

Access Without(Access access, Access removed) {
  return static_cast<Access>(static_cast<unsigned>(access) & ~static_cast<unsigned>(removed));
}

Grants Restricted(Grants grants, Access removed) {
  for (PathGrant& grant : grants) {
    const bool device = sandbox::Has(grant.access, Access::kDevice);  // /dev/null stays writable
    if (!device) grant.access = Without(grant.access, removed);
  }
  return grants;
}

PathGrant WorkingTree(const std::string& directory, Access access) {
  return {directory, access, "working directory", sandbox::Symlinks::kRefuse};
}

Grants BuildGrants(const Policy& policy, const std::string& directory) {
  Grants grants;
  // Some more for what a repository adds: this is made for each call.
  grants.reserve(policy.system.size() + policy.system_network.size() + policy.filesystem.size() +
                 8);
  Append(grants, policy.system);
  if (policy.network == sandbox::Network::kFull) Append(grants, policy.system_network);
  grants.push_back(WorkingTree(directory, sandbox::kReadWriteExecute));
  Append(grants, policy.filesystem);
  if (auto cache = CacheGrant(policy.caches, directory, sandbox::kReadWriteExecute)) {
    grants.push_back(*std::move(cache));
  }
  return grants;
}

Grants InspectGrants(const Policy& policy, const std::string& directory) {
  Grants grants = policy.system;
  grants.push_back(WorkingTree(directory, sandbox::kReadExecute));
  Append(grants, Restricted(policy.filesystem, Access::kWrite));
  // $(shell go list ./...) looks into it.
  if (auto cache = CacheGrant(policy.caches, directory, sandbox::kReadExecute)) {
    grants.push_back(*std::move(cache));
  }
  return grants;
}

// Landlock asks with every file that is opened whether it may be truncated later, and looks for
// that right up to the root of the file system. Granted beside the right to read it is found at
// once, and gives nothing: nothing of a search may truncate (sandbox::SeccompProfile::kSearch,
// docs/adr/0026).
Grants SearchGrants(const Policy& policy, const std::string& directory) {
  Grants grants = policy.system;
  grants.push_back(WorkingTree(directory, Access::kRead | Access::kTruncate));
  Append(grants, Restricted(policy.filesystem, Access::kWrite));
  return grants;
}

// What the repository holds or names is executed: hooks and filters.
Grants GitGrants(const Policy& policy, const std::string& directory) {
  Grants grants = policy.system;
  grants.push_back(WorkingTree(directory, sandbox::kReadWriteExecute));
  Append(grants, policy.filesystem);
  // Hooks build and test, and frameworks of hooks keep their programs there.
  if (auto cache = CacheGrant(policy.caches, directory, sandbox::kReadWriteExecute)) {
    grants.push_back(*std::move(cache));
  }
  return grants;
}

// Nothing that the repository holds or names can be executed, whatever git is made to start: a
// hook, a filter, an fsmonitor, a signing program. Reading is enough to map libraries.
Grants GitAloneGrants(const Policy& policy, const std::string& directory) {
  Grants grants = Restricted(policy.system, Access::kExecute);
  grants.push_back(WorkingTree(directory, Access::kRead));
  Append(grants, Restricted(policy.filesystem, Access::kExecute | Access::kWrite));
  Append(grants, policy.git_programs);
  return grants;
}

// The files in `directory` that match, but for git-credential-store's.
void AppendConfiguration(Grants& grants, const std::filesystem::path& directory,
                         std::string_view pattern) {
  std::error_code ignored;  // no such directory, no such files
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name == "credentials" || !GlobMatch(pattern, name)) continue;
    grants.push_back({entry.path().string(), Access::kRead, "git configuration of the user"});
  }
}

Grants GitIdentityGrants(const Policy& policy) {
  Grants grants = Restricted(policy.system, Access::kExecute);
  Append(grants, policy.git_programs);
  Append(grants, GitConfigurationGrants(policy.home, policy.config_home));
  return grants;
}

// The loaders of the platforms that distributions are built for; the kernel executes them on the
// program's behalf, so the right to execute the program alone does not start it.
constexpr std::string_view kLoaderDirectories[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64"};
constexpr std::string_view kLoaderNames[] = {"ld-linux*.so.*", "ld-musl-*.so.*", "ld64.so.*"};

void AppendLoaders(Grants& grants) {
  for (std::string_view directory : kLoaderDirectories) {
    std::error_code ignored;  // no such directory, no loader in it
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().filename().string();
      for (std::string_view pattern : kLoaderNames) {
        if (!GlobMatch(pattern, name)) continue;
        PathGrant loader{ResolvePath(entry.path().string()), sandbox::kReadExecute,
                         "the program loader"};
        if (std::ranges::find(grants, loader) == grants.end()) grants.push_back(std::move(loader));
      }
    }
  }
}

// The resolved path of the first program of that name; "" if there is none.
std::string FindOnPath(const std::string& name, std::string_view path, const Policy& policy) {
  for (const std::string_view entry : PathEntries(path)) {
    if (!entry.starts_with('/')) continue;  // of the current directory, which is a command's
    const std::string candidate = std::string(entry) + '/' + name;
    if (access(candidate.c_str(), X_OK) != 0) continue;
    if (!WhereCommandsWrite(policy, candidate)) return ResolvePath(candidate);
  }
  return "";
}

}  // namespace

Grants GitConfigurationGrants(const std::string& home, const std::string& config_home) {
  Grants grants;
  if (!home.empty()) AppendConfiguration(grants, home, ".gitconfig*");
  if (!config_home.empty()) AppendConfiguration(grants, config_home + "/git", "*");
  return grants;
}

Grants GrantsFor(const Policy& policy, Purpose purpose, const std::string& directory) {
  switch (purpose) {
    case Purpose::kInspect:
      return InspectGrants(policy, directory);
    case Purpose::kSearch:
      return SearchGrants(policy, directory);
    case Purpose::kBuild:
      return BuildGrants(policy, directory);
    case Purpose::kGit:
    case Purpose::kGitCopy:
      return GitGrants(policy, directory);
    case Purpose::kGitAlone:
      return GitAloneGrants(policy, directory);
    case Purpose::kGitIdentity:
      return GitIdentityGrants(policy);
    case Purpose::kWriteFile:
      return {WorkingTree(directory, sandbox::kReadWrite)};
    case Purpose::kReadFile:
      return {WorkingTree(directory, Access::kRead)};
  }
  return {};
}

Grants ForPurpose(Purpose purpose, Grants grants) {
  return purpose == Purpose::kGitAlone ? Restricted(std::move(grants), Access::kExecute) : grants;
}

sandbox::Network NetworkFor(const Policy& policy, Purpose purpose) {
  return purpose == Purpose::kBuild ? policy.network : sandbox::Network::kNone;
}

bool ReachLog(const Grants& grants, const Policy& policy) {
  const std::string log = policy.audit.Directory();
  return !log.empty() && std::ranges::any_of(grants, [&](const sandbox::PathGrant& grant) {
    return IsBeneath(log, grant.path);
  });
}

Grants FindGitPrograms(const std::string& path, const Policy& policy) {
  Grants grants;
  const std::string program = FindOnPath("git", path, policy);
  if (program.empty()) return grants;
  grants.push_back({program, sandbox::kReadExecute, "git"});
  const std::filesystem::path prefix = std::filesystem::path(program).parent_path().parent_path();
  for (const char* directory : {"lib/git-core", "libexec/git-core"}) {
    const std::string core = (prefix / directory).string();
    if (access(core.c_str(), X_OK) != 0) continue;
    grants.push_back({ResolvePath(core), sandbox::kReadExecute, "git's own programs"});
  }
  AppendLoaders(grants);
  return grants;
}

}  // namespace pa::policy
