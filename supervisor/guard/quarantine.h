// Quarantine: moves things that must not stay where they are to a directory of their own. Nothing
// is deleted, because it may be the user's.
//
//    // creates nothing yet
//    Quarantine quarantine(*FindStateDirectory(policy, state_home, kQuarantineDirectory));
//    Result<std::string> taken = quarantine.Take(parent_fd, "pre-commit", area_fd, area);
//    Result<std::string> kept = quarantine.Exchange(image, parent_fd, "config", area_fd, area);
//
// Each step is one rename(2), which is atomic: if we are killed, the user's tree holds the old or
// the new file, and nothing half done. A rename works within one file system only. If the state
// directory is on another one, things are moved to the top of the writable tree instead, under a
// name that says who did it; then Exchange is not atomic, and the new file is made after the old
// one was moved.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/guard/file_image.h"

namespace pa {

class Quarantine {
 public:
  // `base` is created when it is needed; "" = there is no such directory.
  explicit Quarantine(std::string base) : base_(std::move(base)) {}

  // Moves `name` away and returns its new path. `area`: the tree that contains it, to whose top it
  // is moved if `base` cannot be used.
  Result<std::string> Take(int parent, const std::string& name, int area_fd,
                           const std::string& area);
  // Makes `name` from `image` and moves away what was there. Returns the new path of that, "" if
  // there was nothing.
  Result<std::string> Exchange(const FileImage& image, int parent, const std::string& name,
                               int area_fd, const std::string& area);

 private:
  bool EnsureDirectory();
  std::string TakeUp(int parent, const std::string& name, int area_fd);
  std::string NextName(const std::string& name);
  void Discard(const std::string& name);

  std::string base_;
  std::string directory_;  // <base>/20261121-101500-Xy12Zw
  UniqueFd fd_;
  bool failed_ = false;
  int next_ = 0;
};

}  // namespace pa
