// The version, from meson.build.
#pragma once

#ifndef PROJECT_ACTIONS_VERSION
#error "PROJECT_ACTIONS_VERSION is given by meson.build"
#endif

namespace pa {
inline constexpr char kVersion[] = PROJECT_ACTIONS_VERSION;
}  // namespace pa
