// Whether an order stays within the ceiling of its launcher: what the policy can give to any
// command. Freestanding.
//
//    SysResult<void> within = CheckLaunch(launch, ceiling);                  // once, the launcher
//    SysResult<void> within = CheckOrder(spec, ceiling, {.namespaces = ...});  // each worker
//
// Whoever orders need not be believed: a supervisor that an attacker controls gets no more than the
// policy gives (docs/adr/0061). Without views Landlock keeps all of them within the paths, because
// the launcher enters a domain before it reads its order. That forbids to mount, so with views
// what a mount shows is compared here, and nothing else can be seen.
#pragma once

#include "base/sys_error.h"
#include "worker/spec_view.h"

namespace pa::worker {

// How the worker is confined already.
struct Standing {
  bool seccomp_loaded = false;  // the launcher's program, which CheckLaunch has seen
  bool namespaces = false;      // there is a view
};

// The subject of the error is what goes beyond: a path, a limit, a program.
SysResult<void> CheckLaunch(const LaunchView& launch, const CeilingView& ceiling);
SysResult<void> CheckOrder(const SpecView& spec, const CeilingView& ceiling, Standing standing);

}  // namespace pa::worker
