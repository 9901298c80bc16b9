#include "policy/ceiling.h"

#include <algorithm>

#include "policy/decide.h"
#include "policy/grants.h"
#include "policy/path.h"
#include "policy/protected_paths.h"

namespace pa::policy {
namespace {

using sandbox::Access;
using sandbox::PathGrant;

void Append(std::vector<PathGrant>& to, const std::vector<PathGrant>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Mounts are compared by resolved names.
void AppendResolved(std::vector<PathGrant>& grants) {
  for (std::size_t i = 0, count = grants.size(); i < count; ++i) {
    std::string resolved = ResolvePath(grants[i].path);
    if (resolved == grants[i].path) continue;
    PathGrant again = grants[i];
    again.path = std::move(resolved);
    grants.push_back(std::move(again));
  }
}

std::vector<PathGrant> Commands(const Policy& policy, const std::string& state) {
  std::vector<PathGrant> grants = policy.system;
  if (policy.network == sandbox::Network::kFull) Append(grants, policy.system_network);
  Append(grants, policy.filesystem);
  Append(grants, policy.git_programs);
  for (const std::string& root : policy.roots) {
    grants.push_back({root, sandbox::kReadWriteExecute, "root", sandbox::Symlinks::kRefuse});
  }
  if (!policy.caches.base.empty()) {
    grants.push_back(
        {policy.caches.base, sandbox::kReadWriteExecute, "caches", sandbox::Symlinks::kRefuse});
  }
  // The name and email for git, the trash, copies of a repository for hooks.
  for (const char* name : {"/caches", "/trash", "/copies"}) {
    if (state.empty()) break;
    grants.push_back(
        {state + name, sandbox::kReadWriteExecute, "state", sandbox::Symlinks::kRefuse});
  }
  grants.push_back({"/dev/tty", Access::kRead | Access::kWrite | Access::kDevice, "terminal"});
  AppendResolved(grants);
  return grants;
}

std::vector<PathGrant> Chores(const Policy& policy, const std::string& state) {
  std::vector<PathGrant> grants;
  for (const PathGrant& grant : policy.filesystem) {
    if (sandbox::Has(grant.access, Access::kDevice)) continue;
    PathGrant one = grant;
    one.access = sandbox::Has(grant.access, Access::kWrite) ? sandbox::kReadWrite : Access::kRead;
    grants.push_back(std::move(one));
  }
  for (const std::string& root : policy.roots) {
    grants.push_back({root, sandbox::kReadWrite, "root", sandbox::Symlinks::kRefuse});
  }
  if (!policy.caches.base.empty()) {
    grants.push_back({policy.caches.base, sandbox::kReadWrite, "caches"});
  }
  if (!state.empty()) grants.push_back({state, sandbox::kReadWrite, "state"});
  AppendResolved(grants);
  return grants;
}

std::vector<std::string> Different(const Programs& programs) {
  std::vector<std::string> different;
  for (const auto* program : {&programs.build, &programs.inspect, &programs.search,
                              &programs.no_network, &programs.files, &programs.changes}) {
    if (*program == nullptr || (*program)->empty()) continue;
    if (std::ranges::find(different, **program) == different.end()) different.push_back(**program);
  }
  return different;
}

}  // namespace

Ceiling CeilingOf(const Policy& policy, const std::string& state) {
  return {.commands = Commands(policy, state),
          .chores = Chores(policy, state),
          .network = policy.network,
          .limits = MostLimits(policy),
          .programs = Different(policy.programs),
          .view_programs = Different(policy.view_programs),
          .home = policy.home,
          .config_home = policy.config_home};
}

bool IsWithin(const PathGrant& grant, const std::vector<PathGrant>& most) {
  const auto bits = static_cast<unsigned>(grant.access);
  return std::ranges::any_of(most, [&](const PathGrant& one) {
    unsigned has = static_cast<unsigned>(one.access);
    if (sandbox::Has(one.access, Access::kWrite)) has |= static_cast<unsigned>(Access::kTruncate);
    return (bits & ~has) == 0 && IsBeneath(grant.path, one.path);
  });
}

}  // namespace pa::policy
