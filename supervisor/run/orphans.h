// Orphans: kills and reaps the processes that a killed guardian left behind.
//
//    Result<void> adopted = orphans.Adopt();         // before the first worker
//    const bool again = orphans.Kill(is_worker);     // some are still dying: call it once more
//
// The guardian ends its tree in every case but one: when somebody kills the guardian itself. We are
// the subreaper above it, so its processes become our children.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>

#include "base/error.h"

namespace pa {

class Orphans {
 public:
  // Makes this process a subreaper, so that orphans become its children. Call it before the first
  // worker starts; further calls cost nothing. An error: we cannot tell which children are not
  // ours.
  Result<void> Adopt();

  // Kills and reaps our children that are not workers. True: call again, because one of them is
  // still dying and may leave us its own children, or because the children cannot be listed.
  bool Kill(const std::function<bool(pid_t)>& is_worker);

 private:
  bool Hunt(const std::function<bool(pid_t)>& is_worker);

  bool adopted_ = false;
  std::set<pid_t> not_ours_;  // children at the start, from the program that executed us
};

}  // namespace pa
