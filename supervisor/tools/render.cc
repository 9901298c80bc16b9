#include "supervisor/tools/render.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/json_writer.h"
#include "base/units.h"
#include "sandbox/enforcement.h"
#include "supervisor/tool_output.h"

namespace pa {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::string QuoteWord(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

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
                   const std::optional<ToolError>& error) {
  std::string text =
      fmt::format("{}: {} in {}\n", report.what, HowItEnded(run), Took(run.duration));
  if (run.err.text.empty()) {
    text += run.out.text;
  } else {
    AppendStream(text, "stdout", run.out);
    AppendStream(text, "stderr", run.err);
  }
  if (error) {
    if (!text.ends_with('\n')) text += '\n';
    text.append(error->code).append(": ").append(error->ai_message);
  }
  return text;
}

void WriteOmitted(JsonWriter& writer, const std::string& name, const Captured& stream) {
  if (stream.omitted_bytes == 0) return;
  writer.Field(name + "_omitted_bytes", stream.omitted_bytes);
  writer.Field(name + "_omitted_lines", stream.omitted_lines);
}

std::string DataOf(const CommandReport& report, const Execution& run) {
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
  writer.EndObject();
  return std::move(writer).Take();
}

void AddStream(ToolResult& result, const std::string& name, const Captured& stream) {
  if (stream.omitted_bytes > 0) result.truncated = true;
  if (!stream.uri.empty()) {
    result.links.push_back({.uri = stream.uri,
                            .name = name,
                            .title = name + ", in full",
                            .mime_type = "text/plain",
                            .size = stream.total_bytes - stream.lost_bytes});
    if (result.result_uri.empty()) result.result_uri = stream.uri;
  }
  if (stream.lost_bytes > 0) {
    Warn(result, fmt::format("{}: {} bytes beyond limits.output_total were not kept", name,
                             stream.lost_bytes));
  }
}

// The steps that make the sandbox; the others are our own affairs.
bool IsProtection(worker::Step step) {
  constexpr std::array kProtections = {worker::Step::kSubreaper,  worker::Step::kCapabilities,
                                       worker::Step::kNoNewPrivs, worker::Step::kGuardianScope,
                                       worker::Step::kNamespaces, worker::Step::kLimits,
                                       worker::Step::kLandlock,   worker::Step::kSeccomp};
  return std::ranges::find(kProtections, step) != kProtections.end();
}

std::string AccessText(sandbox::Access access) {
  std::string text;
  const auto add = [&](sandbox::Access bit, const char* name) {
    if (sandbox::Has(access, bit)) text.append(text.empty() ? "" : ", ").append(name);
  };
  add(sandbox::Access::kRead, "read");
  add(sandbox::Access::kWrite, "write");
  add(sandbox::Access::kExecute, "execute");
  add(sandbox::Access::kDevice, "device");
  return text;
}

void WritePaths(JsonWriter& writer, const sandbox::Confinement& confinement) {
  writer.Key("paths").BeginArray();
  for (const sandbox::PathGrant& grant : confinement.paths) {
    writer.BeginObject().Field("path", grant.path);
    writer.Field("access", AccessText(grant.access)).Field("reason", grant.reason).EndObject();
  }
  writer.BeginObject().Field("path", "$TMPDIR").Field("access", "read, write, execute");
  writer.Field("reason", "private to this call, removed afterwards").EndObject();
  writer.EndArray();
}

void WriteLimits(JsonWriter& writer, const sandbox::ResourceLimits& limits) {
  writer.Key("limits").BeginObject();
  writer.Field("wall_time_ms", limits.wall_time_ms).Field("cpu_seconds", limits.cpu_seconds);
  writer.Field("memory_bytes", limits.memory_bytes).Field("processes", limits.processes);
  writer.Field("open_files", limits.open_files).Field("file_bytes", limits.file_bytes);
  writer.EndObject();
}

void WriteEnforcement(JsonWriter& writer, const sandbox::Enforcement& enforcement) {
  writer.Key("enforcement").BeginArray();
  for (const sandbox::Protection& protection : enforcement.protections) {
    writer.BeginObject().Field("name", protection.name);
    writer.Field("level", sandbox::LevelName(protection.level));
    if (!protection.by.empty()) writer.Field("by", protection.by);
    if (!protection.why.empty()) writer.Field("why", protection.why);
    writer.EndObject();
  }
  writer.EndArray();
}

const char* NetworkName(sandbox::Network network) {
  return network == sandbox::Network::kFull ? "full" : "none";
}

void WriteConfinement(JsonWriter& writer, const policy::Allow& allow,
                      const sandbox::Enforcement& enforcement) {
  writer.BeginObject();
  WritePaths(writer, allow.confinement());
  writer.Field("network", NetworkName(allow.confinement().network));
  WriteLimits(writer, allow.limits());
  WriteEnforcement(writer, enforcement);
  writer.EndObject();
}

std::string DryRunText(const CommandReport& report, const policy::Allow& allow,
                       const sandbox::Enforcement& enforcement,
                       const std::optional<std::string>& would_print) {
  std::string text = fmt::format("dry run, nothing was changed: {}\nin {}\n",
                                 QuoteCommand(report.argv), report.working_dir);
  text += fmt::format("network: {}\npaths:\n", NetworkName(allow.confinement().network));
  for (const sandbox::PathGrant& grant : allow.confinement().paths) {
    text += fmt::format("  {} ({}): {}\n", grant.path, AccessText(grant.access), grant.reason);
  }
  text += "  $TMPDIR (read, write, execute): private to this call\n";
  const sandbox::ResourceLimits& limits = allow.limits();
  text += fmt::format(
      "limits: wall time {} ms, CPU {} s, memory {}, {} processes, {} open files, "
      "file size {}\n",
      limits.wall_time_ms, limits.cpu_seconds, FormatByteSize(limits.memory_bytes),
      limits.processes, limits.open_files, FormatByteSize(limits.file_bytes));
  for (const sandbox::Protection& protection : enforcement.protections) {
    if (protection.level == sandbox::Level::kEnforced) continue;
    text += fmt::format("{} enforced: {}: {}\n",
                        protection.level == sandbox::Level::kPartly ? "partly" : "not",
                        protection.name, protection.why);
  }
  if (would_print) text.append("would print:\n").append(*would_print);
  return text;
}

}  // namespace

