// Which of the three workers this is; the same sources make all of them (worker/meson.build).
#pragma once

namespace pa::worker {

// Without Landlock, seccomp, capabilities and rlimits, and the same in all else: shows that an
// escape that the real worker stops is a real one. Never installed.
#ifdef PA_TEST_UNCONFINED
inline constexpr bool kConfined = false;
#else
inline constexpr bool kConfined = true;
#endif

}  // namespace pa::worker
