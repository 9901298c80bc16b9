// Checks that a path from a client stays inside the working directory.
//
//    if (const auto why = WhyOutside(work.directory, path)) return InvalidPath(path, *why, true);
//
// It is there for clear errors and is no protection: that is the sandbox.
#pragma once

#include <optional>
#include <string>

#include "policy/working_directory.h"

namespace pa {

// Why `path` does not stay inside; nothing if it does. Symlinks are followed, the last one, too. A
// path that does not exist (a deleted file can be staged) is judged by its nearest existing
// ancestor.
std::optional<std::string> WhyOutside(const policy::WorkingDirectory& directory,
                                      const std::string& path);

}  // namespace pa
