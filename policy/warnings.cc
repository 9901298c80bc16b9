#include "policy/warnings.h"

#include <filesystem>

#include "policy/access.h"
#include "policy/path.h"

namespace pa::policy {
namespace {

// A path of the policy that has its price is granted all the same: whoever wrote it may have reasons,
// and a sandbox that knows better is switched off.
void WarnOfPaths(const std::optional<Located<Strings>>& paths, const std::string& home,
                 std::vector<Diagnostic>& warnings) {
  for (const Located<std::string>& path : paths->value) {
    const std::string why = PriceOf(path.value, home);
    if (!why.empty()) warnings.emplace_back(path.at, "'" + path.value + "' " + why);
  }
}

}  // namespace

std::vector<Diagnostic> FindWarnings(const PolicyFragment& merged, const Policy& policy,
                                     const std::vector<std::string>& files) {
  std::vector<Diagnostic> warnings;
  WarnOfPaths(merged.filesystem_read, policy.home, warnings);
  WarnOfPaths(merged.filesystem_write, policy.home, warnings);
  for (const std::string& root : policy.roots) {
    if (!policy.home.empty() && root == ResolvePath(policy.home)) {
      warnings.emplace_back(merged.roots->at,
                            "the home itself is a root: commands that work in it can read and "
                            "write everything there; name a project's directory instead");
    }
    for (const std::string& file : files) {
      if (!IsBeneath(ResolvePath(std::filesystem::absolute(file)), root)) continue;
      warnings.emplace_back(Place{file}, "lies within the root " + root +
                                             ": commands that work there can change this policy");
    }
  }
  return warnings;
}

}  // namespace pa::policy
