// FakeTransport: a transport for tests, which keeps what was sent.
#pragma once

#include <string>
#include <vector>

#include "supervisor/loop/output_gate.h"
#include "supervisor/transport/transport.h"

namespace pa {

class FakeTransport : public Transport {
 public:
  void Send(std::string line) override { sent.push_back(std::move(line)); }
  OutputGate& gate() override { return gate_; }

  std::vector<std::string> sent;

 private:
  OutputGate gate_;
};

}  // namespace pa
