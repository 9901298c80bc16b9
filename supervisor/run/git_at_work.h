// GitAtWork: whether somebody's git works in a repository, as far as processes show.
//
//    const Result<std::string> git = GitAtWork({"/srv/project", "/srv/project/.git"});
#pragma once

#include <span>
#include <string>

#include "base/error.h"

namespace pa {

// A git of this user's that stands beneath one of the directories, as `git (process 7)`; "" if
// there is none. An error where that is not known: then there may be one. Looks at every process:
// its directory is told only to whoever may trace it (proc_pid_cwd(5)), which a process in a
// Landlock domain may not, unless that other process is in the domain, too.
Result<std::string> GitAtWork(std::span<const std::string> directories);

}  // namespace pa
