// InstanceDir: a directory of this process alone, beneath $TMPDIR or /tmp. The destructor removes
// it, as far as it can do so within half a second; where commands wrote, Release() it instead.
//
//    Result<InstanceDir> dir = InstanceDir::Create("/tmp");     // /tmp/project-actions-1000-Xy12Zw
//
// It is locked by flock(2) as long as we live. The directory of a killed predecessor of the same
// user is not locked, so FindStale finds it. The lock also keeps systemd-tmpfiles from ageing the
// content (tmpfiles.d(5)).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/state/remove_tree.h"

namespace pa {

class InstanceDir {
 public:
  // The directory of an instance that has ended, and its lock, which is now ours.
  struct Stale {
    HeldTree tree;
    UniqueFd lock;
  };
  static std::vector<Stale> FindStale(const std::string& base);
  // The paths of all that are ours, without symlinks, of instances that live, too.
  static std::vector<std::string> FindAll(const std::string& base);

  static Result<InstanceDir> Create(const std::string& base);
  InstanceDir(InstanceDir&&) noexcept = default;
  InstanceDir& operator=(InstanceDir&&) = delete;
  ~InstanceDir();

  const std::string& path() const { return path_; }
  // Use this, and not the path, to make and remove files in it: the path may lead elsewhere by now.
  const std::shared_ptr<const UniqueFd>& directory() const { return lock_; }
  // For somebody else to remove: then the destructor leaves it alone.
  Stale Release() &&;
  bool Exists() const;  // false: somebody has removed it
  // Restores its permissions. A command can remove them: Landlock does not restrict chmod.
  bool Repair() const;

 private:
  InstanceDir(std::string path, UniqueFd base, UniqueFd lock)
      : path_(std::move(path)),
        base_(std::move(base)),
        lock_(std::make_shared<const UniqueFd>(std::move(lock))) {}
  std::string path_;
  UniqueFd base_;
  std::shared_ptr<const UniqueFd> lock_;  // null: moved from
};

}  // namespace pa
