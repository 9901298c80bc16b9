// RunWorker: carries out one order, from its first byte to the end of the process tree.
// Freestanding.
#pragma once

namespace pa::worker {

struct CeilingView;

// Where the order comes from, and what has been done to this process.
struct Origin {
  // The file of `--spec`; null: the descriptors of the supervisor (worker/protocol.h).
  const char* file = nullptr;
  bool seccomp_loaded = false;  // by the launcher: the spec has no program
  bool namespaces = false;      // this process has its own: kOldRootFd and kProcFd are open
  const CeilingView* ceiling = nullptr;  // null: none; the order is whatever it is
};

// A process that comes from a launcher is already hardened (worker/harden.h); otherwise that is
// done here. Returns the worker's exit status.
int RunWorker(const Origin& origin);

}  // namespace pa::worker
