#include "supervisor/tools/dry_run.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "base/units.h"
#include "sandbox/enforcement.h"
#include "supervisor/run/slot_pool.h"

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

void WritePaths(JsonWriter& writer, const sandbox::Confinement& confinement) {
  writer.Key("paths").BeginArray();
  for (const sandbox::PathGrant& grant : confinement.paths) {
    writer.BeginObject().Field("path", grant.path);
    writer.Field("access", AccessText(grant.access)).Field("reason", grant.reason).EndObject();
  }
  writer.BeginObject().Field("path", "$TMPDIR");
  writer.Field("access", AccessText(TmpDirAccess(confinement)));
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

void WriteConfinement(JsonWriter& writer, const policy::Allow& allow,
                      const sandbox::Enforcement& enforcement) {
  writer.BeginObject();
  WritePaths(writer, allow.confinement());
  writer.Field("network", sandbox::NetworkName(allow.confinement().network));
  WriteLimits(writer, allow.limits());
  WriteEnforcement(writer, enforcement);
  writer.Key("relaxations");
  policy::WriteRelaxations(writer, allow.relaxations());
  writer.EndObject();
}

std::string DryRunText(const CommandReport& report, const policy::Allow& allow,
                       const sandbox::Enforcement& enforcement,
                       const std::optional<std::string>& would_print) {
  std::string text = fmt::format("dry run, nothing was changed: {}\nin {}\n",
                                 QuoteCommand(report.argv), report.working_dir);
  text += fmt::format("network: {}\npaths:\n", sandbox::NetworkName(allow.confinement().network));
  for (const sandbox::PathGrant& grant : allow.confinement().paths) {
    text += fmt::format("  {} ({}): {}\n", grant.path, AccessText(grant.access), grant.reason);
  }
  text += fmt::format("  $TMPDIR ({}): private to this call\n",
                      AccessText(TmpDirAccess(allow.confinement())));
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
  for (const policy::Relaxation& relaxation : allow.relaxations()) {
    text += fmt::format("relaxed by the policy: {}\n", relaxation.Format());
  }
  if (would_print) text.append("would print:\n").append(*would_print);
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
