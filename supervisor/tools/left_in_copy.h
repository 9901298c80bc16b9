// LeftInCopy: what hooks and filters left in their copy of a repository besides the commit: the
// upper directory of the overlay (supervisor/tools/git_copy.h), after everything that could write
// there has ended. Whatever it holds is hostile.
//
//    Result<bool> objects = CheckLfsObjects(upper + "/lfs");  // on a thread: it reads them all
//    for (const std::string& name : OtherChanges(upper, common_dir, commit)) ...
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace pa {

// Whether there are new objects of git-lfs in `lfs`, which is what was left of .git/lfs. Each file
// there has the SHA-256 of its content as its name afterwards, and nothing else is left: symlinks
// and the marks of removed files are removed. An error: something is no object of git-lfs, or
// cannot be read.
Result<bool> CheckLfsObjects(const std::string& lfs);

// What else was changed and is not taken over, as names in the git directory, at most kMaxOther.
// `commit`: the branch that has it is the one to which it is committed. `repository`: the git
// directory itself; a new file at its top is a tool's own (lint-staged leaves its patch there), and
// is left out. What cannot be read counts as changed. Run it on a thread, too.
inline constexpr std::size_t kMaxOther = 8;
std::vector<std::string> OtherChanges(const std::string& upper, const std::string& repository,
                                      const std::string& commit);

}  // namespace pa
