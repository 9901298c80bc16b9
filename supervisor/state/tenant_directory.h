// Where the tenants of a machine are described (docs/daemon.md): DIRECTORY/UID/ for each, with
// `policy.yaml` and `tokens.json`, and DIRECTORY/NAME, a symlink to it, for people and for the
// subjects of access tokens.
//
//    const TenantPaths paths = TenantPathsOf(kTenantDirectory, 1000);
//    ... writes paths.tokens ...
//    Result<void> told = MarkTenantsChanged(kTenantDirectory);     // the front door looks again
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace pa {

inline constexpr char kTenantDirectory[] = "/etc/project-actions/tenants";

struct TenantPaths {
  std::string directory;
  std::string policy;
  std::string tokens;
};
TenantPaths TenantPathsOf(const std::string& directory, uid_t tenant);

// Decimal digits, as the directory is named; nothing for anything else, so for root's 0.
std::optional<uid_t> TenantId(std::string_view name);

// Changes the time of DIRECTORY, which is all that the front door looks at before each request.
Result<void> MarkTenantsChanged(const std::string& directory);

}  // namespace pa
