// RunWorker: one order from its first byte to the end of the process tree. Freestanding.
#pragma once

namespace pa::worker {

// Where the order comes from, and what its process has been through.
struct Origin {
  const char* file =
      nullptr;  // of `--spec`; null: the supervisor's descriptors (worker/protocol.h)
  bool seccomp_loaded = false;  // by the launcher: the spec has no program
  bool namespaces = false;      // it has its own: kOldRootFd and kProcFd are there
};

// The process is hardened (worker/harden.h) when it comes from a launcher, else that is done here.
// Returns the worker's exit status.
int RunWorker(const Origin& origin);

}  // namespace pa::worker
