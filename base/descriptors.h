// DescriptorsAllow: how many objects that hold descriptors may be kept for later, or run at once,
// so that the limit of this process (RLIMIT_NOFILE) leaves room for others.
//
//    const std::size_t most = DescriptorsAllow(64);        // objects that hold one descriptor each
#pragma once

#include <cstddef>

namespace pa {

// `wanted`, or fewer if `wanted` objects of `each` descriptors would take more than an eighth of
// the limit; at least 1.
std::size_t DescriptorsAllow(std::size_t wanted, std::size_t each = 1);

}  // namespace pa
