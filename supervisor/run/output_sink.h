// OutputSink: receives the output of a command as it arrives.
//
//    class Counter : public OutputSink {
//      void OnOutput(Stream, std::string_view bytes) override { count_ += bytes.size(); }
//    };
//    const RunOptions options{.name = "make", .sink = &counter};
#pragma once

#include <string_view>

#include "supervisor/loop/output_gate.h"

namespace pa {

enum class Stream { kStdout, kStderr };

// When a sink receives output. make writes its database line by line, and each line would wake us.
enum class Delivery {
  kLive,
  kInBulk,  // every few milliseconds, all that has gathered
  kAtEnd,   // once the command has ended; live if it runs longer than a few milliseconds
};

// gate() may be null: then nothing holds the command back.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual void OnOutput(Stream stream, std::string_view bytes) = 0;
  virtual OutputGate* gate() { return nullptr; }
};

}  // namespace pa
