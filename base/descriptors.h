// How much may be held open, as the limit of this process allows (RLIMIT_NOFILE): what is kept for
// later, and what runs at once, must leave room for what comes.
//
//   const std::size_t most = DescriptorsAllow(64);        // of what takes one each
#pragma once

#include <cstddef>

namespace pa {

// `wanted` of what takes `each` descriptors, but no more than an eighth of the limit holds; at
// least 1.
std::size_t DescriptorsAllow(std::size_t wanted, std::size_t each = 1);

}  // namespace pa
