#include "supervisor/remove_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/empty_directory.h"

namespace pa {

Result<bool> RemoveTree(const std::string& path, std::chrono::milliseconds budget,
                        std::uint64_t at_least) {
  const auto budget_ms = static_cast<std::uint64_t>(budget.count());
  const SysResult<bool> emptied = EmptyDirectory(AT_FDCWD, path.c_str(), budget_ms, at_least);
  if (!emptied) return std::unexpected(Error(emptied.error()));
  if (*emptied && rmdir(path.c_str()) != 0) return std::unexpected(Error("rmdir", path, errno));
  return *emptied;
}

}  // namespace pa
