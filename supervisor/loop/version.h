// The version, from meson.build, and the website of whoever built it (the option `website`).
#pragma once

#ifndef PROJECT_ACTIONS_VERSION
#error "PROJECT_ACTIONS_VERSION is given by meson.build"
#endif

namespace pa {
inline constexpr char kVersion[] = PROJECT_ACTIONS_VERSION;
inline constexpr char kWebsite[] = PROJECT_ACTIONS_WEBSITE;  // "" = none
}  // namespace pa
