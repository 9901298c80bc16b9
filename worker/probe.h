// Probe: attempts that the confinement must deny, made from inside it, so that "enforced" is
// something that was observed. The list is fixed; bit n of WorkerStatus::probe_tried and
// probe_denied is attempt n.
//
//    for (unsigned n = 0; n < kProbeCount; ++n) {
//      if (status.probe_tried >> n & 1) Print(kProbeNames[n], status.probe_denied >> n & 1);
//    }
//
// spec.file is the canary: a file outside every grant that the user may read and write,
// preferably one that the supervisor made for this purpose. (A file that the user may not read
// anyway would prove nothing; the worker refuses it.) An attempt that succeeds changes nothing.
//
// To add an attempt: its name here, before the last one, and its line in probe.cc at the same
// place.
#pragma once

#include <sys/types.h>

#include "sandbox/values.h"

namespace pa::worker {

inline constexpr const char* kProbeNames[] = {
    "read a file outside",
    "write to a file outside",
    "truncate a file outside",
    "create a file outside",
    "open a TCP socket",
    "open a UDP socket",
    "open a Unix socket",
    "open a kernel crypto socket",
    "mount a file system",
    "trace a process outside",
    "read the environment of a process outside",
    "signal a process outside",
    "set up io_uring",
    "clone3",
    "reach the kernel's keyrings",
    "load a BPF program",
    "set a setuid bit",
    "type into a terminal",
    "use an inherited descriptor",
    "gain privileges by exec",
    "see a file outside",
    "change the mode of a file outside",
    "see a process outside",
    "see a network interface outside",
    "make a user namespace",  // stays the last: it changes what this process may do
};
inline constexpr unsigned kProbeCount = sizeof(kProbeNames) / sizeof(*kProbeNames);

struct Outcome;

struct ProbeOrder {
  const char* canary;
  sandbox::Network network;
  int landlock_abi;
  pid_t outsider;   // the supervisor; 0: it has no pid in our pid namespace
  bool namespaces;  // then everything outside is absent
};

// Fills probe_tried and probe_denied. Freestanding.
void Probe(const ProbeOrder& order, Outcome& outcome);

}  // namespace pa::worker
