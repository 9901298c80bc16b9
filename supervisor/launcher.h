// Launcher: our end of one worker executable that forks workers (worker/launch_socket.h). It is one
// ahead: while a worker works, the next one is forked and waits. Where calls come so fast that one had to
// be waited for, it is more of them.
// Launchers: one for each kind of worker, started when the first of its workers is wanted.
//
//   Launchers launchers(worker_path);
//   Result<LaunchedWorker> worker =
//       launchers.Launch({.program = program}, {in, out, err, spec, cwd, ruleset}, limits);
//   launchers.AskAhead();  // kAskAheadAfter later
//
// Without a view the next worker is asked for at once. With one later, because a worker that enters its
// view waits for an RCU grace period (umount2), hence for every processor that is within a system call, and to
// fork one with namespaces is a long one. Where calls come one upon the other, it is at once all the same.
//
// Whatever a launcher says or does not say, an error means that no worker is left that can run
// anything: its descriptors hang up.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "sandbox/prepared.h"
#include "sandbox/view_plan.h"
#include "supervisor/call_groups.h"

namespace pa {

struct LaunchedWorker {
  pid_t pid = -1;    // ours to reap
  UniqueFd control;  // SOCK_SEQPACKET; its hang-up is the worker's end: nobody else holds it
  std::optional<CallGroup> group;  // in which it lives, where there are any
};

// What workers of one launcher have in common: the program, which it has loaded; or namespaces with a
// view, which are made before the program is loaded, and then each has one of its own.
struct LaunchKind {
  sandbox::SeccompProgram program;
  std::shared_ptr<const sandbox::View> view;
  sandbox::Network network = sandbox::Network::kNone;  // of no consequence without a view
  // Neither: each order brings a program of its own, which a launcher could not live with
  // (worker::IsAlone).
  bool alone = false;
};

// By then a worker is in its view, and its command runs.
inline constexpr std::chrono::milliseconds kAskAheadAfter{3};

// As many as the default of limits.concurrent lets begin at once.
inline constexpr std::size_t kMaxAhead = 4;

class Launcher {
 public:
  // `groups`: null, or open and there, and outlives the workers too.
  static Result<Launcher> Start(const std::string& worker_path, const LaunchKind& kind,
                                CallGroups* groups = nullptr);
  // Ends the launcher and the worker that waits; those that work live on.
  ~Launcher();
  Launcher(Launcher&& other) noexcept = default;
  Launcher& operator=(Launcher&&) = delete;

  // `descriptors`: borrowed; those of a worker but for its control socket, in the order of their
  // numbers. EPIPE: there is no launcher any more, or its worker has ended before it could begin.
  // Any error: this launcher is to be given up. `limits`: of its group, if it has one.
  Result<LaunchedWorker> Launch(std::span<const int> descriptors,
                                const sandbox::ResourceLimits& limits = {});
  void AskAhead();  // if fewer wait than shall
  // Whether it is this launcher, or a worker of it that waits. Waits for a worker that is being
  // forked: it is a child of ours already.
  bool Contains(pid_t pid);

 private:
  Launcher(pid_t pid, UniqueFd socket, CallGroups* groups, bool has_view)
      : pid_(pid), socket_(std::move(socket)), groups_(groups), has_view_(has_view) {}
  Result<void> Ask();
  Result<void> AwaitReply();
  Result<void> AwaitWorker();
  void Reckon(bool in_a_burst);
  void Kill();

  pid_t pid_;        // -1: dead and reaped
  UniqueFd socket_;  // empty: moved from
  CallGroups* groups_;
  bool has_view_;
  std::chrono::steady_clock::time_point last_launch_;
  std::deque<LaunchedWorker> owed_;  // we have asked for them and do not know their numbers yet
  std::deque<LaunchedWorker> waiting_;
  std::size_t ahead_ = 1;  // how many of both there shall be
};

class Launchers {
 public:
  // `worker_path`: executable or script; absolute, or as execve takes it. `on_lost` hears of each
  // launcher that was given up: it may have forked somebody of whom we have not heard.
  explicit Launchers(
      std::string worker_path, std::function<void()> on_lost = [] {}, CallGroups* groups = nullptr)
      : worker_path_(std::move(worker_path)), on_lost_(std::move(on_lost)), groups_(groups) {}

  // A launcher that is found dead is replaced.
  Result<LaunchedWorker> Launch(const LaunchKind& kind, std::span<const int> descriptors,
                                const sandbox::ResourceLimits& limits = {});
  void AskAhead();  // each launcher for whom nobody waits
  bool Contains(pid_t pid);

 private:
  struct Kept {
    LaunchKind kind;
    Launcher launcher;
  };
  Result<Launcher*> Find(const LaunchKind& kind);

  std::string worker_path_;
  std::function<void()> on_lost_;
  CallGroups* groups_;
  std::list<Kept> kept_;  // the most recently used first
};

}  // namespace pa
