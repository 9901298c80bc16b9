// Profile: where one family of toolchains keeps its caches, read from a YAML file in
// policy/profiles.
//
//    for (const ProfileText& text : ShippedProfiles()) ParseProfile(text) ...
//
// To add one: a file in policy/profiles, and its name in policy/meson.build. Its first lines say
// what it keeps, and why there. Values may contain ${PROJECT_CACHE}, ${HOME}, ${PRIVATE_TMPDIR}
// (the variable is then set only if /tmp is not private to the command) and, for the location of a
// toolchain, each variable of policy/toolchains.cc.
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

// The profiles of this build, by name.
std::span<const ProfileText> ShippedProfiles();

using Variables = std::map<std::string, std::string>;

struct Profile {
  std::string name;
  Variables set;                   // environment.set
  Variables unless_granted;        // not set if the policy grants this path or a part of it
  Variables unless_writable;       // the same, but a grant to read does not count
  std::vector<std::string> write;  // filesystem.write
};

std::expected<Profile, Diagnostic> ParseProfile(const ProfileText& text);

// Replaces each ${NAME} that is in `values`; the others stay.
std::string ReplaceVariables(std::string text, const Variables& values);

}  // namespace pa::policy
