// ReadInto, HashOfFile: read one file of the project in a worker of its own (worker/read_file.h).
//
//    FileSink sink([&](std::string_view bytes) { text.Feed(bytes); });
//    Task<Reading> task = ReadInto(sink, work, permission, place, call);
//    const Reading reading = co_await task;
//    if (reading.error) ...
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "supervisor/tools/work.h"
#include "worker/file_header.h"

namespace pa {

// Takes the worker's output apart: the header, then the file.
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

struct HowToRead {
  bool finishes = false;    // even if the call was cancelled
  std::uint64_t bytes = 0;  // of the file, from its beginning; 0: all
};

// `place` must not be a directory. Errors: BINARY_FILE (not a regular file), NOT_FOUND, FILE_IO,
// and those of a call that could not run.
Task<Reading> ReadInto(FileSink& sink, const Work& work, const policy::Permission& permission,
                       const policy::FoundBeneath& place, CallContext& call, HowToRead how = {});

// The hash of `file`, relative to the directory of `work`; runs even if the call was cancelled.
// NOT_FOUND: there is none, or a symlink leads to another one. Other errors as of ReadInto.
Task<std::expected<Digest, ToolError>> HashOfFile(const Work& work,
                                                  const policy::Permission& permission,
                                                  std::string file, CallContext& call);

}  // namespace pa
