// Quarantine: where things go that must not stay where they are. Nothing is deleted: it may be the
// user's.
//
//   // touches nothing yet
//   Quarantine quarantine(*FindStateDirectory(policy, state_home, kQuarantineDirectory));
//   Result<std::string> kept = quarantine.Take(parent_fd, "pre-commit", area_fd, area);
//   Result<std::string> kept = quarantine.Exchange(image, parent_fd, "config", area_fd, area);
//
// Each step is one rename(2): killed at any moment, we leave either the old or the new, and nothing
// half done in the user's tree. A rename needs one file system; where the state directory is on
// another one, things go up to the top of the writable tree instead, under a name that says by
// whom.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/guard/file_image.h"

namespace pa {

inline constexpr std::string_view kQuarantineDirectory = "displaced";

class Quarantine {
 public:
  // `base` is made when it is needed; "" = there is no place for it.
  explicit Quarantine(std::string base) : base_(std::move(base)) {}

  // Moves `name` away; where to. `area`: the tree in which it lies, for when there is no better
  // place.
  Result<std::string> Take(int parent, const std::string& name, int area_fd,
                           const std::string& area);
  // Puts what `image` holds in the place of `name`, which may be there or not. Where that lies now,
  // "" if there was nothing.
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
