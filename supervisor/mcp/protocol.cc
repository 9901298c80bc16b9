#include "supervisor/mcp/protocol.h"

#include <algorithm>

#include "base/base64.h"
#include "base/json_writer.h"
#include "supervisor/call/arguments.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/transport/rpc.h"

namespace pa {
namespace {

struct NamedRevision {
  Revision revision;
  std::string_view name;
};
constexpr NamedRevision kRevisionNames[] = {
    {Revision::k2024_11_05, "2024-11-05"}, {Revision::k2025_03_26, "2025-03-26"},
    {Revision::k2025_06_18, "2025-06-18"}, {Revision::k2025_11_25, "2025-11-25"},
    {Revision::k2026_07_28, "2026-07-28"},
};

void WriteNameAndVersion(JsonWriter& writer, const Identity& identity) {
  writer.Field("name", kServerName).Field("version", identity.version);
}

// A shield with a prompt in it.
constexpr std::string_view kIcon =
    R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#1f6feb" d="M12 1 )"
    R"(3 4v7c0 6 4 10 9 12 5-2 9-6 9-12V4z"/><path fill="none" stroke="#fff" stroke-width="2" )"
    R"(d="m8 9 3 3-3 3m5 0h4"/></svg>)";

// What a client shows of the server, for a person to recognise it.
void WriteImplementation(JsonWriter& writer, Revision revision, const Identity& identity) {
  writer.BeginObject();
  WriteNameAndVersion(writer, identity);
  if (revision >= Revision::k2025_06_18) writer.Field("title", "Project Actions");
  if (revision >= Revision::k2025_11_25) {
    writer.Field("description", "Runs make, git and shell commands of a project in a sandbox.");
    if (!identity.website.empty()) writer.Field("websiteUrl", identity.website);
    writer.Key("icons").BeginArray().BeginObject();
    writer.Field("src", "data:image/svg+xml;base64," + ToBase64(kIcon));
    writer.Field("mimeType", "image/svg+xml").Key("sizes").BeginArray().String("any").EndArray();
    writer.EndObject().EndArray();
  }
  writer.EndObject();
}

constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";

void WriteMeta(JsonWriter& writer, const Identity& identity) {
  writer.Key("_meta").BeginObject().Key(kServerInfoKey).BeginObject();
  WriteNameAndVersion(writer, identity);
  writer.EndObject().EndObject();
}

// Not at all, because policy and results can change at any time.
void WriteCacheHint(JsonWriter& writer) { writer.Field("ttlMs", 0).Field("cacheScope", "private"); }

void WriteList(JsonWriter& writer, std::string_view name, bool subscribe) {
  writer.Key(name).BeginObject().Field("listChanged", true);
  if (subscribe) writer.Field("subscribe", true);
  writer.EndObject();
}

// Extensions came with the modern era.
void WriteCapabilities(JsonWriter& writer, Revision revision, const Identity& identity) {
  writer.Key("capabilities").BeginObject();
  WriteList(writer, "tools", false);
  WriteList(writer, "prompts", false);
  WriteList(writer, "resources", true);
  if (revision >= Revision::k2025_03_26) writer.Key("completions").BeginObject().EndObject();
  writer.Key("logging").BeginObject().EndObject();
  if (IsModern(revision) && identity.tasks) {
    writer.Key("extensions").BeginObject().Key(kTasksExtension).BeginObject().EndObject();
    writer.EndObject();
  }
  writer.EndObject();
}

void WriteInstructions(JsonWriter& writer, const Identity& identity) {
  if (!identity.instructions.empty()) writer.Field("instructions", identity.instructions);
}

void WriteAnnotations(JsonWriter& writer, const Tool& tool) {
  const Annotations& hints = tool.annotations;
  writer.Key("annotations").BeginObject().Field("title", tool.title);
  writer.Field("readOnlyHint", hints.read_only).Field("destructiveHint", hints.destructive);
  writer.Field("idempotentHint", hints.idempotent).Field("openWorldHint", hints.open_world);
  writer.EndObject();
}

// As JSON a byte of output takes six characters at most (\u001b); the rest of the result, links,
// denials and warnings have room for themselves. More than the last the client does not take.
std::uint64_t MaxResultChars(std::uint64_t output_inline) {
  constexpr std::uint64_t kEscaped = 6;
  constexpr std::uint64_t kRest = 16U << 10;
  constexpr std::uint64_t kMost = 500'000;
  return std::min(kMost, kEscaped * output_inline + kRest);
}

void WriteTool(JsonWriter& writer, Revision revision, const Identity& identity, const Tool& tool,
               std::uint64_t max_result_chars) {
  writer.BeginObject().Field("name", tool.name);
  if (HasStructuredContent(revision)) writer.Field("title", tool.title);
  writer.Field("description", tool.description);
  writer.Key("inputSchema");
  tool.input_schema.empty() ? writer.Raw(InputSchema(tool.params)) : writer.Raw(tool.input_schema);
  if (HasStructuredContent(revision) && tool.has_output_schema && !identity.text_only) {
    writer.Key("outputSchema").Raw(OutputSchema(tool.data));
  }
  if (HasAnnotations(revision)) WriteAnnotations(writer, tool);
  if (HasStructuredContent(revision)) {
    writer.Key("_meta").BeginObject();
    writer.Field("anthropic/maxResultSizeChars", max_result_chars).EndObject();
  }
  writer.EndObject();
}

}  // namespace

