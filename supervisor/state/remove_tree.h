// RemoveTree: removes a directory and everything beneath it, however a hostile command left it, by
// the methods of base/empty_directory.h. No other process may be at work in the tree.
//
//    Result<bool> removed = RemoveTree(parent.get(), name, std::chrono::milliseconds(100));
//    if (removed && !*removed) ...     // the time is used up: call it again
//
// Where commands of ours wrote, TreeRemover (supervisor/state/tree_remover.h) has the janitor do
// it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

// A directory by its name in an open parent directory, so that later changes of the path to the
// parent do not matter.
struct HeldTree {
  std::shared_ptr<const UniqueFd> parent;
  std::string name;
};

// The directory `name` in `parent` must be ours. True: it was removed. False: the time budget is
// used up; another call continues.
Result<bool> RemoveTree(int parent, const std::string& name, std::chrono::milliseconds budget);

}  // namespace pa
