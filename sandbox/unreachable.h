// IsUnreachable: whether a path could not be opened because this process can reach nothing there.
// What a command is granted there it cannot reach either, so callers skip the path.
//
//    SysResult<void> added = AddPath(ruleset, "/opt/x", kReadExecute, abi);
//    if (!added && !IsUnreachable(added.error())) return added;
//
// Not the same as MeansAbsent (base/path_stamp.h): there may be something that we may not see.
// Freestanding.
#pragma once

#include <cerrno>

#include "base/sys_error.h"

namespace pa::sandbox {

inline bool IsUnreachable(const SysError& error) {
  return error.sys_errno == ENOENT || error.sys_errno == ENOTDIR || error.sys_errno == EACCES;
}

}  // namespace pa::sandbox
