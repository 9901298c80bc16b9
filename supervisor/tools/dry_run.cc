#include "supervisor/tools/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/json_writer.h"
#include "base/units.h"
#include "sandbox/enforcement.h"
#include "supervisor/run/slot_pool.h"
#include "supervisor/text/quote_command.h"

namespace pa {
namespace {

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

// The same for every call: who asks what one call may do has no use for sixty lines of them.
// `policy show` and `policy explain` name them.
bool IsUsual(const sandbox::PathGrant& grant) {
  const bool known = grant.reason.starts_with("system: ") || grant.reason.starts_with("toolchain");
  return known && (!sandbox::Has(grant.access, sandbox::Access::kWrite) ||
                   sandbox::Has(grant.access, sandbox::Access::kDevice));
}

std::size_t CountUsual(const sandbox::Confinement& confinement) {
  return static_cast<std::size_t>(std::ranges::count_if(confinement.paths, IsUsual));
}

void WritePaths(JsonWriter& writer, const sandbox::Confinement& confinement) {
  writer.Key("paths").BeginArray();
  for (const sandbox::PathGrant& grant : confinement.paths) {
    if (IsUsual(grant)) continue;
    writer.BeginObject().Field("path", grant.path);
    writer.Field("access", AccessText(grant.access)).Field("reason", grant.reason).EndObject();
  }
  writer.BeginObject().Field("path", "$TMPDIR");
  writer.Field("access", AccessText(TmpDirAccess(confinement)));
  writer.Field("reason", "private to this call").EndObject();
  writer.EndArray();
  writer.Field("system_paths", CountUsual(confinement));
}

void WriteLimits(JsonWriter& writer, const sandbox::ResourceLimits& limits) {
  writer.Key("limits").BeginObject();
  writer.Field("wall_time_ms", limits.wall_time_ms).Field("cpu_seconds", limits.cpu_seconds);
  writer.Field("memory_bytes", limits.memory_bytes).Field("processes", limits.processes);
  writer.Field("open_files", limits.open_files).Field("file_bytes", limits.file_bytes);
  writer.EndObject();
}

// What is enforced in full needs no word; `project-actions doctor` says all, and why.
void WriteEnforcement(JsonWriter& writer, const sandbox::Enforcement& enforcement) {
  writer.Key("enforcement").BeginArray();
  for (const sandbox::Protection& protection : enforcement.protections) {
    if (protection.level == sandbox::Level::kEnforced) continue;
    writer.BeginObject().Field("name", protection.name);
    writer.Field("level", sandbox::LevelName(protection.level)).EndObject();
  }
  writer.EndArray();
}

void WriteConfinement(JsonWriter& writer, const policy::Allow& allow, const std::string& job,
                      const sandbox::Enforcement& enforcement) {
  writer.BeginObject();
  WritePaths(writer, allow.confinement());
  writer.Field("network", sandbox::NetworkName(allow.confinement().network));
  if (!job.empty()) writer.Field("job", job);
  WriteLimits(writer, allow.limits());
  WriteEnforcement(writer, enforcement);
  writer.Key("relaxations");
  policy::WriteRelaxations(writer, allow.relaxations());
  writer.EndObject();
}

std::string NotEnforcedText(const sandbox::Enforcement& enforcement, sandbox::Level level) {
  std::string names;
  for (const sandbox::Protection& protection : enforcement.protections) {
    if (protection.level != level) continue;
    names.append(names.empty() ? "" : ", ").append(protection.name);
  }
  return names.empty() ? "" : fmt::format("{} enforced: {}\n", sandbox::LevelName(level), names);
}

std::string DryRunText(const CommandReport& report, const policy::Allow& allow,
                       const sandbox::Enforcement& enforcement,
                       const std::optional<std::string>& would_print) {
  std::string text = fmt::format("dry run, nothing was changed: {}\n", QuoteCommand(report.argv));
  if (would_print) {
    text.append("would print:\n").append(*would_print);
    if (!would_print->empty() && !would_print->ends_with('\n')) text += '\n';
  }
  text += fmt::format("in {}\nnetwork: {}{}\npaths:\n", report.working_dir,
                      sandbox::NetworkName(allow.confinement().network),
                      report.job.empty() ? "" : ", that of job " + report.job);
  for (const sandbox::PathGrant& grant : allow.confinement().paths) {
    if (IsUsual(grant)) continue;
    text += fmt::format("  {} ({}): {}\n", grant.path, AccessText(grant.access), grant.reason);
  }
  text += fmt::format("  $TMPDIR ({}): private to this call\n",
                      AccessText(TmpDirAccess(allow.confinement())));
  text += fmt::format("  and {} of the system and toolchains\n", CountUsual(allow.confinement()));
  const sandbox::ResourceLimits& limits = allow.limits();
  text += fmt::format(
      "limits: wall time {} ms, CPU {} s, memory {}, {} processes, {} open files, "
      "file size {}\n",
      limits.wall_time_ms, limits.cpu_seconds, FormatByteSize(limits.memory_bytes),
      limits.processes, limits.open_files, FormatByteSize(limits.file_bytes));
  text += NotEnforcedText(enforcement, sandbox::Level::kPartly);
  text += NotEnforcedText(enforcement, sandbox::Level::kNot);
  for (const policy::Relaxation& relaxation : allow.relaxations()) {
    text += fmt::format("relaxed by the policy: {}\n", relaxation.Format());
  }
  return text;
}

}  // namespace

ToolResult RenderDryRun(const CommandReport& report, const policy::Allow& allow,
                        const sandbox::KernelFeatures& kernel,
                        std::optional<std::string> would_print) {
  const sandbox::Enforcement enforcement =
      sandbox::Assess(allow.confinement(), allow.limits(), kernel);
  JsonWriter writer;
  writer.BeginObject().Field("command", QuoteCommand(report.argv)).Key("argv").BeginArray();
  for (const std::string& word : report.argv) writer.String(word);
  writer.EndArray();
  if (would_print) writer.Field("would_print", *would_print);
  writer.Field("working_dir", report.working_dir);
  writer.Key("confinement");
  WriteConfinement(writer, allow, report.job, enforcement);
  writer.EndObject();
  ToolResult result;
  result.data = std::move(writer).Take();
  result.text = DryRunText(report, allow, enforcement, would_print);
  result.decision = report.decision;
  return result;
}

}  // namespace pa
