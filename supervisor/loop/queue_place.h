// QueuePosition: how many calls are before a call that waits, for the code that tells its client.
//
//    const InQueue waiting(&place, [&turn] { return turn.Before(); });   // to the end of its scope
//    ... if (place.calls_before) tell(place.calls_before()); ...
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace pa {

struct QueuePosition {
  std::function<std::size_t()> calls_before;  // null: it does not wait
  bool patient = false;                       // it waits for a place, however many wait
};

// To the end of its scope the call waits, with `before` calls before it. `place` may be null.
class InQueue {
 public:
  InQueue(QueuePosition* place, std::function<std::size_t()> before) : place_(place) {
    if (place_ != nullptr) place_->calls_before = std::move(before);
  }
  ~InQueue() {
    if (place_ != nullptr) place_->calls_before = nullptr;
  }
  InQueue(const InQueue&) = delete;
  InQueue& operator=(const InQueue&) = delete;

 private:
  QueuePosition* place_;
};

}  // namespace pa
