// CancelSource: lets a call be cancelled; shared by those that may cancel it and by the code that
// runs it.
//
//    cancel.OnCancel([&command] { command.Cancel(); });   // whoever runs the call
//    const Finally done([&cancel] { cancel.Forget(); });
//    cancel.Cancel();                                     // whoever gives it up
#pragma once

#include <functional>
#include <utility>

namespace pa {

class CancelSource {
 public:
  bool cancelled() const { return cancelled_; }
  void Cancel() {
    if (std::exchange(cancelled_, true)) return;
    if (on_cancel_) std::exchange(on_cancel_, nullptr)();
  }
  // One listener at a time; called at once if already cancelled.
  void OnCancel(std::function<void()> callback) {
    if (cancelled_) return callback();
    on_cancel_ = std::move(callback);
  }
  void Forget() { on_cancel_ = nullptr; }

 private:
  bool cancelled_ = false;
  std::function<void()> on_cancel_;
};

}  // namespace pa
