#include "supervisor/tools/render.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "base/json_writer.h"
#include "base/path_stamp.h"
#include "policy/protected_paths.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/text/quote_command.h"

namespace pa {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "unknown" : fmt::format("SIG{}", name);
}

std::string Took(std::chrono::microseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1000) : fmt::format("{:.1f} s", seconds);
}

void AppendStream(std::string& text, std::string_view name, const Captured& stream) {
  if (stream.text.empty()) return;
  if (!text.ends_with('\n')) text += '\n';
  text.append("--- ").append(name).append(" ---\n").append(stream.text);
}

// One stream alone needs no heading when it is the usual one.
std::string TextOf(const CommandReport& report, const Execution& run,
                   const std::vector<std::string>& denials, const std::optional<ToolError>& error) {
  std::string text =
      fmt::format("{}: {} in {}\n", report.what, HowItEnded(run), Took(run.duration));
  if (run.err.text.empty()) {
    text += run.out.text;
  } else {
    AppendStream(text, "stdout", run.out);
    AppendStream(text, "stderr", run.err);
  }
  for (const std::string& denial : denials) {
    if (!text.ends_with('\n')) text += '\n';
    text.append(denial).append("\n");
  }
  if (error) {
    if (!text.ends_with('\n')) text += '\n';
    text.append(CodeText(error->code)).append(": ").append(error->ai_message);
  }
  return text;
}

void WriteOmitted(JsonWriter& writer, const std::string& name, const Captured& stream) {
  if (stream.omitted_bytes == 0) return;
  writer.Field(name + "_omitted_bytes", stream.omitted_bytes);
  writer.Field(name + "_omitted_lines", stream.omitted_lines);
}

