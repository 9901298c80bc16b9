// Whether a path that a client gave stays inside the working directory.
#pragma once

#include <optional>
#include <string>

#include "policy/working_directory.h"

namespace pa {

// Why `path` does not stay inside; nothing when it does. Symlinks count by where they lead, the
// last one too; what does not exist (a deleted file can be staged) by the nearest ancestor that
// does.
std::optional<std::string> WhyOutside(const policy::WorkingDirectory& directory,
                                      const std::string& path);

}  // namespace pa
