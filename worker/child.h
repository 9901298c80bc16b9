// The child: confines itself, then executes the command, carries out the one file operation, or
// runs the probe. Freestanding.
#pragma once

#include <sys/types.h>

#include "worker/outcome.h"
#include "worker/spec_view.h"

namespace pa::worker {

struct ChildOrder {
  const SpecView* spec = nullptr;
  Outcome* outcome = nullptr;   // in memory that the guardian shares
  bool by_hand = false;         // run by hand: no descriptors came with the spec
  bool seccomp_loaded = false;  // the launcher has loaded the program
  bool namespaces = false;      // this process is in a view of its own
  bool has_pts = false;         // which has a devpts
  int landlock_abi = 0;
  pid_t guardian = 0;
  pid_t supervisor = 0;
};

// Carries out an action for which IsAlone() holds, in this process, which does nothing else. True:
// it is done. False: the failure is in the outcome of the order. The control socket stays open.
bool RunAlone(const ChildOrder& order);

// The entry point for clone(2): `argument` points to a ChildOrder. Returns the exit status of a
// child that did not exec; a failure is in its outcome.
int RunChild(void* argument);

}  // namespace pa::worker
