#include "supervisor/state/remove_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/empty_directory.h"

namespace pa {

Result<bool> RemoveTree(int parent, const std::string& name, std::chrono::milliseconds budget) {
  const auto budget_ms = static_cast<std::uint64_t>(budget.count());
  const SysResult<bool> emptied = EmptyDirectory(parent, name.c_str(), budget_ms);
  if (!emptied) return std::unexpected(Error(emptied.error()));
  if (*emptied && unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) {
    return std::unexpected(Error("rmdir", name, errno));
  }
  return *emptied;
}

}  // namespace pa
