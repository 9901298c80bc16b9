// Launcher: the supervisor's end of a worker executable that forks workers
// (worker/launch_socket.h). It keeps one worker ahead: while a worker works, the next one is forked
// and waits. If calls come so fast that one has to wait for its worker, it keeps more of them
// ahead. Launchers: one launcher for each kind of worker, started when the first worker of that
// kind is needed.
//
//    Launchers launchers(loop, worker_path);
//    Task<Result<LaunchedWorker>> task =
//        launchers.Launch(kind, {in, out, err, spec, cwd, ruleset}, limits);
//    Result<LaunchedWorker> worker = co_await task;
//    launchers.AskAhead();  // kAskAheadAfter later
//
// The loop never blocks on a launcher. A launcher that is stopped, or does not answer, holds up
// only the calls that need it, and only until the launcher is killed and replaced.
//
// Without a view the next worker is asked for at once. With a view it is asked for later: a worker
// that enters its view waits for an RCU grace period (umount2), hence for every processor that is
// within a system call, and forking a worker with namespaces is a long system call. In a burst of
// calls it is asked for at once all the same.
//
// Whatever a launcher replies, and even if it does not reply, an error means that no worker is left
// that can run anything: its descriptors hang up.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "sandbox/prepared.h"
#include "sandbox/view_plan.h"
#include "supervisor/loop/task.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/run/call_groups.h"
#include "supervisor/run/command_network.h"

namespace pa {

struct LaunchedWorker {
  pid_t pid = -1;    // for the caller to reap
  UniqueFd control;  // SOCK_SEQPACKET; hangs up when the worker ends: no one else holds it
  std::optional<CallGroup> group;  // the cgroup in which it lives, if there are cgroups
};

// What the workers of one launcher have in common: the seccomp program, which the launcher has
// loaded; or namespaces with a view. A view has to be made before the program is loaded, so there
// each worker loads a program of its own.
struct LaunchKind {
  sandbox::SeccompProgram program;
  std::shared_ptr<const sandbox::View> view;
  sandbox::Network network = sandbox::Network::kNone;  // has no effect without a view
  CommandNetwork join = {};  // which they share; null: each has its own. Only with a view
  // Neither of them: each order has a seccomp program of its own, under which a launcher could not
  // work (worker::IsAlone).
  bool alone = false;
};

// After this time a worker is in its view, and its command runs.
inline constexpr std::chrono::milliseconds kAskAheadAfter{3};

// The default of limits.concurrent: so many commands may begin at once.
inline constexpr std::size_t kMaxAhead = 4;

// How long a call waits for the reply of a launcher. The first call waits for the launcher's start,
// too.
inline constexpr std::chrono::seconds kLauncherPatience{5};

// Takes over a child of ours that was killed and not reaped yet. It need not wait for the child.
using Depart = std::function<void(pid_t)>;

// Starts one as a child of ours, with its end of a socket pair. `views`: as LaunchKind::view.
using StartLauncher = std::function<Result<pid_t>(bool views, int socket)>;
// By ourselves. `worker_path`: executable or script; absolute, or as execve takes it.
StartLauncher StartBy(std::string worker_path);

class Launcher : public std::enable_shared_from_this<Launcher> {
 public:
  struct Setting {
    uv_loop_t* loop;
    StartLauncher start;
    CallGroups* groups;  // null, or opened and there(); outlives the workers, too
    Depart depart;
  };
  static Result<std::shared_ptr<Launcher>> Start(const Setting& setting, const LaunchKind& kind);
  // Ends the launcher and the workers that wait; workers that have their order live on. Blocks for
  // each reply that the launcher owes, up to a second. On the loop call End first, unless it owes
  // none.
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Returns a worker that waits for its order. EPIPE: the launcher has ended. ETIMEDOUT: it does
  // not answer. ECANCELED: it was ended meanwhile, because of another call (End). After any error
  // Launchers retires it.
  static Task<Result<LaunchedWorker>> Next(std::shared_ptr<Launcher> self);
  // `descriptors`: borrowed; those of a worker (worker/protocol.h) except its control socket, in
  // the order of their numbers. `limits`: for its cgroup, if it has one. EPIPE: the worker had
  // ended before.
  Result<void> Order(LaunchedWorker& worker, std::span<const int> descriptors,
                     const sandbox::ResourceLimits& limits);
  void AskAhead();  // if fewer workers wait than should
  void Retire();    // calls that await a worker get it; no more workers are asked for ahead
  void End();       // at once; calls that await a worker get ECANCELED
  // Whether `pid` is this launcher, or a worker of it that waits.
  bool Contains(pid_t pid) const;
  // Whether it may have forked a worker, already a child of ours, whose pid we do not know yet.
  bool owes();
  bool is_awaited() const { return !claims_.empty(); }
  bool is_retired() const { return retired_.has_value(); }
  // Whether it was retired so long ago that the replies that it owes will not come.
  bool is_overdue() const;
  // Whether other calls that await a worker may still get one.
  bool answers() const { return answers_; }

