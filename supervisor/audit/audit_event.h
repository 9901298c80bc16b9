// The lines of the audit log: OCSF 1.3.0, class API Activity (6003), one JSON object a line.
// docs/audit.md has an example of each; docs/adr/0019 says why OCSF. Only the format: audit_log.h
// writes the lines.
//
//    std::string line = BeginLine(call, link);          // before anything runs
//    std::string line = EndLine(call, record, result, took, kernel, link);
//
// Data that OCSF has no attribute for is in `unmapped`: the position in the chain
// (supervisor/audit/audit_file.h), the commands that ran, what the sandbox enforced.
// https://schema.ocsf.io/1.3.0/classes/api_activity
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "sandbox/enforcement.h"
#include "supervisor/audit/audit_file.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/call_record.h"
#include "supervisor/call/tool_result.h"

namespace pa {

// The caller, as far as it is known: name and version are what the client says about itself.
struct AuditCaller {
  std::string session;   // of one connection: 32 hexadecimal digits
  std::string endpoint;  // `stdio`, `unix`, `http`, or `command line`
  std::string token;     // the name of the token by which the client is known; "" = by none
  std::string issuer;    // of an access token (OAuth), whose subject `token` is; "" = it is ours
  std::string client_name, client_version;
  std::string revision;     // of MCP; "" = none
  std::string request_id;   // the JSON-RPC id, as it was written
  std::string traceparent;  // W3C Trace Context, from `_meta` or the header; "" = none
  std::string within;       // the id of the call that makes this one; "" = the client makes it
};

struct AuditedCall {
  std::string id;    // 32 hexadecimal digits; both lines of a call have it
  std::string user;  // who runs the server; "" = the system has no name for the uid
  AuditCaller caller;
  std::string tool;
  bool read_only = false;
  std::string arguments;  // JSON, as AuditArguments made it
  std::chrono::system_clock::time_point began;
};

// The arguments as JSON for the log. Text that looks like a secret is masked
// (supervisor/audit/secrets.h). Of a text longer than kMaxAuditText only size and SHA-256 are kept.
// `command`, which is executed, is kept whole up to kMaxAuditCommand bytes; of a longer one the
// beginning and the end are kept, with size, SHA-256 and how many bytes are left out. If the result
// exceeds kMaxAuditArguments, which no `command` alone can do, only its size and SHA-256 are kept.
inline constexpr std::size_t kMaxAuditText = 256;
inline constexpr std::size_t kMaxAuditCommand = 4U << 10;
inline constexpr std::size_t kMaxAuditArguments = 32U << 10;
std::string AuditArguments(const JsonValue* arguments);

std::string NewAuditId();

// Each line is shorter than kMaxAuditLine, whatever the call did: if its details do not fit, they
// are left out and `unmapped.cut` is true.
std::string BeginLine(const AuditedCall& call, const ChainLink& link);
std::string EndLine(const AuditedCall& call, const CallRecord& record, const ToolResult& result,
                    std::chrono::microseconds took, const sandbox::KernelFeatures& kernel,
                    const ChainLink& link);

}  // namespace pa
