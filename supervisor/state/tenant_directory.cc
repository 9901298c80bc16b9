#include "supervisor/state/tenant_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/try.h"

namespace pa {
namespace {
namespace fs = std::filesystem;
}

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

Result<uid_t> FindTenant(const std::string& directory, const std::string& name) {
  PA_TRY(const std::vector<TenantName> all, ListTenants(directory));
  for (const TenantName& tenant : all) {
    if (tenant.name == name || std::to_string(tenant.id) == name) return tenant.id;
  }
  return std::unexpected(Error("find a tenant of the name", name, ENOENT));
}

Result<std::vector<TenantName>> ListTenants(const std::string& directory) {
  std::map<uid_t, std::string> tenants;
  std::vector<std::pair<uid_t, std::string>> links;
  std::error_code failed;
  fs::directory_iterator at(directory, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed)) {
    const std::string name = at->path().filename();
    const bool is_link = at->is_symlink(failed);
    const fs::path target = is_link && !failed ? fs::read_symlink(at->path(), failed) : fs::path();
    if (failed) break;
    if (const auto id = TenantId(name); id && !is_link) tenants.try_emplace(*id);
    if (const auto id = TenantId(target.native())) links.emplace_back(*id, name);
  }
  if (failed) return std::unexpected(Error("read", directory, failed.value()));
  for (const auto& [id, name] : links) {
    if (const auto tenant = tenants.find(id); tenant != tenants.end()) tenant->second = name;
  }
  std::vector<TenantName> all;
  for (auto& [id, name] : tenants) all.push_back({id, std::move(name)});
  return all;
}

Result<void> MarkTenantsChanged(const std::string& directory) {
  if (utimensat(AT_FDCWD, directory.c_str(), nullptr, 0) == 0) return {};
  return std::unexpected(Error("set the time of", directory, errno));
}

}  // namespace pa
