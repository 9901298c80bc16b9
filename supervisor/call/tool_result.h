// ToolResult: what came of a call, for whoever made it. A plain value.
//
//   ToolResult refusal = RefusedCall(error);
//   std::string line = StructuredContent(result, elapsed);   // the contract's envelope
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/call/tool_error.h"
#include "supervisor/run/outcome.h"

namespace pa {

struct ResourceLink {
  std::string uri, name, title, mime_type;
  std::uint64_t size = 0;
};

struct Image {
  std::string mime_type;
  std::string base64;
};

// How the command of a call ended.
struct Ending {
  Outcome outcome = Outcome::kSetupFailed;
  int exit_code = -1;  // kExited
  int signal = 0;      // kSignaled
};

struct ToolResult {
  std::string data;                // a JSON object, or "" when nothing was produced
  std::optional<ToolError> error;  // absent on success
  std::optional<Ending> ending;    // none: no command ran, or it is not what was asked for
  std::string text;                // the text content: complete by itself
  std::vector<Image> images;
  std::vector<ResourceLink> links;
  std::vector<std::string> warnings;
  std::vector<std::string> denials;  // as they stand in the text
  std::string decision;              // the rule that allowed it; "" = default
  bool truncated = false;
  std::string result_uri;
  std::string audit_id;  // of the call's lines in the audit log; "" = there are none
};

// A refusal with its text: `CODE: message`, then what to do next. Texts of more than 32 KiB are cut
// to their beginning and end. If no other call can succeed, the advice ends with the place in
// docs/troubleshooting.md.
ToolResult RefusedCall(ToolError error);

// {"success","data"?,"error"?,"meta":{"duration_ms",...}}, one line.
std::string StructuredContent(const ToolResult& result, std::chrono::microseconds duration);

}  // namespace pa
