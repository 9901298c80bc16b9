// InstanceDir: a directory of this process alone, beneath $TMPDIR or /tmp, gone when we are, as far
// as half a second suffices.
//
//   Result<InstanceDir> dir = InstanceDir::Create("/tmp");     // /tmp/project-actions-1000-Xy12Zw
//
// It is flock'ed as long as we live; what a killed predecessor of the same user left behind is not,
// and FindStale finds it. The lock also keeps systemd-tmpfiles from ageing what is in it
// (tmpfiles.d(5)).
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
  // The directory of an instance that is gone, and its lock, now ours.
  struct Stale {
    HeldTree tree;
    UniqueFd lock;
  };
  static std::vector<Stale> FindStale(const std::string& base);

  static Result<InstanceDir> Create(const std::string& base);
  InstanceDir(InstanceDir&&) noexcept = default;
  InstanceDir& operator=(InstanceDir&&) = delete;
  ~InstanceDir();

  const std::string& path() const { return path_; }
  // To make and remove in it what is ours: the path may have come to lead elsewhere.
  const std::shared_ptr<const UniqueFd>& directory() const { return lock_; }
  bool Exists() const;  // nobody removed it
  // Gives it back its permissions: a command can take them (chmod is beyond Landlock).
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
