// The view: the file system that a command with namespaces sees. Everything outside it is absent,
// not only hidden: it can be neither opened nor changed nor looked up. Freestanding.
//
// The view is made in two parts, because most of it is the same for every command of a policy:
//
//    // the launcher, once, in a user and a mount namespace of its own (sandbox/user_namespace.h):
//    SysResult<UniqueFd> old_root = EnterEmptyView();
//    for (const MountView& mount : view) PlaceMount(old_root->get(), mount);
//    // each worker, in a copy of that mount namespace and with a pid namespace of its own:
//    SysResult<UniqueFd> proc = PrepareProc(old_root);  // ahead, before there is an order
//    SysResult<UniqueFd> pts = PreparePts();
//    for (const MountView& mount : own) PlaceMount(old_root, mount);
//    SealView(proc->get(), pts->get(), own);            // only the view is left
//
// Until the view is sealed, the old root is mounted at /proc. A new proc can only be mounted while
// another one is visible (mount_too_revealing in fs/namespace.c); and since the new proc takes this
// very place, no name of the old root is left.
#pragma once

#include <sys/stat.h>

#include <span>

#include "base/sys_error.h"
#include "base/unique_fd.h"
#include "sandbox/values.h"

namespace pa::sandbox {

struct MountView {
  MountKind kind = MountKind::kReadOnly;
  // kReadOnly, kWritable, kDevice: a path of the old root; kSymlink: the text of the link.
  // kOverlay: a directory of the old root that holds the empty directories `upper`, which gets the
  // changes, and `work`, which is overlayfs's own. Both are on one file system, which cannot be an
  // overlayfs (Documentation/filesystems/overlayfs.rst).
  const char* source = "";
  const char* target = "";  // absolute; of a kOverlay also the directory that shows through
};

// Makes an empty tmpfs the root, with the old root at /proc. Returns the old root (O_PATH).
SysResult<UniqueFd> EnterEmptyView();

// Opens `path` of the old root without following any symlink. O_CLOEXEC is added to `flags`.
SysResult<UniqueFd> OpenOutside(int old_root, const char* path, int flags);

// Makes the target of `mount`, with its parent directories. A source that does not exist is
// skipped: the command could not have reached it either. Sources are canonical: one that now leads
// through a symlink is refused (ELOOP), and so is a target.
SysResult<void> PlaceMount(int old_root, const MountView& mount);

// Whether a proc for root has a cover over this file at its top: page and slab counts, timers and
// addresses are those of the whole machine. By the mode, so that what a newer kernel adds is
// covered, too.
inline bool IsCoveredInProc(const struct stat& file) {
  return S_ISREG(file.st_mode) && (file.st_mode & S_IROTH) == 0;
}

// A read-only proc of this pid namespace, not mounted in the view yet. For root, its files that
// others may not read are covered, because their mode would not stop root.
SysResult<UniqueFd> PrepareProc(int old_root);

// An empty devpts, not mounted in the view yet: a command's pseudo-terminals are its own
// (Documentation/filesystems/devpts.rst). No descriptor: this kernel has none, or does not let us
// mount one.
SysResult<UniqueFd> PreparePts();

// Removes the old root, mounts `proc` in its place and `pts`, unless it is -1, at /dev/pts, and
// makes the view's own directories read-only. `own`: the mounts that the worker has placed.
SysResult<void> SealView(int proc, int pts, std::span<const MountView> own);

}  // namespace pa::sandbox
