// FindExecutable: finds a program on the server's own PATH, as a shell does, but never one that a
// command could have written.
//
//    const FoundExecutable make = FindExecutable("make", call.ambient, call.policy.get());
#pragma once

#include <map>
#include <optional>
#include <string>

#include "policy/policy.h"

namespace pa {

struct FoundExecutable {
  std::optional<std::string> path;
  std::string passed_over;  // the first one that commands can write; "" = none
};

// The first executable regular file called `name` in the absolute entries of PATH (of `ambient`),
// except those that commands of `policy`, unless it is null, can write. Relative and empty entries
// mean the current directory and are skipped for the same reason. Commands themselves get PATH
// unchanged, or policy::kDefaultPath where it is not set.
FoundExecutable FindExecutable(const std::string& name,
                               const std::map<std::string, std::string>& ambient,
                               const policy::Policy* policy);

}  // namespace pa
