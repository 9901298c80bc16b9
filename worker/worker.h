// RunWorker: one order from its first byte to the end of the process tree. Freestanding.
#pragma once

namespace pa::worker {

// Where the order comes from: a file for `--spec`, or null for the supervisor's descriptors
// (worker/protocol.h). Returns the worker's exit status.
int RunWorker(const char* by_hand);

}  // namespace pa::worker
