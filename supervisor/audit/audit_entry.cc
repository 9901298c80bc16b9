#include "supervisor/audit/audit_entry.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/try.h"
#include "supervisor/audit/audit_file.h"

namespace pa {
namespace {

std::unexpected<Error> NoEntry(std::string_view lacking) {
  return std::unexpected(Error("no line of the audit log", "it lacks " + std::string(lacking)));
}

// The member at `path`, such as `api.operation`; null: there is none.
const JsonValue* At(const JsonValue& event, std::string_view path) {
  const JsonValue* value = &event;
  while (value != nullptr && !path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    value = value->Find(name);
    path.remove_prefix(std::min(name.size() + 1, path.size()));
  }
  return value;
}

std::string TextAt(const JsonValue& event, std::string_view path) {
  const JsonValue* value = At(event, path);
  return value != nullptr && value->IsString() ? value->AsString() : "";
}

std::optional<std::int64_t> NumberAt(const JsonValue& event, std::string_view path) {
  const JsonValue* value = At(event, path);
  return value == nullptr ? std::nullopt : value->AsInteger();
}

constexpr std::size_t kMaxSubject = 1024;

// A text as AuditArguments keeps it, or the texts of a list.
std::string Told(const JsonValue& value) {
  if (value.IsString()) return value.AsString();
  if (value.IsObject()) {
    if (const JsonValue* path = value.Find("path")) return Told(*path);  // of an edit
    if (const JsonValue* head = value.Find("head")) return Told(*head) + "...";
    if (const auto bytes = NumberAt(value, "bytes")) return fmt::format("({} bytes)", *bytes);
    return "";
  }
  if (!value.IsArray()) return "";
  std::string told;
  for (const JsonValue& item : value.Items()) {
    if (told.size() > kMaxSubject) break;
    told += (told.empty() ? "" : " ") + Told(item);
  }
  return told;
}

// Of the arguments those that say most.
std::string SubjectOf(const JsonValue& arguments) {
  constexpr std::string_view kTelling[] = {"command", "operation", "target",  "pattern", "path",
                                           "paths",   "edits",     "message", "language"};
  std::string subject;
  for (const std::string_view name : kTelling) {
    const JsonValue* value = arguments.Find(name);
    const std::string told = value == nullptr ? "" : Told(*value);
    if (!told.empty()) subject += (subject.empty() ? "" : " ") + told;
  }
  return subject;
}

}  // namespace

Result<AuditEntry> ReadAuditEntry(std::string_view line) {
  PA_TRY(const JsonValue event, ParseJson(line, {.max_bytes = kMaxAuditLine}));
  AuditEntry entry;
  const std::string phase = TextAt(event, "unmapped.phase");
  if (phase != "begin" && phase != "end") return NoEntry("unmapped.phase");
  entry.phase = phase == "begin" ? AuditEntry::Phase::kBegin : AuditEntry::Phase::kEnd;
  const auto time = NumberAt(event, "time");
  if (!time) return NoEntry("time");
  entry.time = PointInTime(std::chrono::milliseconds(*time));
  const auto sequence = NumberAt(event, "unmapped.chain.sequence");
  if (!sequence || *sequence < 1) return NoEntry("unmapped.chain.sequence");
  entry.sequence = static_cast<std::uint64_t>(*sequence);
  entry.id = TextAt(event, "metadata.correlation_uid");
  if (entry.id.empty()) return NoEntry("metadata.correlation_uid");
  entry.tool = TextAt(event, "api.operation");
  entry.code = TextAt(event, "status_code");
  entry.directory = TextAt(event, "unmapped.working_dir");
  entry.refused = NumberAt(event, "action_id") == 2;
  if (const auto took = NumberAt(event, "duration")) {
    entry.duration = std::chrono::milliseconds(*took);
  }
  const JsonValue* lines = At(event, "unmapped.allow_with");
  if (lines != nullptr && lines->IsArray()) {
    for (const JsonValue& one : lines->Items()) {
      if (one.IsString()) entry.allow_with.push_back(one.AsString());
    }
  }
  const auto more = NumberAt(event, "unmapped.more_allow_with");
  if (more && *more > 0) entry.more_allow_with = static_cast<std::uint64_t>(*more);
  if (const JsonValue* arguments = At(event, "api.request.data")) {
    entry.subject = SubjectOf(*arguments);
  }
  return entry;
}

}  // namespace pa
