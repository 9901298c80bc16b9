// RunLauncher: a process that hardens itself, loads the seccomp program or makes the view, then
// waits for orders and forks a worker for each. A policy needs one launcher for each of its
// programs. For every call it saves the start of an executable and the kernel's translation of a
// program (docs/adr/0012). Once it is prepared it opens nothing, executes nothing, and keeps
// nothing of any order. Freestanding.
#pragma once

namespace pa::worker {

enum class Bounds {
  kNone,     // whoever orders decides what
  kCeiling,  // at most what kCeilingFd says (worker/ceiling.h)
};

// Returns the exit status of the launcher and, in each worker, that of the worker.
int RunLauncher(Bounds bounds);

}  // namespace pa::worker
