// Lanes: queues, so that a call that only looks neither waits for a build nor is refused
// because of builds.
//
//    RunQueue& queue = lanes.For(allow.purpose());
//    queue.Enter(key, PlacesIn(allow.purpose(), policy->limits), callback);
//
// The first lane is for commands that change the project and may take as long as they like; the
// policy says how many places it has. To inspect a Makefile is to execute it (`$(shell sleep 60)`),
// so inspection has a lane of its own, where it cannot hold up `read`, `glob` and `grep`, which use
// the third one. Each lane is first come, first served.
#pragma once

#include <array>
#include <cstddef>

#include "policy/decide.h"
#include "supervisor/loop/run_queue.h"

namespace pa {

// In a lane that only looks, at least this many commands run at once, and at least this many wait,
// even if limits.concurrent and limits.queue are lower.
inline constexpr std::uint64_t kPlacesToLook = 4;
inline constexpr std::uint64_t kPlacesToWaitForALook = 64;

// The descriptors of a running call: its order and streams, worker, slot, directory and stored
// output. If descriptors are scarce, fewer calls run at once and the others wait.
inline constexpr std::size_t kDescriptorsOfACall = 12;

RunQueue::Limits PlacesIn(policy::Purpose purpose, const policy::Limits& limits);
// The same for calls instead of commands: a call that has begun may wait with directories open. If
// there are enough descriptors for all calls that may run and wait, all calls may begin. Otherwise
// the rest waits with nothing open. `purpose`: the tool's.
RunQueue::Limits PlacesToBegin(policy::Purpose purpose, const policy::Limits& limits);

// Calls that make other calls and hold nothing open meanwhile; more are refused.
inline constexpr RunQueue::Limits kPlacesOfCallers{.concurrent = 64, .waiting = 0};

class Lanes {
 public:
  RunQueue& For(policy::Purpose purpose);
  RunQueue& Callers() { return queues_.back(); }
  void RefuseAll();
  std::size_t running() const;
  std::size_t waiting() const;
  bool empty() const;

 private:
  std::array<RunQueue, 4> queues_;
};

}  // namespace pa
