// Spawner: does for the server what the server has no right to do itself (supervisor/spawner): it
// starts the processes that work for it, and reads files of the user that the server needs. Without
// one the server does so with its own rights.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/loop/task.h"

namespace pa {

enum class Helper : std::uint8_t {
  kWorkers,  // a launcher of workers without namespaces
  kViews,    // one of workers with namespaces
  kJanitor,
};

struct SocketFile {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
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

  // One of the files that the server itself reads (Bounds::own), to be read. Blocks. EPERM: it is
  // none of them.
  virtual Result<UniqueFd> Open(const std::string& path) = 0;

  // Removes the file of a socket on which the server listens (Bounds::sockets), if it is that one
  // still. Blocks.
  virtual void RemoveSocket(const SocketFile& socket) = 0;

  // Who commits, by the user's configuration of git: a packed GitIdentityFound.
  virtual Task<Result<std::string>> ReadIdentity() = 0;

  // As GitAtWork (supervisor/run/git_at_work.h).
  virtual Task<Result<std::string>> GitAtWork(std::vector<std::string> directories) = 0;

  // A process of its own, which is no worker; -1: there is none.
  virtual pid_t pid() const = 0;
};

}  // namespace pa