// As the documents name it, where it lies in the working directory.
std::string NameOf(const CommandReport& report, const std::string& path) {
  const std::string inside = report.working_dir + "/";
  std::string name = path.starts_with(inside) ? path.substr(inside.size()) : path;
  // The command may have chosen it, and it shall not look like lines of ours.
  std::ranges::replace_if(name, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return name;
}

void WriteProtectedChanges(JsonWriter& writer, const CommandReport& report, const Execution& run) {
  if (run.protected_changes.empty()) return;
  std::set<std::string> names;
  writer.Key("protected_paths_modified").BeginArray();
  for (const ProtectedChange& change : run.protected_changes) {
    const auto [name, is_new] = names.insert(NameOf(report, change.path));
    if (is_new) writer.String(*name);
  }
  writer.EndArray();
}

// Of a repository that a command has damaged.
std::string WhatIsLeft(const ProtectedChange& change) {
  return change.failure.empty() ? change.why : fmt::format("{}; {}", change.why, change.failure);
}

std::string Sentence(const CommandReport& report, const ProtectedChange& change) {
  std::string text = fmt::format("protected path {} while {} ran: {}", ChangeText(change.kind),
                                 report.what, NameOf(report, change.path));
  if (!change.why.empty()) text += fmt::format(" ({})", change.why);
  if (!change.restored) {
    text += change.failure.empty() ? "; it could not be restored"
                                   : fmt::format("; it could not be restored: {}", change.failure);
  } else {
    text += "; it was restored";
  }
  if (!change.kept.empty()) text += fmt::format("; the new file is kept in {}", change.kept);
  return text;
}

void WarnOfProtectedChanges(ToolResult& result, const CommandReport& report, const Execution& run) {
  constexpr std::size_t kMaxTold = 20;
  for (const ProtectedChange& change : run.protected_changes) {
    if (result.warnings.size() >= kMaxTold) break;
    Warn(result, Sentence(report, change));
  }
  if (run.protected_changes.size() > kMaxTold) {
    Warn(result,
         fmt::format("{} protected paths were changed in all", run.protected_changes.size()));
  }
  if (run.protected_changes.empty()) return;
  Warn(result,
       "protected paths (files that git, editors, agents and shells execute by themselves, and "
       "filesystem.protect) are restored after each command; if the project needs this change, the "
       "user makes it outside the sandbox");
}

std::vector<std::string> NotRestored(const CommandReport& report, const Execution& run) {
  std::vector<std::string> names;
  for (const ProtectedChange& change : run.protected_changes) {
    if (!change.restored) names.push_back(NameOf(report, change.path));
  }
  return names;
}

std::string DataOf(const CommandReport& report, const Execution& run,
                   std::span<const Denial> denials) {
  JsonWriter writer;
  writer.BeginObject().Field("command", QuoteCommand(report.argv));
  writer.Field("stdout", run.out.text).Field("stderr", run.err.text);
  writer.Field("exit_code", run.outcome == Outcome::kExited ? run.exit_code : -1);
  if (run.outcome == Outcome::kSignaled) writer.Field("signal", run.signal);
  writer.Field("outcome", OutcomeName(run.outcome));
  writer.Field("duration_ms",
               static_cast<std::int64_t>(duration_cast<milliseconds>(run.duration).count()));
  writer.Field("working_dir", report.working_dir);
  WriteOmitted(writer, "stdout", run.out);
  WriteOmitted(writer, "stderr", run.err);
  if (!denials.empty()) WriteDenials(writer.Key("denials"), denials);
  WriteProtectedChanges(writer, report, run);
  writer.EndObject();
  return std::move(writer).Take();
}

constexpr std::string_view kWhatDenialsMean =
    "The sandbox refused the accesses listed as denied. Do without them, or tell the user which "
    "line of policy allows them; it takes effect once the user has added it and the server has "
    "reloaded the policy.";

void AddStream(ToolResult& result, const std::string& what, const char* member,
               const Captured& stream) {
  const std::string name = what + ": " + member;
  if (stream.omitted_bytes > 0) {
    result.truncated = true;
    result.kept.push_back({.member = member, .uri = stream.uri, .whole = stream.lost_bytes == 0});
  }
  if (!stream.uri.empty()) {
    result.links.push_back(
        {.uri = stream.uri,
         .name = name,
         .title = name + (stream.lost_bytes > 0 ? ", as far as it was kept" : ", in full"),
         .mime_type = "text/plain",
         .size = stream.total_bytes - stream.lost_bytes});
    if (result.result_uri.empty()) result.result_uri = stream.uri;
  }
  if (stream.lost_bytes > 0) {
    Warn(result, name + ": " + NotKept(stream.lost_bytes, "limits.output_total", stream.why_lost));
  }
}

// The steps that make the sandbox; the others are our own affairs.
bool IsProtection(worker::Step step) {
  using enum worker::Step;
  constexpr std::array kProtections = {kUndumpable,    kSubreaper,  kCapabilities, kNoNewPrivs,
                                       kGuardianScope, kNamespaces, kMounts,       kOverlay,
                                       kLimits,        kLandlock,   kSeccomp,      kProbe};
  return std::ranges::find(kProtections, step) != kProtections.end();
}

// Whether a directory is no longer the one that was checked: a command that ran meanwhile may have
// moved it. With namespaces it is found by its path, and a symlink on the way ends that (ELOOP).
bool IsReplaced(const Execution& run) {
  using enum worker::Step;
  const int code = run.failed_errno;
  if (run.failed_step == kWorkingDirectory) return MeansGone(code) || code == ESTALE;
  if (run.failed_step == kExecute) return false;
  return code == ELOOP && (run.failed_step == kMounts || !IsProtection(run.failed_step));
}

}  // namespace

void Warn(ToolResult& result, std::string warning) {
  if (!result.text.ends_with('\n')) result.text += '\n';
  result.text.append("warning: ").append(warning).append("\n");
  result.warnings.push_back(std::move(warning));
}

std::string NotKept(std::uint64_t bytes, std::string_view limit, const std::string& why) {
  if (!why.empty()) return fmt::format("{} bytes were not kept: {}", bytes, why);
  return fmt::format("{} bytes beyond {} were not kept", bytes, limit);
}

void AddData(ToolResult& result, std::string_view object) {
  result.data.back() = ',';
  result.data += object.substr(1);
}

void AddStreams(ToolResult& result, const std::string& what, const Execution& run) {
  AddStream(result, what, "stdout", run.out);
  AddStream(result, what, "stderr", run.err);
}

