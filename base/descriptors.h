// DescriptorsAllow: how many objects that hold descriptors may be kept for later, or run at once,
// so that the limit of this process (RLIMIT_NOFILE) leaves room for others. CloseAllBut: for a
// process that was forked, and is to have nothing else of its parent's.
//
//    const std::size_t most = DescriptorsAllow(64);        // objects that hold one descriptor each
//    if (!CloseAllBut({0, 1, 2, socket})) _exit(1);
#pragma once

#include <cstddef>
#include <vector>

namespace pa {

// `wanted`, or fewer if `wanted` objects of `each` descriptors would take more than an eighth of
// the limit; at least 1.
std::size_t DescriptorsAllow(std::size_t wanted, std::size_t each = 1);

// `kept`: in any order; those below 0 are ignored. False: others may be open still (errno is that
// of close_range(2)).
bool CloseAllBut(std::vector<int> kept);

}  // namespace pa
