// RunQueue: who may run now. First come, first served; one at a time for each key. Knows no loop.
// Limits may differ from one to the next: who waits for a place is passed over by nobody, even by
// who would have one.
//
//   RunQueue::Ticket ticket = queue.Enter(key, limits, [&](bool granted) { ... });
//   if (ticket == RunQueue::kFull) return Busy();
//   ... granted: run ...
//   queue.Leave(ticket);                        // done; the next may go
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>

namespace pa {

class RunQueue {
 public:
  struct Limits {
    std::uint64_t concurrent = 1;
    std::uint64_t waiting = 0;
  };
  using Ticket = std::uint64_t;
  static constexpr Ticket kFull = 0;
  using Callback = std::function<void(bool granted)>;

  // Calls `callback` once: now, when its turn has come, or with false when it is refused. kFull:
  // never.
  Ticket Enter(std::string key, Limits limits, Callback callback);
  // One that waits will not run; its callback hears false. It still has to leave.
  void Refuse(Ticket ticket);
  void RefuseAll();
  void Leave(Ticket ticket);
  // How many that came before one that waits have not left yet.
  std::size_t Before(Ticket ticket) const;

  std::size_t running() const { return running_; }
  bool empty() const { return entries_.empty(); }

 private:
  enum class State { kWaiting, kRunning, kRefused };
  struct Entry {
    Ticket ticket;
    std::string key;
    Limits limits;
    Callback callback;
    State state = State::kWaiting;
  };

  bool LacksPlace(const Entry& entry) const;
  bool KeyIsFree(const Entry& entry) const;
  Entry* NextToRun();
  void StartAllThatMay();
  std::size_t waiting() const;

  std::list<Entry> entries_;  // in order of arrival
  std::size_t running_ = 0;
  bool starting_ = false;
  Ticket last_ticket_ = kFull;
};

}  // namespace pa
