// WorkingDirectory: a directory in which calls may work; only Validate can make one, and
// FindBeneath from one of those.
//
//   Result... dir = ValidateWorkingDirectory(policy, "sub/dir");   // relative to the first root,
//   or absolute spawn with fd 5 = dir->fd();
//
// The path is resolved once, by descriptor, and that descriptor is what the worker enters: whatever
// happens to the name afterwards leads nowhere else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "policy/policy.h"

namespace pa::policy {

class WorkingDirectory {
 public:
  const std::string& path() const { return path_; }  // canonical
  const std::string& root() const { return root_; }  // the policy root that holds it
  int fd() const { return fd_->get(); }              // O_PATH | O_DIRECTORY

 private:
  friend struct WorkingDirectoryMaker;
  WorkingDirectory() = default;
  std::string path_;
  std::string root_;
  std::shared_ptr<UniqueFd> fd_;
};

// Why a directory was refused; `message` begins with the text of the contract.
struct DirectoryRefusal {
  std::string message;     // `working directory cannot be a system directory: /etc`
  std::string ai_message;  // what to pass instead
  int code = 0;            // the errno, if it could not be opened
};

// Refused: system directories (/, /etc, /usr, /bin, /proc, ... and what is beneath them), the home
// itself when it is no root, what is a git directory or lies in one (a command there could write
// hooks; a bare repository that is a root is none), the very directory of the audit log, outside
// every root, not a directory, not owned by the effective user, no owner write permission. "" means
// the first root.
std::expected<WorkingDirectory, DirectoryRefusal> ValidateWorkingDirectory(
    const Policy& policy, const std::string& requested);

// By its name: /usr and what is beneath, /etc, / itself, but not /srv/x. No call works there.
bool IsSystemDirectory(std::string_view path, std::string_view home);

// What lies at `path` beneath `top`: symlinks are followed as long as they stay inside, `..` too;
// all of it by descriptor (openat2(2), RESOLVE_BENEATH). Errors: EXDEV leads outside or is
// absolute, ENOENT, EACCES, ENOTDIR, ELOOP.
struct PlaceBeneath {
  WorkingDirectory directory;  // it, or the one that holds it
  std::string name;            // in that directory; "" = it is a directory itself
  std::string relative;        // of `directory`, seen from `top`: `src/lib`; "" = `top` itself
  std::uint64_t size = 0;      // of what has the name, when it was looked for

  // Seen from `top`, without symlinks.
  std::string Path() const {
    return relative.empty() || name.empty() ? relative + name : relative + "/" + name;
  }
};
Result<PlaceBeneath> FindBeneath(const WorkingDirectory& top, const std::string& path);

}  // namespace pa::policy
