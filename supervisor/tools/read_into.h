// ReadInto, HashOfFile: one file of the project, by a worker of its own (worker/read_file.h), to
// whoever wants its bytes.
//
//   FileSink sink([&](std::string_view bytes) { text.Feed(bytes); });
//   Task<Reading> task = ReadInto(sink, work, permission, place, call);
//   const Reading reading = co_await task;
//   if (reading.error) ...
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "supervisor/tools/work.h"
#include "worker/file_header.h"

namespace pa {

// The header first, then the file.
class FileSink final : public OutputSink {
 public:
  explicit FileSink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

  void OnOutput(Stream stream, std::string_view bytes) override;
  bool has_header() const {
    return head_.size() == sizeof header_ && header_.magic == worker::kFileMagic;
  }
  const worker::FileHeader& header() const { return header_; }

 private:
  std::function<void(std::string_view)> take_;
  std::string head_;
  worker::FileHeader header_;
};

struct Reading {
  std::string path;  // as results name it
  std::optional<ToolError> error;
};

// `place` is no directory; `finishes`: even if the call was cancelled. BINARY_FILE: nothing with
// content. NOT_FOUND, FILE_IO, and what refuses a call.
Task<Reading> ReadInto(FileSink& sink, const Work& work, const policy::Permission& permission,
                       const policy::PlaceBeneath& place, CallContext& call, bool finishes = false);

// Of what `file`, relative to the directory of `work`, holds, whether or not the call was
// cancelled. NOT_FOUND: there is none, or a symlink leads to another one. Errors as of ReadInto.
Task<std::expected<Digest, ToolError>> HashOfFile(const Work& work,
                                                  const policy::Permission& permission,
                                                  std::string file, CallContext& call);

}  // namespace pa