 private:
  Launcher(const Setting& setting, pid_t pid, UniqueFd socket, bool has_view);
  Result<void> Ask();
  Result<bool> TakeReply();
  Result<void> TakeReplies(bool all);
  Result<void> Watch();
  bool CanServe() const;
  void Serve();
  void Reckon();

  uv_loop_t* loop_;
  CallGroups* groups_;
  Depart depart_;
  bool has_view_;
  pid_t pid_;        // -1: ended
  UniqueFd socket_;  // empty: ended
  PollHandle poll_;
  std::chrono::steady_clock::time_point last_launch_;
  bool in_a_burst_ = true;
  std::deque<LaunchedWorker> owed_;  // asked for; their pids are not known yet
  std::deque<LaunchedWorker> waiting_;
  std::size_t ahead_ = 1;  // how many of both there should be, besides one for each claim
  std::optional<std::chrono::steady_clock::time_point> retired_;
  bool answers_ = true;
  // The queue of the calls that await a worker. Null: that call is running.
  std::list<Completion<bool>*> claims_;
  bool serving_ = false;
  std::optional<Error> refused_;  // why the last one could not be forked
};

class Launchers {
 public:
  // `on_lost` is called after each launcher that was given up: it may have forked a worker of which
  // we do not know. `depart` null: killed children are reaped at once, which blocks.
  explicit Launchers(
      uv_loop_t* loop, StartLauncher start, std::function<void()> on_lost = [] {},
      CallGroups* groups = nullptr, Depart depart = nullptr);
  explicit Launchers(
      uv_loop_t* loop, std::string worker_path, std::function<void()> on_lost = [] {},
      CallGroups* groups = nullptr, Depart depart = nullptr)
      : Launchers(loop, StartBy(std::move(worker_path)), std::move(on_lost), groups,
                  std::move(depart)) {}

  // Replaces a launcher that is dead or does not answer, and a worker that ended before it could
  // begin. `descriptors`: borrowed until it returns.
  Task<Result<LaunchedWorker>> Launch(LaunchKind kind, std::vector<int> descriptors,
                                      sandbox::ResourceLimits limits = {});
  void AskAhead();           // of each launcher
  bool Contains(pid_t pid);  // true also for every child while a launcher owes one
  // Whether the pids of all workers are known. `by_force`: launchers that owe one are given up, so
  // that they are.
  bool AllKnown(bool by_force);
  // Retires all launchers: calls that await a worker still get it, later calls get a new launcher.
  void Renew();
  // The same for those in this network, which nobody needs any more.
  void Retire(const CommandNetwork& network);
  void Close();  // calls that await a worker get ECANCELED, and so do later ones

 private:
  struct Kept {
    LaunchKind kind;
    std::shared_ptr<Launcher> launcher;
  };
  Result<std::shared_ptr<Launcher>> Find(const LaunchKind& kind);
  void GiveUp(const std::shared_ptr<Launcher>& launcher);
  void RemoveRetired();

  Launcher::Setting setting_;
  std::function<void()> on_lost_;
  std::list<Kept> kept_;              // the most recently used first
  std::optional<TimerHandle> sweep_;  // while one of them is retired
  bool closed_ = false;
};

}  // namespace pa
