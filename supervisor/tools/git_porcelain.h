// LooksForItself: whether all that a shell command does with git is to run commands that are right
// although the index is stale: they look at a file that was touched before they call it changed
// (seen with git 2.39 on a read-only repository). Others take the index's word: diff-index,
// diff-files, describe --broken, and update-index --refresh cannot write.
//
//    if (LooksForItself("git diff --stat | head")) ...     // no refresh before it
#pragma once

#include <string_view>

namespace pa {

// False: it does, or may do, something else. A command that is spelled in an unusual way is not
// understood.
bool LooksForItself(std::string_view command);

}  // namespace pa
