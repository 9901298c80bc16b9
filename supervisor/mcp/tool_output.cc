#include "supervisor/mcp/tool_output.h"

#include "base/json_writer.h"

namespace pa {
namespace {

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
  writer.Key("content");
  if (!result.content.empty()) {
    writer.Raw(result.content);
    return;
  }
  writer.BeginArray();
  if (HasStructuredContent(revision)) {
    WriteText(writer, result.text);
    for (const ResourceLink& link : result.links) WriteLink(writer, link);
  } else {
    WriteText(writer, TextWithLinks(result));
  }
  for (const Image& image : result.images) WriteImage(writer, image);
  writer.EndArray();
}

}  // namespace

std::string CallToolResult(const ToolResult& result, std::chrono::microseconds duration,
                           Revision revision, const Identity& identity) {
  JsonWriter writer;
  writer.BeginObject();
  WriteContent(writer, result, revision);
  // Clients that show the model structuredContent (Claude Code, Codex) show it nothing of what
  // stands beside: neither text nor image. The text of an image says what the structure would.
  if (HasStructuredContent(revision) && !identity.text_only && result.images.empty()) {
    writer.Key("structuredContent").Raw(StructuredContent(result, duration));
  }
  writer.Field("isError", result.error.has_value());
  WriteResultFrame(writer, revision, identity);
  writer.EndObject();
  return std::move(writer).Take();
}

}  // namespace pa