std::string_view RevisionName(Revision revision) {
  return kRevisionNames[static_cast<std::size_t>(revision)].name;
}

std::optional<Revision> FindRevision(std::string_view name) {
  for (const NamedRevision& known : kRevisionNames) {
    if (known.name == name) return known.revision;
  }
  return std::nullopt;
}

void WriteResultFrame(JsonWriter& writer, Revision revision, const Identity& identity,
                      std::string_view type) {
  if (!IsModern(revision)) return;
  writer.Field("resultType", type);
  WriteMeta(writer, identity);
}

std::string ElicitParams(std::string_view message, Revision revision) {
  JsonWriter writer;
  writer.BeginObject();
  if (revision >= Revision::k2025_11_25) writer.Field("mode", "form");
  writer.Field("message", message).Key("requestedSchema").BeginObject();
  writer.Field("type", "object").Key("properties").BeginObject();
  writer.Key(kApproveField).BeginObject().Field("type", "boolean").Field("title", "Run this call");
  writer.EndObject().EndObject().Key("required").BeginArray().String(kApproveField).EndArray();
  return std::move(writer.EndObject().EndObject()).Take();
}

std::string_view MethodOf(InputKind kind) {
  switch (kind) {
    case InputKind::kElicitation:
      return "elicitation/create";
    case InputKind::kSampling:
      return "sampling/createMessage";
    case InputKind::kRoots:
      return "roots/list";
  }
  return "";
}

void WriteInputRequests(JsonWriter& writer, const InputRequired& required) {
  writer.Key("inputRequests").BeginObject();
  for (const InputRequest& request : required.requests) {
    writer.Key(request.key).BeginObject().Field("method", MethodOf(request.kind));
    writer.Key("params").Raw(request.params).EndObject();
  }
  writer.EndObject();
}

std::string InputRequiredResult(const InputRequired& required, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject();
  WriteResultFrame(writer, kModernRevision, identity, "input_required");
  WriteInputRequests(writer, required);
  writer.Field("requestState", required.state);
  return std::move(writer.EndObject()).Take();
}

std::string LogLine(LogLevel level, std::string_view tool, std::string_view message) {
  JsonWriter params;
  params.BeginObject().Field("level", LogLevelName(level)).Field("logger", kServerName);
  params.Key("data").BeginObject().Field("tool", tool).Field("message", message).EndObject();
  return rpc::NotificationLine("notifications/message", std::move(params.EndObject()).Take());
}

void WriteCacheableFrame(JsonWriter& writer, Revision revision, const Identity& identity) {
  WriteResultFrame(writer, revision, identity);
  if (IsModern(revision)) WriteCacheHint(writer);
}

std::string InitializeResult(Revision revision, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject().Field("protocolVersion", RevisionName(revision));
  WriteCapabilities(writer, revision, identity);
  writer.Key("serverInfo");
  WriteImplementation(writer, revision, identity);
  WriteInstructions(writer, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

std::string DiscoverResult(const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject();
  writer.Key("supportedVersions").BeginArray().String(RevisionName(kModernRevision)).EndArray();
  WriteCapabilities(writer, kModernRevision, identity);
  WriteInstructions(writer, identity);
  writer.Field("resultType", "complete");
  WriteCacheHint(writer);
  writer.Key("_meta").BeginObject().Key(kServerInfoKey);
  WriteImplementation(writer, kModernRevision, identity);
  writer.EndObject().EndObject();
  return std::move(writer).Take();
}

std::string ListToolsResult(Revision revision, const Identity& identity,
                            std::span<const Tool* const> tools, std::uint64_t output_inline) {
  JsonWriter writer;
  writer.BeginObject().Key("tools").BeginArray();
  const std::uint64_t chars = MaxResultChars(output_inline);
  for (const Tool* tool : tools) WriteTool(writer, revision, identity, *tool, chars);
  writer.EndArray();
  WriteCacheableFrame(writer, revision, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

}  // namespace pa
