#include "supervisor/audit/audit_event.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "base/json_writer.h"
#include "base/random.h"
#include "base/utf8.h"
#include "supervisor/audit/secrets.h"
#include "supervisor/loop/version.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

// https://schema.ocsf.io/1.3.0/classes/api_activity
constexpr int kApplicationActivity = 6;
constexpr int kApiActivity = 6003;
constexpr int kRead = 2;
constexpr int kOther = 99;
enum class Status { kUnknown = 0, kSuccess = 1, kFailure = 2 };
enum class Severity { kInformational = 1, kLow = 2, kMedium = 3, kHigh = 4 };
enum class Action { kAllowed = 1, kDenied = 2 };
constexpr int kDispositionAllowed = 1;
constexpr int kDispositionBlocked = 2;

constexpr std::size_t kMaxWords = 4096;  // of a command line, of a message
constexpr std::size_t kMaxCommands = 8;
constexpr std::size_t kMaxDenials = 8;
constexpr std::size_t kMaxRelaxations = 32;

std::int64_t Milliseconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
}

std::string Cut(std::string_view text, std::size_t limit = kMaxWords) {
  const bool whole = text.size() <= limit;
  return RepairUtf8(text.substr(0, limit), true) + (whole ? "" : "...");
}

// Of a long text its two ends. A secret may begin or end in what is left out, so more than they is
// looked at; of all of it only where that takes no time.
struct Ends {
  std::string head, tail;
};
Ends MaskedEnds(std::string_view text) {
  constexpr std::size_t kTail = kMaxAuditCommand / 4;
  constexpr std::size_t kHead = kMaxAuditCommand - kTail;
  constexpr std::size_t kWindow = 2 * kMaxAuditCommand;
  const std::string_view first = Utf8Head(text, kWindow);
  const std::string_view last = Utf8Tail(text, kWindow);
  Ends ends{MaskSecrets(first), MaskSecrets(last)};
  ends.head = Utf8Head(ends.head, kHead);
  ends.tail = Utf8Tail(ends.tail, kTail);
  return ends;
}

void WriteCommandText(JsonWriter& w, const std::string& text) {
  const std::string whole = text.size() <= 2 * kMaxAuditCommand ? MaskSecrets(text) : "";
  if (text.size() <= 2 * kMaxAuditCommand && whole.size() <= kMaxAuditCommand) {
    w.String(whole);
    return;
  }
  const Ends ends = MaskedEnds(text);
  const std::size_t kept = std::min(ends.head.size() + ends.tail.size(), text.size());
  w.BeginObject().Field("bytes", std::uint64_t{text.size()});
  w.Field("sha256", Hex(Sha256Of(text))).Field("head", ends.head);
  w.Field("left_out", std::uint64_t{text.size() - kept}).Field("tail", ends.tail).EndObject();
}

// `after`: the word before it on a command line, or its name.
void WriteText(JsonWriter& w, const std::string& text, std::string_view after = "") {
  if (NamesSecret(after)) {
    w.String("***");
    return;
  }
  if (after == "command") return WriteCommandText(w, text);
  if (text.size() <= kMaxAuditText) {
    w.String(MaskSecrets(text));
    return;
  }
  w.BeginObject().Field("bytes", std::uint64_t{text.size()});
  w.Field("sha256", Hex(Sha256Of(text))).EndObject();
}

// What an option is called that takes the next word as its value, or "".
std::string_view OptionIn(std::string_view word) {
  return word.starts_with('-') && word.find('=') == std::string_view::npos ? word : "";
}

void WriteMasked(JsonWriter& w, const JsonValue& value, std::string_view after = "") {
  std::string_view option;
  switch (value.kind()) {
    case JsonValue::Kind::kString:
      return WriteText(w, value.AsString(), after);
    case JsonValue::Kind::kArray:
      w.BeginArray();
      for (const JsonValue& item : value.Items()) {
        WriteMasked(w, item, option.empty() ? after : option);
        option = item.kind() == JsonValue::Kind::kString ? OptionIn(item.AsString()) : "";
      }
      w.EndArray();
      return;
    case JsonValue::Kind::kObject:
      w.BeginObject();
      for (const auto& [key, member] : value.Members()) {
        w.Key(key.substr(0, kMaxAuditText));
        WriteMasked(w, member, key);
      }
      w.EndObject();
      return;
    default:
      if (NamesSecret(after)) return WriteText(w, "", after);
      w.Value(value);
  }
}

