// RunQueue: decides which entry may run now: first come, first served, and one at a time for each
// key. Limits may differ between entries: nobody overtakes an entry that waits for a place, not
// even one whose own limits leave a place. An entry that waits for its key only holds up those with
// the same key. It does not use the loop.
//
//    RunQueue::Ticket ticket = queue.Enter(key, limits, [&](bool granted) { ... });
//    if (ticket == RunQueue::kFull) return Busy();
//    ... granted: run ...
//    queue.Leave(ticket);                        // done; the next may run
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

  // Calls `callback` once: with true when its turn has come, which may be now, or with false when
  // it is refused. kFull: it is never called.
  Ticket Enter(std::string key, Limits limits, Callback callback);
  // An entry that waits will not run; its callback gets false. It still has to leave.
  void Refuse(Ticket ticket);
  void RefuseAll();
  void Leave(Ticket ticket);
  // How many earlier entries have neither left nor been refused.
  std::size_t Before(Ticket ticket) const;

  std::size_t running() const { return running_; }
  std::size_t waiting() const;
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

  std::list<Entry> entries_;  // in order of arrival
  std::size_t running_ = 0;
  bool starting_ = false;
  Ticket last_ticket_ = kFull;
};

}  // namespace pa
