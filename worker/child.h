// The child: confines itself, then becomes the command (or does the one file operation or the
// probe). Freestanding.
#pragma once

#include <sys/types.h>

#include "worker/outcome.h"
#include "worker/spec_view.h"

namespace pa::worker {

struct ChildOrder {
  const SpecView* spec = nullptr;
  Outcome* outcome = nullptr;   // in memory that the guardian sees too
  bool by_hand = false;         // no descriptors came with the spec
  bool seccomp_loaded = false;  // by the launcher
  bool namespaces = false;      // we are in a view of our own
  int landlock_abi = 0;
  pid_t guardian = 0;
  pid_t supervisor = 0;
};

// What IsAlone: in this process, which lives for nothing else. True: done; else the failure is in
// the order's outcome. The descriptor of the control socket stays.
bool RunAlone(const ChildOrder& order);

// For clone(2): `argument` is a ChildOrder. Returns the exit status of a child that did not exec; a
// failure is in its outcome.
int RunChild(void* argument);

}  // namespace pa::worker
