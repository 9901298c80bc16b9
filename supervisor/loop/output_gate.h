// OutputGate: stops the reading from commands while the client does not read from us.
//
//    if (gate.closed()) gate.WhenOpen([this] { Read(); });   // else read now
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace pa {

class OutputGate {
 public:
  bool closed() const { return closed_; }
  void Close() { closed_ = true; }
  // Calls the waiting callbacks, each once. A callback may close the gate and wait again, for the
  // next Open.
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
