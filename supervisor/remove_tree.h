// RemoveTree: a directory and all beneath it, however a hostile command left it; the ways of
// base/empty_directory.h. Nothing else may be at work in the tree.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/error.h"

namespace pa {

// `path` must be a directory of ours. True: it is gone. False: the time is over; another call goes on.
// `at_least`: as EmptyDirectory has it.
Result<bool> RemoveTree(const std::string& path, std::chrono::milliseconds budget,
                        std::uint64_t at_least = 0);

}  // namespace pa
