// Transport: lines in, lines out. stdio today; sockets and HTTP later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/transport/rpc.h"

namespace pa {

class OutputGate;

class TransportHandler {
 public:
  virtual ~TransportHandler() = default;
  virtual void OnLine(std::string_view line) = 0;  // without its newline
  // A line that waits for the peer to read; OnLine gets it later. What cannot wait is done now.
  virtual void OnLineHeld(std::string_view) {}
  // A line that was dropped, and what was seen of it as it passed; `limit` kNoMemory: there was no
  // room to keep it.
  static constexpr std::size_t kNoMemory = 0;
  virtual void OnLineTooLong(std::size_t limit, const std::vector<rpc::Outline>& outlines) = 0;
  virtual void OnClosed() = 0;  // end of input or a broken pipe; once
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void Send(std::string line) = 0;  // without a newline; queued, in order
  virtual OutputGate& gate() = 0;           // closed while the peer does not read
};

}  // namespace pa
