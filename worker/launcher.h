// RunLauncher: waits, hardened and with the seccomp program loaded, for orders of workers, and
// forks each of them. A policy needs one for each of its programs; what it saves is the start of an
// executable and the translation of a program for every call (docs/adr/0012). It holds nothing of
// any order, opens nothing and executes nothing. Freestanding.
#pragma once

namespace pa::worker {

// The exit status of the launcher; in each worker that of the worker.
int RunLauncher();

}  // namespace pa::worker
