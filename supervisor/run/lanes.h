// Lanes: three queues, so that nobody who only looks waits for a build, or is refused because of
// builds.
//
//   RunQueue& queue = lanes.For(allow.purpose());
//   queue.Enter(key, PlacesIn(allow.purpose(), policy->limits), callback);
//
// What changes the project, and may take as long as it likes, has the places that the policy gives.
// To look into a Makefile is to execute it (`$(shell sleep 60)`), so that has a lane of its own,
// and cannot hold up `read`, `glob` and `grep`. First come, first served in each.
#pragma once

#include <array>
#include <cstddef>

#include "policy/decide.h"
#include "supervisor/loop/run_queue.h"

namespace pa {

// For what looks, at least so many run at once and wait, whatever limits.concurrent and
// limits.queue say.
inline constexpr std::uint64_t kPlacesToLook = 4;
inline constexpr std::uint64_t kPlacesToWaitForALook = 64;

// While it runs: its order and streams, its worker, its slot, its directory, what is kept of its
// output. Where there are few descriptors, fewer calls run at once, and the others wait.
inline constexpr std::size_t kDescriptorsOfACall = 12;

RunQueue::Limits PlacesIn(policy::Purpose purpose, const policy::Limits& limits);
// Of calls rather than of commands: a call that has begun may wait with directories open. Where
// there are descriptors for all that may run and wait, all may begin; else the others wait with
// nothing open. `purpose`: the tool's.
RunQueue::Limits PlacesToBegin(policy::Purpose purpose, const policy::Limits& limits);

class Lanes {
 public:
  RunQueue& For(policy::Purpose purpose);
  void RefuseAll();
  std::size_t running() const;
  bool empty() const;

 private:
  std::array<RunQueue, 3> queues_;
};

}  // namespace pa
