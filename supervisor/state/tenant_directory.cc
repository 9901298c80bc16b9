#include "supervisor/state/tenant_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

namespace pa {

TenantPaths TenantPathsOf(const std::string& directory, uid_t tenant) {
  const std::string own = directory + "/" + std::to_string(tenant);
  return {.directory = own, .policy = own + "/policy.yaml", .tokens = own + "/tokens.json"};
}

std::optional<uid_t> TenantId(std::string_view name) {
  uid_t id = 0;
  const char* const end = name.data() + name.size();
  const auto [read_to, error] = std::from_chars(name.data(), end, id);
  if (error != std::errc() || read_to != end || std::to_string(id) != name) return std::nullopt;
  // The last two are what the kernel says in place of a user (uid_t -1, overflowuid is a user).
  if (id == 0 || id == static_cast<uid_t>(-1)) return std::nullopt;
  return id;
}

Result<void> MarkTenantsChanged(const std::string& directory) {
  if (utimensat(AT_FDCWD, directory.c_str(), nullptr, 0) == 0) return {};
  return std::unexpected(Error("set the time of", directory, errno));
}

}  // namespace pa
