// RemoveTree: a directory and all beneath it, however a hostile command left it.
//
// Follows no symbolic link, opens up directories without permissions, and needs two descriptors and
// no recursion at any depth: what lies deep is first moved up. Nothing else may be at work in the
// tree.
#pragma once

#include <string>

#include "base/error.h"

namespace pa {

// `path` must be a directory of ours.
Result<void> RemoveTree(const std::string& path);

}  // namespace pa
