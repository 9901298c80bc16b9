// Turn: a place in a RunQueue, given back at the end of its scope.
//
//    Turn turn(queue, &cancel, &place);
//    if (!turn.Enter(key, places)) co_return Busy();
//    Completion<bool>& granted = turn.granted();
//    const bool ours = co_await granted;  // false: cancelled, or the server ends
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/queue_place.h"
#include "supervisor/loop/run_queue.h"
#include "supervisor/loop/task.h"

namespace pa {

class Turn {
 public:
  // While it waits, `place` says how many are before it. `cancel` and `place` may be null.
  Turn(RunQueue& queue, CancelSource* cancel, QueuePosition* place)
      : queue_(queue), cancel_(cancel), place_(place) {}
  ~Turn() {
    if (cancel_ != nullptr) cancel_->Forget();
    if (ticket_ != RunQueue::kFull) queue_.Leave(ticket_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool Enter(std::string key, RunQueue::Limits places) {
    // Before it enters, because its turn may come at once.
    if (place_ != nullptr) place_->calls_before = [this] { return queue_.Before(ticket_); };
    if (place_ != nullptr && place_->patient) places.waiting = UINT64_MAX;
    ticket_ = queue_.Enter(std::move(key), places, [this](bool granted) {
      if (place_ != nullptr) place_->calls_before = nullptr;
      granted_.Set(granted);
    });
    if (ticket_ == RunQueue::kFull && place_ != nullptr) place_->calls_before = nullptr;
    if (ticket_ == RunQueue::kFull) return false;
    if (cancel_ != nullptr) cancel_->OnCancel([this] { queue_.Refuse(ticket_); });
    return true;
  }
  Completion<bool>& granted() { return granted_; }

 private:
  RunQueue& queue_;
  CancelSource* cancel_;
  QueuePosition* place_;
  RunQueue::Ticket ticket_ = RunQueue::kFull;
  Completion<bool> granted_;
};

}  // namespace pa
