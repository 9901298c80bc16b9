// ToolResult: the result of a call, as its tool returns it. A plain value; StructuredContent makes
// the contract's envelope of it.
//
//    ToolResult refusal = RefusedCall(error);
//    std::string line = StructuredContent(result, elapsed);
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/call/client_input.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/run/outcome.h"

namespace pa {

class JsonWriter;  // base/json_writer.h
struct Tool;       // supervisor/call/tool.h

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

// All of a text or list of the data that is shown in part.
struct KeptText {
  std::string member;  // "stdout"
  std::string uri;     // in the result store; "" = it could not be kept
  bool whole = true;   // false: a part of it is not kept either
};

struct ToolResult {
  std::string data;                // a JSON object, or "" when nothing was produced
  std::optional<ToolError> error;  // absent on success
  std::optional<Ending> ending;    // none: no command ran, or none that was asked for
  std::string text;                // the text content: complete by itself
  // An array of JSON in place of all content, for kinds that none of our tools has; "": none.
  std::string content;
  std::vector<Image> images;
  std::vector<ResourceLink> links;
  std::vector<std::string> warnings;
  std::vector<std::string> denials;     // one line each, as in the text
  std::vector<std::string> allow_with;  // the lines of policy that the denials suggest, each once
  std::string decision;                 // the rule that allowed it; "" = default
  bool truncated = false;
  std::vector<KeptText> kept;
  // Whose data it is, if not that of the tool that was called: the lists that it has are that
  // tool's.
  const Tool* data_of = nullptr;
  std::string items;  // a JSON object: what the argument `result` was applied to; "" = nothing
  std::vector<std::string> transformations;  // "filter: 120 -> 7"
  std::string result_uri;
  std::string audit_id;  // of the call's lines in the audit log; "" = none
  // For what its client could not be asked, so that it failed.
  std::optional<InputKind> needs_input = {};
};

// A refusal with its text: `CODE: message`, then what to do next. A part of more than 32 KiB is cut
// to its beginning and its end. If no other call can succeed, the advice ends with the section of
// docs/troubleshooting.md.
ToolResult RefusedCall(ToolError error);

// {"success","data"?,"error"?,"meta":{"duration_ms",...}}, one line.
std::string StructuredContent(const ToolResult& result, std::chrono::microseconds duration);
void WriteError(JsonWriter& writer, const ToolError& error);  // as an object
// Its members but `success`, into an open object.
void WriteOutcome(JsonWriter& writer, const ToolResult& result, std::chrono::microseconds duration);

}  // namespace pa
