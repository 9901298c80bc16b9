// OutputGate: stops reading from commands while a client does not read from us.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace pa {

class OutputGate {
 public:
  bool closed() const { return closed_; }
  void Close() { closed_ = true; }
  // Runs and forgets what waits. A callback may close the gate and wait again: that is for the next
  // time.
  void Open() {
    closed_ = false;
    for (auto& callback : std::exchange(waiting_, {})) callback();
  }
  void WhenOpen(std::function<void()> callback) { waiting_.push_back(std::move(callback)); }

 private:
  bool closed_ = false;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace pa
