// StoppedAt: runs work in a child that is stopped before or after one of its system calls, for what
// must hold at any moment: if the child is killed there, or if another process acts meanwhile.
//
//    const auto save = [&] { Save(path); };
//    const auto kill_it = [](pid_t child) { kill(child, SIGKILL); };
//    for (int stop = 1; StoppedAt(stop, save, kill_it); ++stop) {
//      EXPECT_TRUE(IsOldOrNew(path)) << "killed at stop " << stop;
//    }
#pragma once

#include <sys/types.h>

#include <functional>

namespace pa::testing {

// Runs `meanwhile` in this process at the `stop`th stop; then the child runs to its end, if it
// still lives. False: it had ended before that stop.
bool StoppedAt(int stop, const std::function<void()>& work,
               const std::function<void(pid_t child)>& meanwhile);

}  // namespace pa::testing
