// Place: a name in a directory that was found step by step, each beneath the one before and none of
// them a symlink. Freestanding.
#pragma once

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

struct Place {
  UniqueFd directory;          // O_PATH
  const char* name = nullptr;  // the last component, within what was looked for
};

// What `path` names beneath the working directory; whether it is there is not looked at.
// `makes_parents`: makes directories on the way. Errors name what is left of the path where it went
// wrong.
SysResult<Place> FindPlace(const char* path, bool makes_parents);

// Waits until `place` will be found after a crash of the machine, too (fsync(2)).
SysResult<void> SyncDirectory(const Place& place);
SysResult<void> SyncDirectory(int directory);  // O_PATH

// What is to be synced when all is done, the first before the second; empty: nothing.
struct ToSync {
  UniqueFd first;  // O_PATH
  UniqueFd second;
};
SysResult<void> Sync(const ToSync& directories);

}  // namespace pa::worker
