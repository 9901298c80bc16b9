// Profile: where one family of toolchains keeps its caches, from a YAML file in policy/profiles.
//
//   for (const ProfileText& text : ShippedProfiles()) ParseProfile(text) ...
//
// To add one: a file in policy/profiles and its name in policy/meson.build. Say on its first lines
// what it keeps and why there. Values may hold ${PROJECT_CACHE}, ${HOME}, ${PRIVATE_TMPDIR} (then
// the variable is set only where /tmp is not the command's own), and each variable of
// policy/toolchains.cc for the place where that toolchain is.
#pragma once

#include <expected>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "policy/diagnostic.h"

namespace pa::policy {

struct ProfileText {
  const char* name;  // "go"
  const char* yaml;
};

// Those of this build, by name.
std::span<const ProfileText> ShippedProfiles();

using Variables = std::map<std::string, std::string>;

struct Profile {
  std::string name;
  Variables set;                   // environment.set
  Variables unless_granted;        // not set where the policy opens this place or a part of it
  Variables unless_writable;       // the same, but reading alone does not count
  std::vector<std::string> write;  // filesystem.write
};

std::expected<Profile, Diagnostic> ParseProfile(const ProfileText& text);

// `text` with each ${NAME} of `values` replaced; the others stay.
std::string ReplaceVariables(std::string text, const Variables& values);

}  // namespace pa::policy
