#include "supervisor/tools/put_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/try.h"
#include "policy/path.h"
#include "policy/repositories_below.h"
#include "policy/spelling.h"
#include "supervisor/tools/render.h"
#include "worker/file_header.h"

namespace pa {
namespace {

constexpr std::size_t kMaxName = 255;  // NAME_MAX of Linux's file systems

std::string JoinRelative(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

ToolError NoName(const std::string& path, std::string_view why) {
  return InvalidArgument(fmt::format("the argument 'path' names no file: {} ({})", path, why),
                         "Pass the path of a file, relative to the project's root.");
}

// The last component, taken off; an error if it can be no file's name.
std::expected<std::string, ToolError> TakeName(std::string& head, const std::string& path) {
  const std::size_t slash = head.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  std::string name = head.substr(begin);
  head.resize(slash == std::string::npos ? 0 : slash);
  if (name.empty() || name == "." || name == "..") {
    return std::unexpected(NoName(path, "it is a directory, or does not exist"));
  }
  if (name.size() > kMaxName) return std::unexpected(NoName(path, "a name in it is too long"));
  return name;
}

// Of what does not exist: the directory that does, and the names beneath.
std::expected<std::string, ToolError> FindNew(const Work& work, const CallContext& call,
                                              const std::string& path, const Finding& finding) {
  std::string head = path;
  std::expected<std::string, ToolError> rest = TakeName(head, path);
  for (bool first = true; rest; first = false) {
    const auto place = FindInRoot(work, call, head, finding.verb, finding.advice);
    if (place && !place->name.empty()) {
      return std::unexpected(NoName(path, head + " is not a directory"));
    }
    if (place) return JoinRelative(place->relative, *rest);
    if (place.error().code != ErrorCode::kNotFound || head.empty())
      return std::unexpected(place.error());
    if (first && !finding.create_parents) {
      return std::unexpected(NotFound(
          fmt::format("cannot {} {}: the directory {} does not exist", finding.verb, path, head),
          std::string(finding.advice)));
    }
    PA_TRY(const std::string name, TakeName(head, path));
    rest = JoinRelative(name, *rest);
  }
  return rest;
}

// `path`: as it was asked for.
std::expected<FileTarget, ToolError> PlaceOf(const Work& work, const CallContext& call,
                                             std::string relative, const std::string& path) {
  const std::string absolute = work.Absolute(relative);
  if (absolute.size() >= PATH_MAX) return std::unexpected(NoName(path, "it is too long"));
  const bool first = work.directory.path() == call.policy->roots.front();
  std::string shown = first ? relative : absolute;
  return FileTarget{.relative = std::move(relative), .shown = std::move(shown), .found = {}};
}

std::string StdinOf(const PutOrder& order, bool syncs) {
  worker::WriteHeader header{
      .makes_parents = order.makes_parents, .syncs = syncs, .size = order.content.size()};
  if (order.old) {
    header.replaces = 1;
    std::ranges::copy(*order.old, header.expected);
  }
  std::string bytes(sizeof header + order.content.size(), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::ranges::copy(order.content, bytes.begin() + sizeof header);
  return bytes;
}

// What the worker says of a file that is not as it was expected.
class ReplySink final : public OutputSink {
 public:
  void OnOutput(Stream stream, std::string_view bytes) override {
    if (stream == Stream::kStdout && bytes_.size() < sizeof(worker::WriteReply)) bytes_ += bytes;
  }
  std::optional<std::string> Present() const {
    worker::WriteReply reply;
    if (bytes_.size() != sizeof reply) return std::nullopt;
    std::memcpy(&reply, bytes_.data(), sizeof reply);
    if (reply.magic != worker::kWriteMagic) return std::nullopt;
    return Hex(std::to_array(reply.present));
  }

 private:
  std::string bytes_;
};

bool OnlyNotSynced(const Execution& run) {
  return run.outcome == Outcome::kSetupFailed && run.failed_step == worker::Step::kSyncFile;
}

ToolError NotWritten(const PutOrder& order, const Execution& run, const ReplySink& reply,
                     const CallContext& call) {
  const std::string& path = order.shown;
  const std::optional<std::string> present = reply.Present();
  if (run.failed_errno == EEXIST && present) {
    return StaleFile(fmt::format("{} exists; to replace it, pass expected_sha256", path),
                     "Read it first. If its content may go, call again with the sha256 from read "
                     "as expected_sha256" +
                         Offer(call, "edit", "; the tool edit changes a part of it more safely") +
                         ".",
                     *present);
  }
  if (run.failed_errno == ESTALE && present) {
    return StaleFile(
        fmt::format("{} does not have expected_sha256: it has sha256 {}", path, *present),
        "The file was changed since it was read. This call changed nothing. "
        "Read the file again and decide anew what to write.",
        *present);
  }
  switch (run.failed_errno) {
    case ENOENT:
      return NotFound(fmt::format("cannot write {}: it, or its directory, does not exist", path),
                      "To create it, leave expected_sha256 out.");
    case ELOOP:
      return NotFound(fmt::format("cannot write {}: it is a dangling symlink, "
                                  "or a symlink made just now",
                                  path),
                      "Pass the path of a file.");
    case EWOULDBLOCK: {
      ToolError error = Busy();
      error.message = fmt::format("cannot write {}: another program is writing it", path);
      error.ai_message = "Nothing was changed. Call again later.";
      return error;
    }
    case EFBIG:
      return LimitExceeded("write", worker::LimitName(worker::Limit::kFileSize));
    default:
      return FileIo(fmt::format("cannot write {}: {}", path, run.failure), run.failed_errno);
  }
}

std::optional<ToolError> ErrorOfPut(const PutOrder& order, const Execution& run,
                                    const ReplySink& reply, const CallContext& call) {
  if (!run.protection.empty()) return ProtectedFile(order.shown, run.protection);
  if (run.outcome == Outcome::kSetupFailed && run.failed_step == worker::Step::kWriteFile) {
    return NotWritten(order, run, reply, call);
  }
  if (OnlyNotSynced(run)) {
    return NotOnDisk(fmt::format("{} is written, but a power failure could still lose it: {}",
                                 order.shown, run.failure));
  }
  return ErrorOf({.what = "write", .argv = {}, .working_dir = ""}, run);
}

// It did not come to an end that it could report, so it could not clean up either.
bool WasKilled(const Execution& run) {
  const bool reported =
      run.outcome == Outcome::kSetupFailed &&
      (run.failed_step != worker::Step::kNone || !run.protection.empty() || run.busy);
  return !run.Succeeded() && !reported;
}

}  // namespace

// Repositories that nobody looks after are git's own, too.
std::string ReasonOfGit(const std::string& root, const std::string& relative) {
  constexpr char kGit[] = "git's own data";
  for (std::string_view rest = relative; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (policy::Spells(rest.substr(0, end), ".git")) return kGit;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const Result<bool> lies =
      policy::LiesInGitDirectory(root, relative.empty() ? root : root + "/" + relative);
  if (!lies) return "cannot determine whether git owns it: " + lies.error().Message();
  return *lies ? kGit : "";
}

std::expected<FileTarget, ToolError> FindName(const Work& work, const CallContext& call,
                                              const std::string& path, const Finding& finding) {
  PA_TRY(auto relative, FindNew(work, call, path, finding));
  return PlaceOf(work, call, std::move(relative), path);
}

std::expected<FileTarget, ToolError> FindPlace(const Work& work, const CallContext& call,
                                               const std::string& path, const Finding& finding) {
  const auto found = FindInRoot(work, call, path, finding.verb, finding.advice);
  if (found && found->name.empty()) return std::unexpected(NoName(path, "it is a directory"));
  if (!found && found.error().code != ErrorCode::kNotFound) return std::unexpected(found.error());
  PA_TRY(std::string relative, found ? found->Path() : FindNew(work, call, path, finding));
  PA_TRY(FileTarget place, PlaceOf(work, call, std::move(relative), path));
  if (found) place.found = *found;
  if (std::string why = ReasonOfGit(work.directory.path(), place.relative); !why.empty()) {
    return std::unexpected(ProtectedFile(place.shown, why));
  }
  const std::string log = call.policy->audit.Directory();
  if (!log.empty() && policy::IsBeneath(work.Absolute(place.relative), log)) {
    return std::unexpected(ProtectedFile(place.shown, "the audit log lies there"));
  }
  return place;
}

Task<Put> PutFile(const Work& work, const policy::Permission& permission, PutOrder order,
                  CallContext& call) {
  const policy::Allow allow = permission.For({.purpose = policy::Purpose::kWriteFile});
  Put put;
  CommandPlan plan{.action = worker::Action::kWriteFile,
                   .directory = work.directory,
                   .stdin_data = StdinOf(order, call.policy->filesystem_sync),
                   .file = order.file};
  ReplySink reply;
  const RunOptions options{.name = "write",
                           .sink = &reply,
                           .cancel = order.finishes ? nullptr : &call.cancel,
                           .capture = false,
                           .delivery = Delivery::kAtEnd,
                           .record = &call.record.run};
  Task<Execution> task = call.runner.Run(std::move(plan), allow, call.policy, options);
  const Execution run = co_await task;
  if (WasKilled(run)) {
    // Also for a call that was cancelled: so no `cancel`.
    CommandPlan rest{
        .action = worker::Action::kRemoveTemp, .directory = work.directory, .file = order.file};
    Task<Execution> cleaning =
        call.runner.Run(std::move(rest), allow, call.policy, {.name = "write", .capture = false});
    co_await cleaning;
  }
  put.duration = run.duration;
  put.error = ErrorOfPut(order, run, reply, call);
  const bool compared = put.error && reply.Present();
  put.written = OnlyNotSynced(run);
  put.was_there = compared && run.failed_errno == EEXIST;
  put.stale = compared && run.failed_errno == ESTALE;
  co_return put;
}

}  // namespace pa
