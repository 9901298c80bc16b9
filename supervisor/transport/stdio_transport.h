// StdioTransport: MCP lines on a pair of descriptors: pipes, sockets, terminals and files.
//
//    StdioTransport transport(loop, STDIN_FILENO, STDOUT_FILENO);
//    Result<void> started = transport.Start(session);
//    ...
//    transport.Close([&] { ... });   // when the queue is written, or after kDrainTime
//
// If the client does not read, and more than kGateCloses bytes are queued, the gate closes:
// commands are held back, and so are further lines (OnLineHeld), until fewer than kGateOpens bytes
// are left. SIGPIPE must be ignored.
#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "supervisor/loop/output_gate.h"
#include "supervisor/transport/transport.h"

namespace pa {

class StdioTransport : public Transport {
 public:
  static constexpr std::size_t kMaxLine = 16u << 20;
  static constexpr std::size_t kGateCloses = 1u << 20;
  static constexpr std::size_t kGateOpens = 256u << 10;
  static constexpr std::chrono::milliseconds kDrainTime{1000};

  // Borrows the descriptors, which stay open: the caller closes them.
  StdioTransport(uv_loop_t* loop, int in, int out, std::size_t max_line = kMaxLine);
  ~StdioTransport() override;  // after Close() is done, or if Start was never called
  StdioTransport(const StdioTransport&) = delete;
  StdioTransport& operator=(const StdioTransport&) = delete;

  Result<void> Start(TransportHandler& handler);
  void Send(std::string line) override;
  OutputGate& gate() override;

  // Stops reading, writes the queue for at most kDrainTime, closes its handles and calls `done`.
  void Close(std::function<void()> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pa
