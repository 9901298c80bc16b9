// Displaced: where things go that must not stay where they are. Nothing is deleted: it may be the
// user's.
//
//   Displaced displaced("/home/ann/.local/state");            // touches nothing yet
//   Result<std::string> kept = displaced.Take(parent_fd, "pre-commit", area_fd, area);
//   Result<std::string> kept = displaced.Exchange(image, parent_fd, "config", area_fd, area);
//
// Each step is one rename(2): killed at any moment, we leave either the old or the new, and nothing
// half done in the user's tree. A rename needs one file system; where the state directory is on another
// one, things go up to the top of the writable tree instead, under a name that says by whom.
#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/file_image.h"

namespace pa {

class Displaced {
 public:
  // $XDG_STATE_HOME or ~/.local/state; "" = there is none.
  explicit Displaced(std::string state_home) : state_home_(std::move(state_home)) {}

  // Moves `name` away; where to. `area`: the tree in which it lies, for when there is no better place.
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

  std::string state_home_;
  std::string directory_;  // <state>/project-actions/displaced/20261121-101500-Xy12Zw
  UniqueFd fd_;
  bool failed_ = false;
  int next_ = 0;
};

}  // namespace pa
