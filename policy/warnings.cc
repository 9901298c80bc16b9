#include "policy/warnings.h"

#include <filesystem>
#include <variant>

#include "policy/path.h"

namespace pa::policy {
namespace {

// A path of the policy that has its price is granted all the same: whoever wrote it may have reasons,
// and a sandbox that knows better is switched off.
std::string PriceAsWarning(const Relaxation& relaxation) {
  const bool root = std::holds_alternative<RootWithSecrets>(relaxation.type);
  const bool path = std::holds_alternative<ReadablePath>(relaxation.type) ||
                    std::holds_alternative<WritablePath>(relaxation.type);
  if (relaxation.remark.empty() || !(root || path)) return "";
  const std::string price = "'" + relaxation.value + "' " + relaxation.remark;
  return root ? price + ", as a root of calls; name a project's directory instead" : price;
}

}  // namespace

std::vector<Diagnostic> FindWarnings(const Policy& policy, const std::vector<std::string>& files) {
  std::vector<Diagnostic> warnings;
  for (const Relaxation& relaxation : policy.relaxations) {
    std::string warning = PriceAsWarning(relaxation);
    if (!warning.empty()) warnings.emplace_back(relaxation.at, std::move(warning));
  }
  for (const std::string& root : policy.roots) {
    for (const std::string& file : files) {
      if (!IsBeneath(ResolvePath(std::filesystem::absolute(file)), root)) continue;
      warnings.emplace_back(Place{file}, "lies within the root " + root +
                                             ": commands that work there can change this policy");
    }
  }
  return warnings;
}

}  // namespace pa::policy
