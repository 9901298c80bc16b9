// Finds a program as a shell would, on our own PATH; never one that a command could have planted.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "policy/policy.h"

namespace pa {

struct FoundExecutable {
  std::optional<std::string> path;
  std::string passed_over;  // the first one that commands can write; "" = there is none
};

// The first executable regular file called `name` in the absolute entries of PATH (of `ambient`),
// but for those that commands of `policy`, if one is given, can write. Relative and empty entries
// mean the current directory and are skipped for the same reason. Commands have PATH as it is.
FoundExecutable FindExecutable(const std::string& name,
                               const std::map<std::string, std::string>& ambient,
                               const policy::Policy* policy);

}  // namespace pa