void WriteActor(JsonWriter& w, const AuditedCall& call) {
  const AuditCaller& caller = call.caller;
  w.Key("actor").BeginObject();
  if (!caller.client_name.empty()) w.Field("app_name", Cut(caller.client_name, kMaxAuditText));
  w.Key("user").BeginObject().Field("uid", std::to_string(geteuid()));
  if (!call.user.empty()) w.Field("name", call.user);
  w.EndObject();
  if (!caller.session.empty()) {
    w.Key("session").BeginObject().Field("uid", Cut(caller.session, kMaxAuditText));
    if (!caller.token.empty()) w.Field("credential_uid", Cut(caller.token, kMaxAuditText));
    if (!caller.issuer.empty()) w.Field("issuer", Cut(caller.issuer, kMaxAuditText));
    w.EndObject();
  }
  w.Key("process").BeginObject().Field("pid", std::int64_t{getpid()});
  w.Field("name", "project-actions").EndObject();
  w.EndObject();
  w.Key("src_endpoint")
      .BeginObject()
      .Field("name", Cut(caller.endpoint, kMaxAuditText))
      .EndObject();
}

void WriteMetadata(JsonWriter& w, const AuditedCall& call, const ChainLink& link) {
  w.Key("metadata").BeginObject().Field("version", "1.3.0");
  w.Key("product").BeginObject().Field("name", "project-actions");
  w.Field("vendor_name", "project-actions").Field("version", kVersion).EndObject();
  w.Key("profiles").BeginArray().String("security_control").EndArray();
  w.Field("log_name", "audit").Field("uid", NewAuditId()).Field("correlation_uid", call.id);
  // Each user's server has one tenant, the user.
  w.Field("tenant_uid", call.user.empty() ? std::to_string(geteuid()) : call.user);
  w.Field("sequence", link.sequence).EndObject();
}

void WriteChain(JsonWriter& w, const ChainLink& link) {
  w.Key("chain").BeginObject().Field("sequence", link.sequence);
  w.Field("previous", Hex(link.previous)).EndObject();
}

void WriteClass(JsonWriter& w, const AuditedCall& call, std::string_view phase) {
  const int activity = call.read_only ? kRead : kOther;
  w.Field("class_uid", kApiActivity).Field("class_name", "API Activity");
  w.Field("category_uid", kApplicationActivity).Field("activity_id", activity);
  w.Field("activity_name", call.read_only ? "Read" : "Execute");
  w.Field("type_uid", kApiActivity * 100 + activity);
  w.Field("message", Cut(call.tool, kMaxAuditText) + std::string(phase));
}

void WriteStatus(JsonWriter& w, Severity severity, Status status) {
  w.Field("severity_id", static_cast<int>(severity)).Field("status_id", static_cast<int>(status));
}

// Within an object `api` that stays open: the response may follow.
void BeginApi(JsonWriter& w, const AuditedCall& call) {
  w.Key("api").BeginObject().Field("operation", Cut(call.tool, kMaxAuditText));
  if (!call.caller.revision.empty()) w.Field("version", call.caller.revision);
  w.Key("service").BeginObject().Field("name", "MCP").EndObject();
  w.Key("request").BeginObject();
  if (!call.caller.request_id.empty()) {
    w.Field("uid", Cut(call.caller.request_id, kMaxAuditText));
  }
  w.Key("data").Raw(call.arguments).EndObject();
}

void WriteOrigin(JsonWriter& w, const AuditCaller& caller) {
  if (!caller.client_version.empty()) {
    w.Field("client_version", Cut(caller.client_version, kMaxAuditText));
  }
  if (!caller.within.empty()) w.Field("within", caller.within);
  if (!caller.traceparent.empty()) w.Field("traceparent", Cut(caller.traceparent, kMaxAuditText));
}

