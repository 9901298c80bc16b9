// Passable: ways to what a command can have closed behind itself. The directories are ours, so they
// open again, for good.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace pa {

// The directory that holds `path`, from `area` on, by O_PATH; `gone` names the first component that
// is no directory any more.
UniqueFd OpenParent(int area_fd, const std::string& area, const std::string& path,
                    std::string* gone);

}  // namespace pa
