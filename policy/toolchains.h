// FindToolchains: finds compilers and package managers in the home, without the secrets beside
// them.
//
//    Toolchains found = FindToolchains("/home/ann", environment);
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sandbox/confinement.h"

namespace pa::policy {

struct Toolchains {
  std::vector<sandbox::PathGrant> grants;  // those that exist; read and execute
  std::vector<std::string> variables;  // that moved a toolchain elsewhere: commands need them, too
  std::map<std::string, std::string> places;  // where each toolchain is, by its variable
};

// Leaves out each part for which `is_led` is true: commands can replace a symlink on the way to it,
// and so decide where it leads.
Toolchains FindToolchains(
    const std::string& home, const std::map<std::string, std::string>& environment,
    const std::function<bool(const std::string& path)>& is_led = [](const auto&) { return false; });

// Files and directories of the home that hold secrets, as absolute paths: `policy check` warns if a
// policy grants them.
std::vector<std::string> SecretPaths(const std::string& home);

}  // namespace pa::policy
