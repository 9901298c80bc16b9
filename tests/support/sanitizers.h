// kAddressSanitizer, Volume: whether this build has AddressSanitizer: it is an order of magnitude
// slower and keeps what was freed.
#pragma once

#include <cstddef>

namespace pa::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

// How much of what a test does in bulk. What AddressSanitizer finds it finds in a part of it, too.
constexpr std::size_t Volume(std::size_t all) { return kAddressSanitizer ? all / 10 : all; }

}  // namespace pa::testing
