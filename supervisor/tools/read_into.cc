#include "supervisor/tools/read_into.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/try.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

// With its header it fits into a pipe (64 KiB, pipe(7)).
constexpr std::uint64_t kLittle = 48u << 10;

const char* KindOfMode(std::uint32_t mode) {
  switch (mode & S_IFMT) {
    case S_IFIFO:
      return "FIFO";
    case S_IFSOCK:
      return "socket";
    case S_IFCHR:
    case S_IFBLK:
      return "device";
    default:
      return "no regular file";
  }
}

ToolError NotRead(const std::string& path, const Execution& run) {
  switch (run.failed_errno) {
    case ENOENT:
    case ESTALE:
    case ELOOP:
    case ENOTDIR:
      return NotFound("cannot read " + path + ": it was replaced while it was opened",
                      "Call again.");
    default:
      return FileIo("cannot read " + path + ": " + run.failure, run.failed_errno);
  }
}

std::optional<ToolError> ErrorOfRead(const std::string& path, const Execution& run,
                                     const FileSink& sink) {
  if (run.outcome == Outcome::kSetupFailed && run.failed_step == worker::Step::kReadFile) {
    return NotRead(path, run);
  }
  if (auto error = ErrorOf({.what = "read", .argv = {}, .working_dir = ""}, run)) return error;
  if (!sink.has_header()) return InternalError("read: the worker did not report on " + path);
  if (S_ISREG(sink.header().mode)) return std::nullopt;
  return BinaryFile(path, KindOfMode(sink.header().mode), sink.header().size);
}

}  // namespace

void FileSink::OnOutput(Stream stream, std::string_view bytes) {
  if (stream != Stream::kStdout) return;
  if (head_.size() < sizeof header_) {
    const std::string_view part = bytes.substr(0, sizeof header_ - head_.size());
    head_ += part;
    bytes.remove_prefix(part.size());
    if (head_.size() == sizeof header_) std::memcpy(&header_, head_.data(), sizeof header_);
  }
  if (!bytes.empty()) take_(bytes);
}

Task<Reading> ReadInto(FileSink& sink, const Work& work, const policy::Permission& permission,
                       const policy::FoundBeneath& place, CallContext& call, HowToRead how) {
  Reading reading{.path = PrefixOf(work, call, place) + place.name};
  CommandPlan plan{.action = worker::Action::kReadFile,
                   .directory = place.directory,
                   .file = place.name,
                   .read_bytes = how.bytes};
  const bool little = place.size <= kLittle;
  const RunOptions options{.name = "read",
                           .sink = &sink,
                           .cancel = how.finishes ? nullptr : &call.cancel,
                           .capture = false,
                           .delivery = little ? Delivery::kAtEnd : Delivery::kLive,
                           .record = &call.record.run};
  policy::Allow allow = permission.For({.purpose = policy::Purpose::kReadFile});
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(allow), call.policy, options);
  const Execution run = co_await task;
  reading.error = ErrorOfRead(reading.path, run, sink);
  co_return reading;
}

Task<std::expected<Digest, ToolError>> HashOfFile(const Work& work,
                                                  const policy::Permission& permission,
                                                  std::string file, CallContext& call) {
  PA_CO_TRY(const auto place, FindInRoot(work, call, file, "read", ""));
  if (place.name.empty()) co_return std::unexpected(NotFound(file + " is a directory", ""));
  // The permission is for the file that was asked about.
  if (place.Path() != file) {
    co_return std::unexpected(NotFound(file + " is reached through a symlink now", ""));
  }
  Sha256 hash;
  FileSink sink([&](std::string_view bytes) { hash.Update(bytes); });
  Task<Reading> task = ReadInto(sink, work, permission, place, call, {.finishes = true});
  Reading reading = co_await task;
  if (reading.error) co_return std::unexpected(*std::move(reading.error));
  co_return hash.Finish();
}

}  // namespace pa
