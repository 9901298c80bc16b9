// kAddressSanitizer, Volume: whether this build has AddressSanitizer: it is an order of magnitude
// slower and keeps what was freed.
#pragma once

#include <cstddef>

#include "base/sanitized.h"

namespace pa::testing {

inline constexpr bool kAddressSanitizer = kSanitized;

// How much of what a test does in bulk. What AddressSanitizer finds it finds in a part of it, too.
constexpr std::size_t Volume(std::size_t all) { return kAddressSanitizer ? all / 10 : all; }

}  // namespace pa::testing
