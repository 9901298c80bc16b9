// JanitorProcess: the janitor as a process of its own, which is started with the first order.
//
//    JanitorProcess janitor(loop, kOwnExecutable);
//    Task<Result<Found>> task = Ask<Found>(janitor, std::move(order), query);
//    ...
//    janitor.Close();          // kills chores that run; their answers are errors
//
// After half a minute without an order it ends, and the next order starts another one.
// It is the executable of the server with one argument (kJanitorOption), so it is always of the
// same build. Whoever kills it ends the chores that run; they are done again by another one, three
// times at most.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/uv_handles.h"

namespace pa {

inline constexpr const char* kOwnExecutable = "/proc/self/exe";

// Starts it as a child of ours, with its end of a socket pair.
using StartJanitor = std::function<Result<pid_t>(int socket)>;
// `executable` as the janitor.
Result<pid_t> StartOwnJanitor(const std::string& executable, int socket);

class JanitorProcess : public Janitor {
 public:
  // `reap`: gets the process when it was killed; until Close, which reaps it itself.
  JanitorProcess(uv_loop_t* loop, StartJanitor start, std::function<void(pid_t)> reap);
  // By ourselves.
  JanitorProcess(uv_loop_t* loop, std::string executable, std::function<void(pid_t)> reap);
  ~JanitorProcess() override;
  JanitorProcess(const JanitorProcess&) = delete;
  JanitorProcess& operator=(const JanitorProcess&) = delete;

  Task<Result<std::string>> Do(JanitorOrder order) override;
  // The process, or -1. Its chores are its children.
  pid_t pid() const { return pid_; }
  // Ends it if it has nothing to do; the next order starts another one.
  void Rest();
  // Kills it; its chores are done again by another one, as the next ones are.
  void Renew();
  void Close();

 private:
  struct Running;
  struct Files;

  Task<Result<std::string>> DoOnce(const JanitorOrder& order);

  // For the reply that says which process it is.
  static bool IsWaiting(const Running* chore);
  static void Kill(const Running& chore);
  Result<void> Start();
  Result<void> Send(Running& chore, const Files& files, const JanitorOrder& order);
  void TakeReplies();
  void Lose(const Error& error);
  void EndAll(bool (*which)(const Running*), const Error& error);
  void OnStarted(Running& chore, UniqueFd process);
  void Tick();
  void End(Running& chore, std::optional<Error> failed);

  uv_loop_t* loop_;
  StartJanitor start_;
  std::function<void(pid_t)> reap_;
  pid_t pid_ = -1;
  UniqueFd socket_;
  PollHandle replies_;
  std::optional<TimerHandle> idle_;  // until Close; the janitor ends when it has had no order
  std::optional<TimerHandle> tick_;  // until Close
  std::uint64_t last_ = 0;           // number of an order
  std::list<Running*> running_;      // that run or wait for the reply, the oldest first
  bool closed_ = false;
};

}  // namespace pa
