// The JSON of MCP, by revision: what a result, a tool or a resource looks like to a client of that
// revision.
//
//    std::string result = InitializeResult(Revision::k2025_06_18, identity);
//    transport.Send(rpc::ResultLine(id, result));
//
// Plain functions from values to JSON on one line; supervisor/mcp/session.cc decides who may ask
// what and when. To add a revision: extend Revision, kRevisionNames and the predicates, then add a
// conversation for it in tests/conversations.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/call/call_log.h"
#include "supervisor/call/client_input.h"
#include "supervisor/call/tool.h"
#include "supervisor/call/tool_result.h"

namespace pa {

class JsonWriter;

// In order of age, so that "since" is a comparison.
enum class Revision { k2024_11_05, k2025_03_26, k2025_06_18, k2025_11_25, k2026_07_28 };

inline constexpr Revision kLatestLegacy = Revision::k2025_11_25;
inline constexpr Revision kModernRevision = Revision::k2026_07_28;  // stateless, no initialize

std::string_view RevisionName(Revision revision);
std::optional<Revision> FindRevision(std::string_view name);

inline bool IsModern(Revision revision) { return revision >= kModernRevision; }
// title, outputSchema, structuredContent, resource_link and _meta of tools came together.
inline bool HasStructuredContent(Revision revision) { return revision >= Revision::k2025_06_18; }
inline bool HasAnnotations(Revision revision) { return revision >= Revision::k2025_03_26; }

inline constexpr std::string_view kServerName = "project-actions";

// What the server says about itself.
struct Identity {
  std::string version;
  std::string instructions;  // for the model; may be ""
  // Results come without structuredContent and tools without outputSchema, in every revision.
  bool text_only = false;
  bool tasks = false;        // calls become tasks (supervisor/mcp/tasks.h)
  std::string website = {};  // "" = none
};

// The identifier of the extension.
inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";

// `{"resultType":"complete","_meta":{...serverInfo...}}`, of serverInfo name and version alone, in
// the modern era, nothing in the legacy one.
void WriteResultFrame(JsonWriter& writer, Revision revision, const Identity& identity,
                      std::string_view type = "complete");
// The same, and how long the answer may be cached: not at all, because policy and results can
// change at any time.
void WriteCacheableFrame(JsonWriter& writer, Revision revision, const Identity& identity);

std::string InitializeResult(Revision revision, const Identity& identity);
// The only field of the form, a required boolean.
inline constexpr std::string_view kApproveField = "approve";
// The params of elicitation/create, with that form.
std::string ElicitParams(std::string_view message, Revision revision);

// The client's method by which it is asked for that: `elicitation/create`.
std::string_view MethodOf(InputKind kind);

// What must be answered before a call goes on; the client calls again with the answers
// (2026-07-28).
struct InputRequired {
  std::vector<InputRequest> requests;
  std::string state;
};
std::string InputRequiredResult(const InputRequired& required, const Identity& identity);
// `"inputRequests":{KEY:{...}}`, the questions without their state.
void WriteInputRequests(JsonWriter& writer, const InputRequired& required);

// `notifications/message`: `data` is {"tool","message"}.
std::string LogLine(LogLevel level, std::string_view tool, std::string_view message);

std::string DiscoverResult(const Identity& identity);
// `output_inline`: limits.output_inline. Claude Code shows the model the first 2 KB of a result of
// more than 50,000 characters, unless its tool says how many are to be expected
// (`anthropic/maxResultSizeChars`).
std::string ListToolsResult(Revision revision, const Identity& identity,
                            std::span<const Tool* const> tools, std::uint64_t output_inline);
}  // namespace pa