void WriteCommand(JsonWriter& w, const CommandRecord& command) {
  w.BeginObject().Key("argv").BeginArray();
  std::size_t room = kMaxWords;
  std::string_view option;
  for (const std::string& word : command.argv) {
    if (word.size() > room) {
      w.String("...");
      break;
    }
    room -= word.size();
    WriteText(w, word, option);
    option = OptionIn(word);
  }
  w.EndArray().Field("outcome", command.outcome).Field("exit_code", command.exit_code);
  if (command.signal != 0) w.Field("signal", command.signal);
  w.Field("duration_ms", std::int64_t{command.duration.count() / 1000});
  w.Field("output_bytes", command.output_bytes).Field("namespaces", command.namespaces);
  if (command.strays_killed != 0) w.Field("strays_killed", std::uint64_t{command.strays_killed});
  if (command.protected_changes != 0) {
    w.Field("protected_paths_modified", std::uint64_t{command.protected_changes});
  }
  w.EndObject();
}

void WriteCommands(JsonWriter& w, const std::vector<CommandRecord>& commands) {
  w.Key("commands").BeginArray();
  for (std::size_t i = 0; i < std::min(commands.size(), kMaxCommands); ++i) {
    WriteCommand(w, commands[i]);
  }
  w.EndArray();
  if (commands.size() > kMaxCommands) {
    w.Field("more_commands", std::uint64_t{commands.size() - kMaxCommands});
  }
}

void WriteDenials(JsonWriter& w, const ToolResult& result) {
  w.Key("denials").BeginArray();
  for (std::size_t i = 0; i < std::min(result.denials.size(), kMaxDenials); ++i) {
    w.String(Cut(MaskSecrets(result.denials[i])));
  }
  w.EndArray();
  if (result.denials.size() > kMaxDenials) {
    w.Field("more_denials", std::uint64_t{result.denials.size() - kMaxDenials});
  }
}

// Whole or not at all: `policy allow` writes such a line into a policy.
void WriteAllowWith(JsonWriter& w, const std::vector<std::string>& lines) {
  std::size_t left_out = 0;
  std::size_t written = 0;
  w.Key("allow_with").BeginArray();
  for (const std::string& line : lines) {
    const bool whole = line.size() <= kMaxWords && Cut(MaskSecrets(line)) == line;
    if (!whole || written == kMaxDenials) {
      ++left_out;
      continue;
    }
    ++written;
    w.String(line);
  }
  w.EndArray();
  if (left_out != 0) w.Field("more_allow_with", std::uint64_t{left_out});
}

// The rest of the decision, and what it led to.
void WriteApprovals(JsonWriter& w, const std::vector<ApprovalRecord>& approvals) {
  if (approvals.empty()) return;
  w.Key("approvals").BeginArray();
  for (const ApprovalRecord& approval : approvals) {
    w.BeginObject().Field("answer", approval.answer).Field("rule", Cut(approval.rule));
    w.Field("waited_ms", std::int64_t{approval.waited.count()}).EndObject();
  }
  w.EndArray();
}

void WriteDetails(JsonWriter& w, const CallRecord& record, const ToolResult& result) {
  w.Field("rule", Cut(record.rule)).Key("relaxations").BeginArray();
  for (std::size_t i = 0; i < std::min(record.relaxations.size(), kMaxRelaxations); ++i) {
    const policy::Relaxation& relaxation = record.relaxations[i];
    w.BeginObject().Field("name", relaxation.Name()).Field("key", relaxation.key);
    w.Field("value", Cut(relaxation.value, kMaxAuditText));
    w.Field("from", Cut(relaxation.at.Format(), kMaxAuditText)).EndObject();
  }
  w.EndArray();
  WriteApprovals(w, record.approvals);
  w.EndObject();
  if (!record.directory.empty()) w.Field("working_dir", Cut(record.directory));
  WriteCommands(w, record.run.commands);
  WriteDenials(w, result);
  if (!result.allow_with.empty()) WriteAllowWith(w, result.allow_with);
}

