#include "supervisor/spawner/bounds.h"

#include <link.h>

#include "policy/grants.h"
#include "policy/path.h"
#include "supervisor/state/instance_dir.h"

namespace pa {
namespace {

using sandbox::Access;
using sandbox::PathGrant;

void Append(std::vector<PathGrant>& to, const std::vector<PathGrant>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Those of dead servers, too, which are cleaned up.
void AppendInstances(std::vector<PathGrant>& grants, const Bounds& bounds, Access access) {
  for (std::string& path : InstanceDir::FindAll(bounds.tmp_base)) {
    grants.push_back({std::move(path), access, "private TMPDIRs", sandbox::Symlinks::kRefuse});
  }
}

// The executable that we are and its libraries, wherever they lie. By the link, because another
// version may have taken its place.
std::vector<PathGrant> OwnFiles() {
  std::vector<PathGrant> files = {{"/proc/self/exe", sandbox::kReadExecute, "own executable"}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        const std::string name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (name.starts_with('/')) {
          static_cast<std::vector<PathGrant>*>(into)->push_back(
              {name, sandbox::kReadExecute, "library"});
        }
        return 0;
      },
      &files);
  return files;
}

// Symlinks that editors of dotfiles make are followed; mounts are of resolved names.
std::vector<PathGrant> OwnConfiguration(const policy::Ceiling& ceiling) {
  std::vector<PathGrant> files = policy::GitConfigurationGrants(ceiling.home, ceiling.config_home);
  files.push_back({"/etc/gitconfig", Access::kRead, "git configuration of the system"});
  for (std::size_t i = 0, count = files.size(); i < count; ++i) {
    std::string resolved = policy::ResolvePath(files[i].path);
    if (resolved != files[i].path) {
      files.push_back({std::move(resolved), Access::kRead, files[i].reason});
    }
  }
  return files;
}

}  // namespace

std::vector<PathGrant> GrantsOfCommands(const Bounds& bounds) {
  std::vector<PathGrant> grants = bounds.ceiling.commands;
  Append(grants, OwnConfiguration(bounds.ceiling));
  Append(grants, bounds.elsewhere.repositories);
  AppendInstances(grants, bounds, sandbox::kReadWriteExecute);
  return grants;
}

std::vector<PathGrant> GrantsOfChores(const Bounds& bounds) {
  std::vector<PathGrant> grants = bounds.ceiling.chores;
  Append(grants, OwnConfiguration(bounds.ceiling));
  Append(grants, bounds.elsewhere.read);
  for (PathGrant grant : bounds.elsewhere.repositories) {
    grant.access = sandbox::Has(grant.access, Access::kWrite) ? sandbox::kReadWrite : Access::kRead;
    grants.push_back(std::move(grant));
  }
  AppendInstances(grants, bounds, sandbox::kReadWrite);
  Append(grants, OwnFiles());
  for (const char* path : {"/etc/ld.so.cache", "/lib", "/lib64", "/usr/lib", "/usr/lib64"}) {
    grants.push_back({path, sandbox::kReadExecute, "libraries"});
  }
  grants.push_back({"/dev/null", Access::kRead | Access::kWrite, "null"});
  return grants;
}

}  // namespace pa
