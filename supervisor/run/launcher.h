// Launcher: our end of one worker executable that forks workers (worker/launch_socket.h). It is one
// ahead: while a worker works, the next one is forked and waits. Where calls come so fast that one
// had to be waited for, it is more of them. Launchers: one for each kind of worker, started when
// the first of its workers is wanted.
//
//   Launchers launchers(loop, worker_path);
//   Task<Result<LaunchedWorker>> task = launchers.Launch(kind, {in, out, err, spec, cwd,
//       ruleset}, limits);
//   Result<LaunchedWorker> worker = co_await task;
//   launchers.AskAhead();  // kAskAheadAfter later
//
// Nobody waits on the loop for a launcher: one that was stopped, or does not answer, holds up the
// call that needs it, and only until it is killed and replaced.
//
// Without a view the next worker is asked for at once. With one later, because a worker that enters
// its view waits for an RCU grace period (umount2), hence for every processor that is within a
// system call, and to fork one with namespaces is a long one. Where calls come one upon the other,
// it is at once all the same.
//
// Whatever a launcher says or does not say, an error means that no worker is left that can run
// anything: its descriptors hang up.
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

namespace pa {

struct LaunchedWorker {
  pid_t pid = -1;    // ours to reap
  UniqueFd control;  // SOCK_SEQPACKET; its hang-up is the worker's end: nobody else holds it
  std::optional<CallGroup> group;  // in which it lives, where there are any
};

// What workers of one launcher have in common: the program, which it has loaded; or namespaces with
// a view, which are made before the program is loaded, and then each has one of its own.
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

// A worker whose launcher says nothing for so long is not coming. The first order waits for its
// start too.
inline constexpr std::chrono::seconds kLauncherPatience{5};

// What becomes of a child of ours that was killed and not yet reaped; there is no need to wait for
// it.
using Depart = std::function<void(pid_t)>;

class Launcher : public std::enable_shared_from_this<Launcher> {
 public:
  struct Setting {
    uv_loop_t* loop;
    std::string worker_path;
    CallGroups* groups;  // null, or open and there, and outlives the workers too
    Depart depart;
  };
  static Result<std::shared_ptr<Launcher>> Start(const Setting& setting, const LaunchKind& kind);
  // Ends the launcher and the workers that wait; those that work live on. Waits for what it owes, a
  // second at most: not for the loop, but for its end (End).
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // One that waits for its order. EPIPE: there is no launcher any more. ETIMEDOUT: it does not
  // answer. ECANCELED: it was ended meanwhile, for the sake of others (End). Any error: it serves
  // nobody who asks from now on.
  static Task<Result<LaunchedWorker>> Next(std::shared_ptr<Launcher> self);
  // `descriptors`: borrowed; those of a worker but for its control socket, in the order of their
  // numbers. `limits`: of its group, if it has one. EPIPE: the worker had ended before.
  Result<void> Order(LaunchedWorker& worker, std::span<const int> descriptors,
                     const sandbox::ResourceLimits& limits);
  void AskAhead();  // if fewer wait than shall
  void Retire();    // it serves who awaits a worker already; nobody is asked for ahead
  void End();       // at once; whoever awaits a worker gets ECANCELED
  // Whether it is this launcher, or a worker of it that waits.
  bool Contains(pid_t pid) const;
  // Whether it may have a worker that is a child of ours already, and of which we have not heard.
  bool owes();
  bool is_awaited() const { return !claims_.empty(); }
  bool is_retired() const { return retired_.has_value(); }
  // Whether it was retired so long ago that what it owes is not coming.
  bool is_overdue() const;
  // Whether who else awaits a worker may still get it.
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
  std::deque<LaunchedWorker> owed_;  // we have asked for them and do not know their numbers yet
  std::deque<LaunchedWorker> waiting_;
  std::size_t ahead_ = 1;  // how many of both there shall be
  std::optional<std::chrono::steady_clock::time_point> retired_;
  bool answers_ = true;
  std::list<Completion<bool>*>
      claims_;  // of the calls that await one, a queue; null: that one is at work
  bool serving_ = false;
  std::optional<Error> refused_;  // why the last one could not be forked
};

class Launchers {
 public:
  // `worker_path`: executable or script; absolute, or as execve takes it. `on_lost` hears of each
  // launcher that was given up: it may have forked somebody of whom we have not heard. `depart`:
  // without it whoever was killed is waited for.
  explicit Launchers(
      uv_loop_t* loop, std::string worker_path, std::function<void()> on_lost = [] {},
      CallGroups* groups = nullptr, Depart depart = nullptr);

  // A launcher that is found dead, or does not answer, is replaced, and so is a worker that ended
  // before it could begin. `descriptors`: borrowed until it returns.
  Task<Result<LaunchedWorker>> Launch(LaunchKind kind, std::vector<int> descriptors,
                                      sandbox::ResourceLimits limits = {});
  void AskAhead();           // each launcher for whom nobody waits
  bool Contains(pid_t pid);  // of a child that nobody knows yet: true
  // Whether all workers are known. `by_force`: they are, because launchers that owe one are given
  // up.
  bool AllKnown(bool by_force);
  // The launchers that are kept serve nobody who asks from now on; who awaits a worker gets it.
  void Renew();
  void Close();  // whoever awaits a worker gets none; nobody does afterwards

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
  std::optional<TimerHandle> sweep_;  // as long as one of them is retired
  bool closed_ = false;
};

}  // namespace pa
