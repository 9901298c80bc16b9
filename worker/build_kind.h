// Which of the three workers this is; all are built from the same sources (worker/meson.build).
#pragma once

namespace pa::worker {

// The unconfined worker has no Landlock, seccomp, capabilities and rlimits, and is otherwise the
// same. It shows that an escape that the real worker stops would succeed without confinement. It is
// never installed.
#ifdef PA_TEST_UNCONFINED
inline constexpr bool kConfined = false;
#else
inline constexpr bool kConfined = true;
#endif

}  // namespace pa::worker
