// The view: what a command sees of the file system in namespaces of its own. Everything else is not
// hidden but absent: it can be neither opened nor changed nor asked about. Freestanding.
//
// Made in two parts, because most of it is the same for every command of a policy:
//
//   // the launcher, once, in a user and a mount namespace of its own (sandbox/user_namespace.h):
//   SysResult<UniqueFd> old_root = EnterEmptyView();
//   for (const MountView& mount : view) PlaceMount(old_root->get(), mount);
//   // each worker, in a copy of that mount namespace and a pid namespace of its own:
//   SysResult<UniqueFd> proc = PrepareProc();          // ahead, before there is an order
//   for (const MountView& mount : own) PlaceMount(old_root, mount);
//   SealView(old_root, proc->get(), own);              // nothing but the view is left
//
// Until it is sealed the old root stands at /proc: a new proc may only be mounted while another one
// is in sight (mount_too_revealing in fs/namespace.c), and so no name is left over where it was.
#pragma once

#include <span>

#include "base/sys_error.h"
#include "base/unique_fd.h"
#include "sandbox/values.h"

namespace pa::sandbox {

struct MountView {
  MountKind kind = MountKind::kReadOnly;
  const char* source = "";  // kReadOnly, kWritable, kDevice: of the old root; kSymlink: its text
  const char* target = "";  // absolute
};

// The root is an empty tmpfs, the old one stands at /proc. Returns the old one (O_PATH).
SysResult<UniqueFd> EnterEmptyView();

// `path` as it was before, without following any symlink. O_CLOEXEC is added to `flags`.
SysResult<UniqueFd> OpenOutside(int old_root, const char* path, int flags);

// Makes the target, with the directories above it, and what belongs there. A source that is not
// there is skipped: the command could not have reached it either. Sources are canonical: one that
// now leads through a symlink is refused (ELOOP).
SysResult<void> PlaceMount(int old_root, const MountView& mount);

// The proc of this pid namespace, read-only, mounted nowhere yet.
SysResult<UniqueFd> PrepareProc();

// Takes the old root away, puts `proc` in its place, and lets nobody make names in the view's own
// directories. `own`: what the worker has placed. Files of `proc` that others may not read are
// covered for root, whom their mode would let pass.
SysResult<void> SealView(int old_root, int proc, std::span<const MountView> own);

}  // namespace pa::sandbox
