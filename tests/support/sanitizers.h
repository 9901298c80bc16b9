// kAddressSanitizer: whether this build has AddressSanitizer: it is an order of magnitude slower
// and keeps what was freed.
#pragma once

namespace pa::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace pa::testing
