// StoppedAt: work in a child that is stopped before and after each of its system calls, for what
// must hold at any moment: that it is killed there, or that somebody else does something meanwhile.
//
//   for (int stop = 1; StoppedAt(stop, [&] { Save(path); }, [&](pid_t child) { kill(child,
//       SIGKILL); }); ++stop) {
//     EXPECT_TRUE(IsOldOrNew(path)) << "killed at stop " << stop;
//   }
#pragma once

#include <sys/types.h>

#include <functional>

namespace pa::testing {

// At the `stop`th of them `meanwhile` is done here; then the child goes on to its end, if it lives.
// False: it had ended before.
bool StoppedAt(int stop, const std::function<void()>& work,
               const std::function<void(pid_t child)>& meanwhile);

}  // namespace pa::testing
