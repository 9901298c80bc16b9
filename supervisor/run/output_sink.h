// OutputSink: whoever sees the output of a command as it arrives.
#pragma once

#include <string_view>

#include "supervisor/loop/output_gate.h"

namespace pa {

enum class Stream { kStdout, kStderr };

// make writes its database line by line, and each line would wake us.
enum class Delivery {
  kLive,
  kInBulk,  // whatever has gathered in some milliseconds
  kAtEnd,   // little, which the pipe holds until the command has ended; more comes late, but comes
};

// Sees output as it arrives. `gate` may be null: then nothing holds the command back.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual void OnOutput(Stream stream, std::string_view bytes) = 0;
  virtual OutputGate* gate() { return nullptr; }
};

}  // namespace pa
