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
#include <vector>

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

// By the name of its link, or by number. ENOENT: there is no such tenant.
Result<uid_t> FindTenant(const std::string& directory, const std::string& name);

struct TenantName {
  uid_t id = 0;
  std::string name;  // of the link to it; "": there is none
};
// By number. ENOENT: there is no such directory.
Result<std::vector<TenantName>> ListTenants(const std::string& directory);

// Changes the time of DIRECTORY, which is all that the front door looks at before each request.
Result<void> MarkTenantsChanged(const std::string& directory);

}  // namespace pa
