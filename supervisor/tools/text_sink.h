// TextSink: keeps the beginning of what a command prints.
//
//    TextSink sink(64u << 10);
//    Task<Execution> task = RunGitReader(work, reader, reading, sink, call);
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "supervisor/run/output_sink.h"

namespace pa {

class TextSink final : public OutputSink {
 public:
  explicit TextSink(std::size_t most) : most_(most) {}  // of each stream, in bytes
  void OnOutput(Stream stream, std::string_view bytes) override {
    std::string& text = stream == Stream::kStdout ? output_ : complaints_;
    const std::size_t room = most_ - std::min(most_, text.size());
    truncated_ = truncated_ || bytes.size() > room;
    text.append(bytes.substr(0, room));
  }
  bool truncated() const { return truncated_; }
  const std::string& output() const { return output_; }
  const std::string& complaints() const { return complaints_; }

 private:
  std::size_t most_;
  bool truncated_ = false;
  std::string output_;
  std::string complaints_;
};

}  // namespace pa
