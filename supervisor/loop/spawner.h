// Spawner: starts the processes that work for the server, with rights that the server itself may
// not have (supervisor/spawner). Without one the server starts them with its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "supervisor/loop/task.h"

namespace pa {

enum class Helper : std::uint8_t {
  kWorkers,  // a launcher of workers without namespaces
  kViews,    // one of workers with namespaces
  kJanitor,
};

class Spawner {
 public:
  virtual ~Spawner() = default;

  // Starts it as a child of ours, with `socket`, which is borrowed, as its end. Blocks as long as
  // posix_spawn(3) would.
  virtual Result<pid_t> Start(Helper helper, int socket) = 0;

  // Lets helpers that are started from now on reach what work in `directory` needs elsewhere: what
  // a repository or a configuration of git names, `paths` perhaps. False: they could already.
  virtual Task<Result<bool>> Reach(std::string directory, std::vector<std::string> paths) = 0;

  // A process of its own, which is no worker; -1: there is none.
  virtual pid_t pid() const = 0;
};

}  // namespace pa
