// Transport: receives and sends messages, each on one line.
//
//    class Session : public TransportHandler { void OnLine(std::string_view line) override; ... };
//    transport.Send(rpc::ResultLine(id, result));
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/transport/rpc.h"

namespace pa {

class OutputGate;

class TransportHandler {
 public:
  virtual ~TransportHandler() = default;
  virtual void OnLine(std::string_view line) = 0;  // without its newline
  // A line that is held back while the peer does not read. OnLine gets it later. The handler does
  // now what cannot wait.
  virtual void OnLineHeld(std::string_view) {}
  // A line was dropped; `outlines` is what was seen of it as it passed. `limit` kNoMemory: there
  // was no memory to keep it.
  static constexpr std::size_t kNoMemory = 0;
  virtual void OnLineTooLong(std::size_t limit, const std::vector<rpc::Outline>& outlines) = 0;
  virtual void OnClosed() = 0;  // end of input or a broken pipe; called once
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void Send(std::string line) = 0;  // without a newline; queued, in order
  // The answer to a request, or to all of a batch. `error`: the code of JSON-RPC; 0: it is none.
  virtual void Reply(std::string line, int /*error*/) { Send(std::move(line)); }
  virtual OutputGate& gate() = 0;  // closed while the peer does not read
};

}  // namespace pa
