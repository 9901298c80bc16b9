#include "supervisor/mcp/protocol.h"

#include <algorithm>

#include "base/base64.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "supervisor/call/arguments.h"
#include "supervisor/call/tool_result.h"

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

void WriteImplementation(JsonWriter& writer, const Identity& identity) {
  writer.BeginObject().Field("name", kServerName).Field("version", identity.version).EndObject();
}

void WriteMeta(JsonWriter& writer, const Identity& identity) {
  writer.Key("_meta").BeginObject().Key("io.modelcontextprotocol/serverInfo");
  WriteImplementation(writer, identity);
  writer.EndObject();
}

// Extensions came with the modern era.
void WriteCapabilities(JsonWriter& writer, Revision revision, const Identity& identity) {
  writer.Key("capabilities").BeginObject();
  writer.Key("tools").BeginObject().Field("listChanged", true).EndObject();
  writer.Key("resources").BeginObject().Field("listChanged", true).EndObject();
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
  writer.Key("inputSchema").Raw(InputSchema(tool.params));
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

// How much of the end of `bytes` is the beginning of a character that was cut off; 0 to 3.
std::size_t CutCharacter(std::string_view bytes) {
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const std::string_view tail = bytes.substr(bytes.size() - back);
    const auto lead = static_cast<unsigned char>(tail[0]);
    if (lead >= 0x80 && lead < 0xc0) continue;
    const bool leads = lead >= 0xc2 && lead <= 0xf4;
    std::size_t invalid = 0;
    return leads && Utf8SequenceLength(tail, &invalid) == 0 && invalid == back ? back : 0;
  }
  return 0;
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

void WriteInputRequests(JsonWriter& writer, const InputRequest& request) {
  writer.Key("inputRequests").BeginObject().Key(request.key).BeginObject();
  writer.Field("method", "elicitation/create").Key("params").Raw(request.params);
  writer.EndObject().EndObject();
}

std::string InputRequiredResult(const InputRequest& request, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject();
  WriteResultFrame(writer, kModernRevision, identity, "input_required");
  WriteInputRequests(writer, request);
  writer.Field("requestState", request.state);
  return std::move(writer.EndObject()).Take();
}

void WriteCacheableFrame(JsonWriter& writer, Revision revision, const Identity& identity) {
  WriteResultFrame(writer, revision, identity);
  if (IsModern(revision)) writer.Field("ttlMs", 0).Field("cacheScope", "private");
}

std::string InitializeResult(Revision revision, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject().Field("protocolVersion", RevisionName(revision));
  WriteCapabilities(writer, revision, identity);
  writer.Key("serverInfo");
  WriteImplementation(writer, identity);
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
  WriteCacheableFrame(writer, kModernRevision, identity);
  writer.EndObject();
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

std::string ListResourcesResult(Revision revision, const Identity& identity,
                                const std::vector<ResultStore::Entry>& entries) {
  JsonWriter writer;
  writer.BeginObject().Key("resources").BeginArray();
  for (const ResultStore::Entry& entry : entries) {
    writer.BeginObject().Field("uri", entry.uri).Field("name", entry.name);
    writer.Field("mimeType", "text/plain").Field("size", entry.size).EndObject();
  }
  writer.EndArray();
  WriteCacheableFrame(writer, revision, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

std::string ListResourceTemplatesResult(Revision revision, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject().Key("resourceTemplates").BeginArray().BeginObject();
  writer.Field("uriTemplate", std::string(kResultUriPrefix) + "{id}{?offset,lines}");
  writer.Field("name", "Output of a command");
  writer.Field(
      "description",
      "All that a shortened result has left out, at most 1 MiB: from the byte at offset, or the "
      "lines 100-200, 100 (to the end) or -50 (the last 50); _meta project-actions/nextUri of the "
      "contents says where it goes on.");
  writer.Field("mimeType", "text/plain").EndObject().EndArray();
  WriteCacheableFrame(writer, revision, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

std::string ReadResourceResult(Revision revision, const Identity& identity, std::string_view uri,
                               const ResultChunk& chunk) {
  // A character that the end of the chunk cuts in two belongs to the next one.
  const std::size_t cut = chunk.next_uri ? CutCharacter(chunk.bytes) : 0;
  const auto bytes = std::string_view(chunk.bytes).substr(0, chunk.bytes.size() - cut);
  JsonWriter writer;
  writer.BeginObject().Key("contents").BeginArray().BeginObject().Field("uri", uri);
  if (IsValidUtf8(bytes)) {
    writer.Field("mimeType", "text/plain").Field("text", bytes);
  } else {
    writer.Field("mimeType", "application/octet-stream").Field("blob", ToBase64(bytes));
  }
  if (chunk.next_uri) {
    const std::string next = cut == 0
                                 ? *chunk.next_uri
                                 : std::string(uri.substr(0, uri.find('?'))) +
                                       "?offset=" + std::to_string(chunk.offset + bytes.size());
    writer.Key("_meta").BeginObject().Field("project-actions/nextUri", next);
    writer.Field("project-actions/size", chunk.total).EndObject();
  }
  writer.EndObject().EndArray();
  WriteCacheableFrame(writer, revision, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

}  // namespace pa
