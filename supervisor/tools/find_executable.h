// Finds a program as a shell would, on our own PATH; never in what a project could have planted.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace pa {

// The first executable regular file called `name` in the absolute entries of PATH (of `ambient`),
// but for entries that lie within `project`, if one is given: an agent may write there. Relative
// and empty entries mean the current directory and are skipped for the same reason.
std::optional<std::string> FindExecutable(const std::string& name,
                                          const std::map<std::string, std::string>& ambient,
                                          const std::string& project = "");

}  // namespace pa
