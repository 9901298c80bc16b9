// CapturedOutput: one stream of a command as it will stand in the result.
//
//   CapturedOutput out(store, {.inline_bytes = 24 << 10, .total_bytes = 256 << 20}, "make test:
//   stdout"); out.Append(chunk);                 // as often as it takes
//   Captured captured = out.Finish(share);
//
// Memory is flat: the first `inline_bytes` and a window of as many at the end. Only a text that
// does not fit inline touches the disk. Both streams of a command share `inline_bytes`; how, is
// known when both have ended (ShareOf).
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
  std::uint64_t total_bytes = 0;   // of each
};

// What a stream of `mine` bytes gets of `budget` beside one of `other`: half of it, and what the
// other leaves of its own half.
std::uint64_t ShareOf(std::uint64_t budget, std::uint64_t mine, std::uint64_t other);

class CapturedOutput {
 public:
  CapturedOutput(ResultStore& store, CaptureLimits limits, std::string name);

  void Append(std::string_view bytes);
  // Once. `share`: how many bytes of text; inline_bytes at most.
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
  std::string head_;  // all of it until it is longer than inline_bytes
  std::string tail_;  // at least the last tail_size_ bytes of what came after `head_`
  std::size_t half_ = 0;
  bool overflowed_ = false;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t lines_after_head_ = 0;
  std::shared_ptr<StoredOutput> stored_;
  std::uint64_t lost_bytes_ = 0;  // without a store
};

}  // namespace pa