std::string Count(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string HowItEnded(const Execution& run) {
  switch (run.outcome) {
    case Outcome::kExited:
      return fmt::format("exit code {}", run.exit_code);
    case Outcome::kSignaled:
      return fmt::format("killed by signal {} ({})", run.signal, SignalName(run.signal));
    case Outcome::kTimedOut:
      return "timed out and was ended";
    case Outcome::kCancelled:
      return "was cancelled";
    case Outcome::kLimitExceeded:
      return fmt::format("exceeded limits.{} and was ended", worker::LimitName(run.limit));
    case Outcome::kSetupFailed:
      return "was not run";
  }
  return "was not run";
}

ToolError SetupError(const Execution& run) {
  if (run.busy) return Busy();
  std::optional<ToolError> shortage =
      Shortage("the command could not be run: " + run.failure, run.failed_errno);
  // It passes, whatever it was in the way of: the kernel lacks no protection, and nobody has to
  // change anything. Of room that cannot be said: unshare(2) has ENOSPC where no namespaces are
  // granted.
  if (shortage && shortage->code == ErrorCode::kBusy) return *std::move(shortage);
  using enum policy::ProtectionFailure::Kind;
  if (run.not_protected == kWithin) {
    return InvalidDirectory(
        {.message = "working directory cannot be inside a protected path: " + run.failure,
         .ai_message = "Nothing was run. Use the project's own directory as working_directory."});
  }
  if (run.not_protected) return NotProtectable(run.failure, *run.not_protected);
  // Without a step it is ours: there was no worker yet.
  if (shortage && run.failed_step == worker::Step::kNone) return *std::move(shortage);
  // A directory of ours that somebody has removed: the server can make no other.
  if (run.failed_step == worker::Step::kNone && run.failed_errno == EACCES) {
    return FileIo("the command could not be run: " + run.failure, run.failed_errno);
  }
  if (IsReplaced(run)) {
    return InvalidDirectory(
        {.message = "a directory was moved, removed or replaced before the call could begin: " +
                    run.failure,
         .ai_message = "Nothing was run: the directory is no longer the one that was checked. Call "
                       "again with a directory that nothing replaces."});
  }
  if (IsProtection(run.failed_step)) return SandboxUnavailable(run.failure);
  const bool in_order = run.failed_step == worker::Step::kDecodeSpec;
  if ((run.failed_step == worker::Step::kExecute || in_order) && run.failed_errno == E2BIG) {
    return InvalidArgument(
        "the arguments are too long for one command (128 KiB each and 6 MiB in all at most): " +
            run.failure,
        "Nothing was run. Pass fewer or shorter arguments, in several calls; put long text into a "
        "file, or into stdin where the tool has it.");
  }
  if (run.failed_step == worker::Step::kExecute) {
    return CommandFailed("the command", run.failure,
                         "The program was found but could not be executed inside the sandbox. If "
                         "it is installed in an unusual place, ask the user to add that place to "
                         "filesystem.read in the policy.");
  }
  if (shortage) return *std::move(shortage);
  return InternalError(run.failure, "the command could not be run");
}

namespace {

struct Damage {
  std::string message;
  std::string ai_message;
};

// What is not as it was.
std::optional<Damage> DamageBy(const CommandReport& report, const Execution& run) {
  const auto damaged = std::ranges::find_if(run.protected_changes, &ProtectedChange::repository);
  if (damaged != run.protected_changes.end()) {
    return Damage{
        .message = fmt::format("it damaged the git repository {}: {}",
                               NameOf(report, damaged->path), WhatIsLeft(*damaged)),
        .ai_message = "Tell the user before anything else is done here; do not run it again."};
  }
  const std::vector<std::string> names = NotRestored(report, run);
  if (names.empty()) return std::nullopt;
  return Damage{.message = fmt::format("protected paths were changed and could not be restored: {}",
                                       fmt::join(names, ", ")),
                .ai_message =
                    "Run nothing more here and tell the user before they use git in this project: "
                    "it may execute what the command left there. "
                    "Each later call that can write here first tries to restore the rest, "
                    "and is refused until that succeeds."};
}

ToolError GitError(const CommandReport& report, const Execution& run) {
  const bool says_none = run.err.text.contains("fatal: not a git repository");
  return GitFailed({.what = report.what,
                    .how = HowItEnded(run),
                    .out = run.out.text,
                    .err = run.err.text,
                    .in_repository = report.in_repository && !says_none});
}

// Of a sandbox only where it refused something (kWhatDenialsMean): most failures are tests. But
// `git stash` and `git update-index -q` say nothing of an index that they cannot write.
std::string_view AdviceOnFailure(const Execution& run) {
  const bool silent = run.out.total_bytes == 0 && run.err.total_bytes == 0;
  const bool read_only = std::ranges::find(run.sealed, policy::ProtectionSource::kGitCommands,
                                           &SealedPath::source) != run.sealed.end();
  if (silent && read_only) {
    return "The command failed without output. If it ran git to change the repository (git stash "
           "says nothing then): the policy keeps .git read-only to make and bash (git.commands); "
           "git_add and git_commit change it.";
  }
  return "The command itself failed; its output says why.";
}

// Nothing: it ended with success.
std::optional<ToolError> EndError(const CommandReport& report, const Execution& run) {
  switch (run.outcome) {
    case Outcome::kExited:
      if (run.exit_code == 0) return std::nullopt;
      [[fallthrough]];
    case Outcome::kSignaled:
      if (report.git) return GitError(report, run);
      return CommandFailed(report.what, HowItEnded(run), std::string(AdviceOnFailure(run)));
    case Outcome::kTimedOut:
      return TimedOut(report.what, run.time_limit, run.time_limit_is_policys);
    case Outcome::kCancelled:
      return Cancelled(report.what);
    case Outcome::kLimitExceeded:
      return LimitExceeded(report.what, worker::LimitName(run.limit));
    case Outcome::kSetupFailed:
      return SetupError(run);
  }
  return std::nullopt;
}

}  // namespace

// However it ended: nobody should go on as if nothing had happened.
std::optional<ToolError> ErrorOf(const CommandReport& report, const Execution& run) {
  std::optional<ToolError> error = EndError(report, run);
  std::optional<Damage> damage = DamageBy(report, run);
  if (!damage) return error;
  if (!error) return CommandFailed(report.what, damage->message, std::move(damage->ai_message));
  error->message += "; " + damage->message;
  error->ai_message = std::move(damage->ai_message);
  return error;
}

ToolResult RenderCommand(const CommandReport& report, const Execution& run,
                         std::span<const Denial> denials) {
  std::optional<ToolError> error = ErrorOf(report, run);
  ToolResult result;
  if (run.outcome == Outcome::kSetupFailed) {
    result = RefusedCall(std::move(*error));
    WarnOfProtectedChanges(result, report, run);
    return result;
  }
  for (const Denial& denial : denials) {
    result.denials.push_back(DenialText(denial));
    const std::string& line = denial.allow_with;
    const bool known = std::ranges::find(result.allow_with, line) != result.allow_with.end();
    if (!line.empty() && !known) result.allow_with.push_back(line);
  }
  const bool refused = !denials.empty() && !DamageBy(report, run);
  if (error && refused) error->ai_message = std::string(kWhatDenialsMean);
  if (error && error->code == ErrorCode::kCommandFailed && !report.advice.empty() &&
      !DamageBy(report, run)) {
    error->ai_message = report.advice + (refused ? " " + error->ai_message : "");
  }
  result.ending = Ending{.outcome = run.outcome, .exit_code = run.exit_code, .signal = run.signal};
  result.data = DataOf(report, run, denials);
  result.text = TextOf(report, run, result.denials, error);
  result.error = std::move(error);
  result.decision = report.decision;
  AddStreams(result, report.what, run);
  if (!run.warning.empty()) Warn(result, run.warning);
  WarnOfProtectedChanges(result, report, run);
  // What we ended together with the command it had not left behind.
  const bool by_itself = run.outcome == Outcome::kExited || run.outcome == Outcome::kSignaled;
  if (by_itself && run.strays_killed > 0) {
    Warn(result,
         fmt::format(
             "{} left running by the command {} ended",
             run.strays_killed == 1 ? "1 process" : fmt::format("{} processes", run.strays_killed),
             run.strays_killed == 1 ? "was" : "were"));
  }
  return result;
}

}  // namespace pa
