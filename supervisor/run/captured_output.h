// CapturedOutput: captures one stream of a command for the result.
//
//    CapturedOutput out(store, {.inline_bytes = 24 << 10, .total_bytes = 256 << 20},
//                       "make test: stdout");
//    out.Append(chunk);                        // any number of times
//    Captured captured = out.Finish(share);
//
// What is stored has every byte; the text is for models and has no escape sequences.
// Memory use is bounded: the first `inline_bytes`, and a window of the same size at the end. Only
// output that does not fit inline is stored on disk. Both streams of a command share
// `inline_bytes`; their shares are known once both have ended (ShareOf).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "supervisor/results/result_store.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/output_sink.h"

namespace pa {

struct CaptureLimits {
  std::uint64_t inline_bytes = 0;  // of both streams together
  std::uint64_t total_bytes = 0;   // of each stream
};

// How much of `budget` a stream of `mine` bytes gets if the other stream has `other` bytes: half of
// it, and what the other stream leaves of its half; never more than `mine`.
std::uint64_t ShareOf(std::uint64_t budget, std::uint64_t mine, std::uint64_t other);

class CapturedOutput {
 public:
  CapturedOutput(ResultStore& store, CaptureLimits limits, std::string name);

  void Append(std::string_view bytes);
  // Call once. `share`: the size of the text in bytes; at most inline_bytes.
  Captured Finish(std::uint64_t share);
  const CaptureLimits& limits() const { return limits_; }

 private:
  void Split(std::size_t half);
  void Overflow(std::string_view bytes);
  void BeginStore();
  void Store(std::string_view bytes);
  void KeepTail(std::string_view bytes);
  std::string Marker(const Captured& captured) const;

  ResultStore& store_;
  CaptureLimits limits_;
  std::string name_;
  std::string head_;  // all output, until that exceeds inline_bytes; then its beginning
  std::string tail_;  // at least the last half_ bytes of the output after `head_`
  std::size_t half_ = 0;
  bool overflowed_ = false;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t lines_after_head_ = 0;
  std::shared_ptr<StoredOutput> stored_;
  std::uint64_t lost_bytes_ = 0;  // if nothing could be stored
  std::string why_lost_;          // in that case
};

}  // namespace pa
