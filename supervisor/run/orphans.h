// Orphans: what a guardian that was killed left behind.
//
// The guardian ends its tree in every case but one: when somebody kills the guardian itself. We are
// the subreaper above it, so its processes become our children, and are killed and reaped here.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>

#include "base/error.h"

namespace pa {

class Orphans {
 public:
  // From now on orphans come to us. Before the first worker starts; cheap afterwards.
  // An error: nobody can tell which children are somebody else's.
  Result<void> Adopt();

  // Kills and reaps our children that are no workers. True while any is still dying, which may
  // bring us its own children, and where they cannot be seen: call again.
  bool Kill(const std::function<bool(pid_t)>& is_worker);

 private:
  bool Hunt(const std::function<bool(pid_t)>& is_worker);

  bool adopted_ = false;
  std::set<pid_t> not_ours_;  // children that we had when we began, from whoever executed us
};

}  // namespace pa
