// Place: a name in a directory that was opened component by component, each beneath the one before
// and none of them a symlink. Freestanding.
//
//    SysResult<Place> place = FindPlace("src/a.c", /*makes_parents=*/false);
//    OpenBeneath(place->directory.get(), place->name, O_PATH);     // worker/open_file.h
#pragma once

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

struct Place {
  UniqueFd directory;  // O_PATH
  // The last component; it points into the path that was looked up.
  const char* name = nullptr;
};

// Finds the directory of `path`, which is relative to the working directory; whether the last
// component exists is not checked. `makes_parents`: missing directories on the way are made. Errors
// name the rest of the path from the component that failed.
SysResult<Place> FindPlace(const char* path, bool makes_parents);

// Waits until the names in the directory are on the disk and survive a crash of the machine
// (fsync(2)).
SysResult<void> SyncDirectory(const Place& place);
SysResult<void> SyncDirectory(int directory);  // an O_PATH descriptor suffices

// The directories to sync when the work is done, the first before the second; empty: none.
struct ToSync {
  UniqueFd first;  // O_PATH
  UniqueFd second;
};
SysResult<void> Sync(const ToSync& directories);

}  // namespace pa::worker
