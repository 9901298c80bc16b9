// ProgressNotifier: sends the progress notifications of a call: its output, one line at a time, and
// heartbeats.
//
//    ProgressNotifier progress(loop, transport, token_json, [&] { return WaitingText(record); });
//    context.sink = &progress;                                 // lives as long as the call
//
// The first line is sent at once, then the latest one, at most one every kInterval: a build that
// prints a million lines costs the client ten messages a second. If nothing was sent for
// kHeartbeat, a message says what the call waits for, or how long it has run, because clients give
// up on calls that stay silent. `progress` is the number of bytes and heartbeats, so it only grows.
// The text is for people: one line, at most kMaxCharacters, no control characters or escape
// sequences, valid UTF-8. Destroy it before the reply is sent, so that nothing follows a reply.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "supervisor/run/output_sink.h"
#include "supervisor/transport/transport.h"

namespace pa {

// The last line of a stream, complete or not. Keeps no more than a line on a screen needs.
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
  bool anew_ = false;     // after a carriage return: the next bytes replace open_
};

// `raw` as one line for people; "" if nothing visible is left.
std::string DisplayLine(std::string_view raw);

class ProgressNotifier : public OutputSink {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};
  // 15 s are promised, also when the loop is busy.
  static constexpr std::chrono::milliseconds kHeartbeat{14'500};
  static_assert(kHeartbeat + std::chrono::milliseconds(500) <= std::chrono::seconds(15));
  static constexpr std::size_t kMaxCharacters = 180;

  // `token`: the progressToken as JSON. `waits` returns what the call waits for, "" if it runs;
  // null: the call never waits. `loop` and `transport` must outlive this.
  ProgressNotifier(uv_loop_t* loop, Transport& transport, std::string token,
                   std::function<std::string()> waits = nullptr,
                   std::chrono::milliseconds heartbeat = kHeartbeat);
  ~ProgressNotifier() override;
  ProgressNotifier(const ProgressNotifier&) = delete;
  ProgressNotifier& operator=(const ProgressNotifier&) = delete;

  void OnOutput(Stream stream, std::string_view bytes) override;
  OutputGate* gate() override { return &transport_.gate(); }
  void Silence();  // the call was cancelled: sends nothing more

 private:
  void Notify();
  void Arm();
  void Beat();
  void Send(std::string_view message);

  Transport& transport_;
  std::string token_;
  LatestLine lines_[2];
  Stream latest_ = Stream::kStdout;
  std::uint64_t bytes_ = 0;
  std::uint64_t beats_ = 0;
  std::uint64_t started_;  // the loop's time, in ms
  std::function<std::string()> waits_;
  bool fresh_ = false;    // output since the last notification
  bool waiting_ = false;  // the timer runs
  bool silent_ = false;
  uv_timer_t* timer_;  // this and the next free themselves when closed
  uv_timer_t* beat_;   // since the last notification
};

}  // namespace pa
