#include "supervisor/tool_output.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "supervisor/text_cut.h"

namespace pa {
namespace {

void WriteError(JsonWriter& writer, const ToolError& error) {
  writer.BeginObject().Field("code", error.code).Field("message", error.message);
  writer.Field("ai_message", error.ai_message).Field("recoverable", error.recoverable);
  if (!error.details.empty()) writer.Key("details").Raw(error.details);
  writer.EndObject();
}

void WriteMeta(JsonWriter& writer, const ToolResult& result, std::chrono::microseconds duration) {
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
  writer.BeginObject().Field("duration_ms", static_cast<std::int64_t>(whole.count()));
  if (result.truncated) writer.Field("truncated", true);
  if (!result.result_uri.empty()) writer.Field("result_uri", result.result_uri);
  if (!result.warnings.empty()) {
    writer.Key("warnings").BeginArray();
    for (const std::string& warning : result.warnings) writer.String(warning);
    writer.EndArray();
  }
  if (!result.decision.empty()) writer.Field("decision", result.decision);
  if (!result.audit_id.empty()) writer.Field("audit_id", result.audit_id);
  writer.EndObject();
}

void WriteLink(JsonWriter& writer, const ResourceLink& link) {
  writer.BeginObject()
      .Field("type", "resource_link")
      .Field("uri", link.uri)
      .Field("name", link.name);
  if (!link.title.empty()) writer.Field("title", link.title);
  if (!link.mime_type.empty()) writer.Field("mimeType", link.mime_type);
  writer.Field("size", link.size).EndObject();
}

void WriteText(JsonWriter& writer, std::string_view text) {
  writer.BeginObject().Field("type", "text").Field("text", text).EndObject();
}

void WriteImage(JsonWriter& writer, const Image& image) {
  writer.BeginObject().Field("type", "image").Field("data", image.base64);
  writer.Field("mimeType", image.mime_type).EndObject();
}

// The links as a sentence each, for revisions that know no resource_link.
std::string TextWithLinks(const ToolResult& result) {
  std::string text = result.text;
  for (const ResourceLink& link : result.links) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += link.name + " (" + std::to_string(link.size) + " bytes): resource " + link.uri;
  }
  return text;
}

void WriteContent(JsonWriter& writer, const ToolResult& result, Revision revision) {
  writer.Key("content").BeginArray();
  if (HasStructuredContent(revision)) {
    WriteText(writer, result.text);
    for (const ResourceLink& link : result.links) WriteLink(writer, link);
  } else {
    WriteText(writer, TextWithLinks(result));
  }
  for (const Image& image : result.images) WriteImage(writer, image);
  writer.EndArray();
}

// Errors repeat the argument that they are about, which may have 16 MiB. Its beginning says which it is, and the end of the
// sentence what is wrong with it.
std::string Shortened(std::string text) {
  constexpr std::size_t kHalf = 16U << 10;
  if (text.size() <= 2 * kHalf) return text;
  const std::string_view head = Utf8Head(text, kHalf);
  const std::string_view tail = Utf8Tail(text, kHalf);
  return fmt::format("{} ... {} bytes ... {}", head, text.size() - head.size() - tail.size(), tail);
}

// Written out, because it is the contract: what each tool adds stands between the two halves.
constexpr std::string_view kOutputSchemaHead =
    R"({"type":"object","properties":{"success":{"type":"boolean"},"data":)";
constexpr std::string_view kOutputSchemaTail =
    R"(,"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},)"
    R"("ai_message":{"type":"string","description":"what to do next"},"recoverable":{"type":"boolean"},)"
    R"("details":{"type":"object"}},"required":["code","message","ai_message","recoverable"]},)"
    R"("meta":{"type":"object","properties":{"duration_ms":{"type":"integer","minimum":0},)"
    R"("truncated":{"type":"boolean"},"result_uri":{"type":"string"},)"
    R"("warnings":{"type":"array","items":{"type":"string"}},"decision":{"type":"string"},)"
    R"("audit_id":{"type":"string"}},)"
    R"("required":["duration_ms"]}},"required":["success","meta"]})";

}  // namespace

std::string StructuredContent(const ToolResult& result, std::chrono::microseconds duration) {
  JsonWriter writer;
  writer.BeginObject().Field("success", !result.error);
  if (!result.data.empty()) writer.Key("data").Raw(result.data);
  if (result.error) {
    writer.Key("error");
    WriteError(writer, *result.error);
  }
  writer.Key("meta");
  WriteMeta(writer, result, duration);
  writer.EndObject();
  return std::move(writer).Take();
}

std::string CallToolResult(const ToolResult& result, std::chrono::microseconds duration,
                           Revision revision, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject();
  WriteContent(writer, result, revision);
  if (HasStructuredContent(revision)) {
    writer.Key("structuredContent").Raw(StructuredContent(result, duration));
  }
  writer.Field("isError", result.error.has_value());
  WriteResultFrame(writer, revision, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

std::string OutputSchema(const Tool& tool) {
  const std::string_view data =
      tool.data_schema.empty() ? R"({"type":"object"})" : tool.data_schema;
  std::string schema(kOutputSchemaHead);
  return schema.append(data).append(kOutputSchemaTail);
}

ToolResult RefusedCall(ToolError error) {
  error.message = Shortened(std::move(error.message));
  error.ai_message = Shortened(std::move(error.ai_message));
  ToolResult result;
  result.text = error.code + ": " + error.message;
  if (!error.ai_message.empty()) result.text += "\n" + error.ai_message;
  result.error = std::move(error);
  return result;
}

}  // namespace pa
