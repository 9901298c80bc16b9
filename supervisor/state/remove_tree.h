// RemoveTree: a directory and all beneath it, however a hostile command left it; the ways of
// base/empty_directory.h. Nothing else may be at work in the tree.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

// A directory by its name in one that is open: whatever becomes of the path that led there.
struct HeldTree {
  std::shared_ptr<const UniqueFd> parent;
  std::string name;
};

// The directory `name` in `parent` must be ours. True: it is gone. False: the time is over; another
// call goes on.
Result<bool> RemoveTree(int parent, const std::string& name, std::chrono::milliseconds budget);

}  // namespace pa