void Warn(ToolResult& result, std::string warning) {
  if (!result.text.ends_with('\n')) result.text += '\n';
  result.text.append("warning: ").append(warning).append("\n");
  result.warnings.push_back(std::move(warning));
}

std::string QuoteCommand(std::span<const std::string> argv) {
  std::string out;
  for (const std::string& word : argv) {
    if (!out.empty()) out += ' ';
    out += QuoteWord(word);
  }
  return out;
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
  if (IsProtection(run.failed_step) || run.failure.starts_with("landlock")) {
    return SandboxUnavailable(run.failure);
  }
  if (run.failed_step == worker::Step::kExecute) {
    return CommandFailed("the command", run.failure,
                         "The program was found but could not be executed inside the sandbox. If "
                         "it is installed in an unusual place, ask the user to add that place to "
                         "filesystem.read in the policy.");
  }
  return InternalError(run.failure, "the command could not be started: " + run.failure);
}

std::optional<ToolError> ErrorOf(const CommandReport& report, const Execution& run) {
  switch (run.outcome) {
    case Outcome::kExited:
      if (run.exit_code == 0) return std::nullopt;
      [[fallthrough]];
    case Outcome::kSignaled:
      if (report.git) return GitFailed(report.what, HowItEnded(run), run.err.text);
      return CommandFailed(report.what, HowItEnded(run),
                           "The command itself failed; its output says why.");
    case Outcome::kTimedOut:
      return TimedOut(report.what, duration_cast<milliseconds>(run.duration));
    case Outcome::kCancelled:
      return Cancelled(report.what);
    case Outcome::kLimitExceeded:
      return LimitExceeded(report.what, worker::LimitName(run.limit));
    case Outcome::kSetupFailed:
      return SetupError(run);
  }
  return std::nullopt;
}

ToolResult RenderCommand(const CommandReport& report, const Execution& run) {
  std::optional<ToolError> error = ErrorOf(report, run);
  if (run.outcome == Outcome::kSetupFailed) return RefusedCall(std::move(*error));
  ToolResult result;
  result.data = DataOf(report, run);
  result.text = TextOf(report, run, error);
  result.error = std::move(error);
  result.decision = report.decision;
  AddStream(result, report.what + ": stdout", run.out);
  AddStream(result, report.what + ": stderr", run.err);
  if (run.strays_killed > 0) {
    result.warnings.push_back(
        fmt::format("{} processes that the command had left behind were ended", run.strays_killed));
  }
  return result;
}

ToolResult RenderDryRun(const CommandReport& report, const policy::Allow& allow,
                        std::optional<std::string> would_print) {
  const sandbox::Enforcement enforcement =
      sandbox::Assess(allow.confinement(), allow.limits(), sandbox::ProbeKernel());
  JsonWriter writer;
  writer.BeginObject().Field("command", QuoteCommand(report.argv)).Key("argv").BeginArray();
  for (const std::string& word : report.argv) writer.String(word);
  writer.EndArray().Field("working_dir", report.working_dir);
  if (would_print) writer.Field("would_print", *would_print);
  writer.Key("confinement");
  WriteConfinement(writer, allow, enforcement);
  writer.EndObject();
  ToolResult result;
  result.data = std::move(writer).Take();
  result.text = DryRunText(report, allow, enforcement, would_print);
  result.decision = report.decision;
  return result;
}

}  // namespace pa
