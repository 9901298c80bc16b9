// WorkingDirectory: an open directory in which calls may work. Only ValidateWorkingDirectory makes
// one, and FindBeneath makes one from another.
//
//    // `requested`: absolute, or relative to the first root
//    const auto dir = ValidateWorkingDirectory(policy, "sub/dir");   // an error: DirectoryRefusal
//    // the worker gets dir->fd() as worker::kCwdFd
//
// The path is resolved once, by descriptor, and the worker enters that descriptor. So nothing that
// happens to the name afterwards leads the worker elsewhere.
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

// Why a directory was refused; `message` begins with the text that the contract defines.
struct DirectoryRefusal {
  std::string message;     // `working directory cannot be a system directory: /etc`
  std::string ai_message;  // what to pass instead
  int code = 0;            // the errno, if the directory could not be opened
  // Whoever should read for us could not be confined, or gave no answer: it says nothing of the
  // directory.
  bool unread = false;
};

// Refused: system directories (/, /etc, /usr, /bin, /proc, ... and what is beneath them); the home
// itself, unless it is a root; a git directory or a directory in one, where a command could write
// hooks (unless it is a bare repository that is a root); the directory of the audit log itself; a
// path outside every root; a path that is not a directory, not owned by the effective user, or
// without write permission for its owner. "" means the first root.
std::expected<WorkingDirectory, DirectoryRefusal> ValidateWorkingDirectory(
    const Policy& policy, const std::string& requested);

// Decides by the name: true for /usr and everything beneath, /etc, / itself, but not for /srv/x. No
// call works in a system directory.
bool IsSystemDirectory(std::string_view path, std::string_view home);

// Finds `path` beneath `top`. Symlinks and `..` are followed as long as they stay inside, all of it
// by descriptor (openat2(2), RESOLVE_BENEATH). Errors: EXDEV, if it leads outside or is absolute;
// ENOENT, EACCES, ENOTDIR, ELOOP.
struct FoundBeneath {
  WorkingDirectory directory;  // the directory at `path`, or the one that holds the file
  std::string name;            // the file in that directory; "" = `path` is a directory itself
  std::string relative;        // `directory` relative to `top`: `src/lib`; "" = `top` itself
  std::uint64_t size = 0;      // of the file, when it was looked up

  // The path relative to `top`, without symlinks.
  std::string Path() const {
    return relative.empty() || name.empty() ? relative + name : relative + "/" + name;
  }
};
Result<FoundBeneath> FindBeneath(const WorkingDirectory& top, const std::string& path);

}  // namespace pa::policy
