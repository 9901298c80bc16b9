// The lines of the audit log: OCSF 1.3.0, class API Activity (6003), one object a line
// (docs/audit.md has an example of each, docs/adr/0019 says why OCSF).
//
//   std::string line = BeginLine(call, link);          // before anything runs
//   std::string line = EndLine(call, record, result, took, kernel, link);
//
// What OCSF has no attribute for stands in `unmapped`: the place in the chain
// (supervisor/audit/audit_file.h), what was run, what the sandbox enforced.
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

// Who calls, as far as it says so: names and versions of clients are their own words.
struct AuditCaller {
  std::string session;   // of one connection: 32 hexadecimal digits
  std::string endpoint;  // `stdio`, or `command line`
  std::string client_name, client_version;
  std::string revision;     // of MCP; "" = none
  std::string request_id;   // JSON-RPC's, as it was written
  std::string traceparent;  // W3C Trace Context, of `_meta`; "" = none
};

struct AuditedCall {
  std::string id;    // 32 hexadecimal digits; both lines of a call have it
  std::string user;  // whose server it is; "" = the system has no name for the uid
  AuditCaller caller;
  std::string tool;
  bool read_only = false;
  std::string arguments;  // JSON, as AuditArguments made it
  std::chrono::system_clock::time_point began;
};

// What is kept of arguments: text without what looks like a secret (supervisor/audit/secrets.h),
// and of text longer than kMaxAuditText its size and SHA-256. Of `command`, which is executed,
// kMaxAuditCommand bytes: whole, or the beginning and the end with size, SHA-256 and how much is
// left out. Within kMaxAuditArguments, which is more than a command can take up, else their size
// and hash.
inline constexpr std::size_t kMaxAuditText = 256;
inline constexpr std::size_t kMaxAuditCommand = 4U << 10;
inline constexpr std::size_t kMaxAuditArguments = 32U << 10;
std::string AuditArguments(const JsonValue* arguments);

std::string NewAuditId();

// Each shorter than kMaxAuditLine, whatever the call did: where its details do not fit,
// `unmapped.cut` stands for them.
std::string BeginLine(const AuditedCall& call, const ChainLink& link);
std::string EndLine(const AuditedCall& call, const CallRecord& record, const ToolResult& result,
                    std::chrono::microseconds took, const sandbox::KernelFeatures& kernel,
                    const ChainLink& link);

}  // namespace pa
