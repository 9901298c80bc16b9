// kSanitized: whether this build has AddressSanitizer. Its shadow memory is more than any limit,
// and its reports need system calls that a process which has confined itself has given up.
#pragma once

namespace pa {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace pa