void WriteEnforcement(JsonWriter& w, const sandbox::KernelFeatures& kernel) {
  using Granted = sandbox::KernelFeatures::Granted;
  w.Key("sandbox").BeginObject().Field("landlock_abi", kernel.landlock_abi);
  w.Field("seccomp", kernel.seccomp_filter);
  w.Field("cgroup", kernel.cgroup == Granted::kYes).EndObject();
}

// What someone should look at is not informational.
Severity SeverityOf(const CallRecord& record, const ToolResult& result) {
  for (const CommandRecord& command : record.run.commands) {
    if (command.protected_changes != 0) return Severity::kHigh;
  }
  if (result.error && result.error->code == ErrorCode::kPolicyDenied) return Severity::kMedium;
  const bool declined = result.error && result.error->code == ErrorCode::kApprovalDeclined;
  return result.denials.empty() && !declined ? Severity::kInformational : Severity::kLow;
}

void WriteOutcome(JsonWriter& w, const CallRecord& record, const ToolResult& result, bool denied,
                  bool whole) {
  WriteStatus(w, SeverityOf(record, result), result.error ? Status::kFailure : Status::kSuccess);
  if (result.error) w.Field("status_code", CodeText(result.error->code));
  if (result.error && whole) {
    w.Field("status_detail", Cut(MaskSecrets(result.error->message)));
  }
  w.Field("action_id", static_cast<int>(denied ? Action::kDenied : Action::kAllowed));
  w.Field("disposition_id", denied ? kDispositionBlocked : kDispositionAllowed);
}

}  // namespace

std::string AuditArguments(const JsonValue* arguments) {
  if (arguments == nullptr) return "{}";
  JsonWriter w;
  WriteMasked(w, *arguments);
  std::string json = std::move(w).Take();
  if (json.size() <= kMaxAuditArguments) return json;
  JsonWriter cut;
  cut.BeginObject().Field("bytes", std::uint64_t{json.size()});
  cut.Field("sha256", Hex(Sha256Of(json))).EndObject();
  return std::move(cut).Take();
}

std::string NewAuditId() { return RandomHex(16); }

std::string BeginLine(const AuditedCall& call, const ChainLink& link) {
  JsonWriter w;
  w.BeginObject().Field("time", Milliseconds(call.began));
  WriteClass(w, call, " begins");
  WriteStatus(w, Severity::kInformational, Status::kUnknown);
  WriteMetadata(w, call, link);
  WriteActor(w, call);
  BeginApi(w, call);
  w.EndObject().Key("unmapped").BeginObject().Field("phase", "begin");
  WriteChain(w, link);
  WriteOrigin(w, call.caller);
  w.EndObject().EndObject();
  return std::move(w).Take();
}

std::string EndLine(const AuditedCall& call, const CallRecord& record, const ToolResult& result,
                    std::chrono::microseconds took, const sandbox::KernelFeatures& kernel,
                    const ChainLink& link) {
  const bool denied = !record.allowed && result.error.has_value();
  const auto ended = call.began + took;
  const auto line = [&](bool whole) {
    JsonWriter w;
    w.BeginObject().Field("time", Milliseconds(ended));
    w.Field("start_time", Milliseconds(call.began)).Field("end_time", Milliseconds(ended));
    w.Field("duration", std::int64_t{std::chrono::duration_cast<milliseconds>(took).count()});
    WriteClass(w, call, denied ? " is refused" : " ends");
    WriteOutcome(w, record, result, denied, whole);
    WriteMetadata(w, call, link);
    WriteActor(w, call);
    BeginApi(w, call);
    if (result.error) {
      w.Key("response").BeginObject().Field("error", CodeText(result.error->code)).EndObject();
    }
    w.EndObject().Key("unmapped").BeginObject().Field("phase", "end");
    WriteChain(w, link);
    WriteOrigin(w, call.caller);
    WriteEnforcement(w, kernel);
    w.Key("decision").BeginObject().Field("allowed", record.allowed);
    if (whole) WriteDetails(w, record, result);
    if (!whole) w.EndObject().Field("cut", true);
    w.EndObject().EndObject();
    return std::move(w).Take();
  };
  std::string text = line(true);
  return text.size() < kMaxAuditLine ? text : line(false);
}

}  // namespace pa
