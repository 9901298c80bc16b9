// CommandNetwork: the network namespace of a command that has one of its own (network: loopback).
// Other commands can share it, where both have namespaces.
//
//    Task<Result<CommandNetwork>> task = record.own_network->Network();
//    Result<CommandNetwork> network = co_await task;
//    const RunOptions options{.network = *network};
#pragma once

#include <cstdint>
#include <memory>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/loop/task.h"

namespace pa {

// The pointer keeps the network, also when the command has ended.
struct SharedNetwork {
  UniqueFd fd;         // of the namespace
  bool ended = false;  // the command has ended
};
using CommandNetwork = std::shared_ptr<SharedNetwork>;

// A command that runs and has a network of its own.
class HasOwnNetwork {
 public:
  // The same one each time. ESRCH: the command has ended. ETIMEDOUT: its guardian does not answer.
  virtual Task<Result<CommandNetwork>> Network() = 0;
  // A socket in its network that is connected to the port of 127.0.0.1 or ::1, or is about to be;
  // non-blocking. The same errors, and ECONNREFUSED: nobody listens.
  virtual Task<Result<UniqueFd>> Connect(std::uint16_t port) = 0;

 protected:
  ~HasOwnNetwork() = default;
};

}  // namespace pa
