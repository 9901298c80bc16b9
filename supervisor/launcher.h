// Launcher: our end of one worker executable that waits to fork workers (worker/launch_socket.h).
// Launchers: one for each seccomp program, started when the first of its workers is wanted.
//
//   Launchers launchers(worker_path);
//   Result<pid_t> pid = launchers.Launch(program, descriptors);   // ours to reap
//
// Whatever a launcher says or does not say, an error means that no worker is left that can run
// anything: its descriptors hang up.
#pragma once

#include <sys/types.h>

#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "sandbox/prepared.h"

namespace pa {

class Launcher {
 public:
  // `seccomp`: struct sock_filter[].
  static Result<Launcher> Start(const std::string& worker_path, std::string_view seccomp);
  // Ends the launcher; its workers live on.
  ~Launcher();
  Launcher(Launcher&& other) noexcept;
  Launcher& operator=(Launcher&&) = delete;

  // `descriptors`: borrowed, by the worker's number. Waits until the worker exists.
  Result<pid_t> Launch(std::span<const int> descriptors);
  pid_t pid() const { return pid_; }

 private:
  Launcher(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}
  Result<pid_t> AwaitReply();

  pid_t pid_;
  UniqueFd socket_;
};

class Launchers {
 public:
  // `worker_path`: executable or script; absolute, or as execve takes it.
  explicit Launchers(std::string worker_path) : worker_path_(std::move(worker_path)) {}

  // A launcher that is found dead is replaced.
  Result<pid_t> Launch(const sandbox::SeccompProgram& program, std::span<const int> descriptors);
  bool Contains(pid_t pid) const;

 private:
  struct Kept {
    sandbox::SeccompProgram program;
    Launcher launcher;
  };
  Result<Launcher*> Find(const sandbox::SeccompProgram& program);

  std::string worker_path_;
  std::list<Kept> kept_;  // the most recently used first
};

}  // namespace pa
