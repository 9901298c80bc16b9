// OpenParent: opens a directory even if a command has removed the permissions of directories on the
// way. Those directories are ours, so their permissions can be restored, and they stay restored.
//
//    std::string gone;
//    const UniqueFd parent = OpenParent(area.get(), area_path, path, &gone);
//    if (!parent) ...     // `gone` on the way is no directory any more
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace pa {

// The parent directory of `path`, by O_PATH. `area_fd` is `area`, where the search starts. After an
// error `gone` is the path of the first component that is not a directory any more.
UniqueFd OpenParent(int area_fd, const std::string& area, const std::string& path,
                    std::string* gone);

}  // namespace pa
