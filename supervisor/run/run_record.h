// RunRecord: what the Runner did for one call: the commands that ran, and the call's present place
// in the queue.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "supervisor/loop/queue_place.h"

namespace pa {

class HasOwnNetwork;  // supervisor/run/command_network.h

struct CommandRecord {
  std::vector<std::string> argv;  // empty if the worker itself did the work
  std::string outcome;            // as in the contract
  int exit_code = -1;
  int signal = 0;
  std::chrono::microseconds duration{0};
  std::uint64_t output_bytes = 0;
  bool namespaces = false;
  std::size_t protected_changes = 0;
  std::uint32_t strays_killed = 0;
};

struct RunRecord {
  std::vector<CommandRecord> commands;  // in the order in which they ended
  QueuePosition queue;
  HasOwnNetwork* own_network = nullptr;  // of the command that runs now; null: there is none
};

}  // namespace pa
