// RecordSink: splits what a program prints into records, as it arrives, in bounded memory.
//
//    class Names final : public RecordSink {
//     public:
//      Names() : RecordSink(std::string(1, '\0')) {}
//     private:
//      void OnRecord(std::string_view record, std::size_t) override { ... }
//    };
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/run/output_sink.h"

namespace pa {

// Records longer than kMaxRecord are left out and counted.
class RecordSink : public OutputSink {
 public:
  static constexpr std::size_t kMaxRecord = 1U << 20;

  // The first record ends with the first of these, the next with the next, and so on, over and
  // over.
  explicit RecordSink(std::string delimiters) : delimiters_(std::move(delimiters)) {}
  void OnOutput(Stream stream, std::string_view bytes) final;
  const std::string& complaints() const { return complaints_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  static constexpr std::size_t kMaxComplaints = 8192;
  // `which`: the index of the delimiter that ended it.
  virtual void OnRecord(std::string_view record, std::size_t which) = 0;
  void Feed(std::string_view bytes);

  std::string delimiters_;
  std::size_t which_ = 0;
  std::string partial_;
  bool too_long_ = false;
  std::uint64_t dropped_ = 0;
  std::string complaints_;
};

}  // namespace pa
