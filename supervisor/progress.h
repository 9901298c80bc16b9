// ProgressNotifier: a command's output as progress notifications, one line at a time.
//
//   ProgressNotifier progress(loop, transport, token_json);   // lives as long as the call
//   context.sink = &progress;
//
// The first line goes out at once, then at most every kInterval the latest one, so that a build
// that prints a million lines costs the client ten messages a second. `progress` counts bytes and
// therefore only grows. The text is for people: one line, at most kMaxCharacters, no control
// characters or escape sequences, valid UTF-8. Destroyed before the reply is sent, so nothing
// follows a reply.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/execution.h"
#include "supervisor/transport.h"

namespace pa {

// The last line of a stream as it stands, complete or not. Keeps no more than a screen line needs.
class LatestLine {
 public:
  void Append(std::string_view bytes);
  const std::string& text() const {
    return open_.empty() ? complete_ : open_;
  }  // raw; "" before any

 private:
  void Open(std::string_view bytes);
  void Complete();
  void Restart();

  std::string complete_;  // the last line that was not blank and has ended
  std::string open_;      // the line being written
  bool anew_ = false;     // after a carriage return: what comes next replaces open_
};

// `raw` as one line for people; "" when nothing visible is left.
std::string DisplayLine(std::string_view raw);

class ProgressNotifier : public OutputSink {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};
  static constexpr std::size_t kMaxCharacters = 180;

  // `token`: the progressToken as JSON. `loop` and `transport` outlive this.
  ProgressNotifier(uv_loop_t* loop, Transport& transport, std::string token);
  ~ProgressNotifier() override;
  ProgressNotifier(const ProgressNotifier&) = delete;
  ProgressNotifier& operator=(const ProgressNotifier&) = delete;

  void OnOutput(Stream stream, std::string_view bytes) override;
  OutputGate* gate() override { return &transport_.gate(); }
  void Silence() { silent_ = true; }  // cancelled: nothing more for this request

 private:
  void Notify();
  void Arm();

  Transport& transport_;
  std::string token_;
  LatestLine lines_[2];
  Stream latest_ = Stream::kStdout;
  std::uint64_t bytes_ = 0;
  bool fresh_ = false;    // output since the last notification
  bool waiting_ = false;  // the timer runs
  bool silent_ = false;
  uv_timer_t* timer_;  // frees itself when closed
};

}  // namespace pa
