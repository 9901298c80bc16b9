// GiveUp: says to work that is under way, on threads and in other processes, that nobody waits for
// it any more.
//
//    const auto given_up = std::make_shared<GiveUp>();
//    cancel->OnCancel([given_up] { given_up->Set(); });        // on the loop
//    if (given_up->IsSet()) ...                                 // anywhere
//
// CancelSource (supervisor/loop/cancel_source.h) is for the loop alone.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

namespace pa {

class GiveUp {
 public:
  GiveUp() = default;
  GiveUp(const GiveUp&) = delete;
  GiveUp& operator=(const GiveUp&) = delete;

  void Set() {
    flag_ = true;
    if (on_set_) on_set_();
  }
  bool IsSet() const { return flag_; }
  const std::atomic<bool>* flag() const { return &flag_; }
  // Called by Set, on the loop. One listener at a time; null: nobody listens any more.
  void OnSet(std::function<void()> listener) { on_set_ = std::move(listener); }

 private:
  std::atomic<bool> flag_ = false;
  std::function<void()> on_set_;
};

}  // namespace pa
