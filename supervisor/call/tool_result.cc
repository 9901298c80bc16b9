#include "supervisor/call/tool_result.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/json_writer.h"
#include "supervisor/text/escape_filter.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

void WriteMeta(JsonWriter& writer, const ToolResult& result, std::chrono::microseconds duration) {
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
  writer.BeginObject().Field("duration_ms", static_cast<std::int64_t>(whole.count()));
  if (!result.items.empty()) writer.Key("items").Raw(result.items);
  if (!result.transformations.empty()) {
    writer.Key("transformations").BeginArray();
    for (const std::string& stage : result.transformations) writer.String(stage);
    writer.EndArray();
  }
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

// Errors repeat the argument that they are about, which may have 16 MiB. Its beginning says which
// it is, and the end of the sentence what is wrong with it.
std::string Shortened(std::string text) {
  constexpr std::size_t kHalf = 16U << 10;
  if (text.size() <= 2 * kHalf) return text;
  const std::string_view head = Utf8Head(text, kHalf);
  const std::string_view tail = Utf8Tail(text, kHalf);
  return fmt::format("{} ... {} bytes ... {}", head, text.size() - head.size() - tail.size(), tail);
}

}  // namespace

ToolResult RefusedCall(ToolError error) {
  // It may have a program's own message in it: make's, git's, ripgrep's.
  error.message = WithoutEscapes(Shortened(std::move(error.message)));
  error.ai_message = Shortened(std::move(error.ai_message));
  // Somebody has to change something, and finds there what.
  if (!error.recoverable) {
    error.ai_message += fmt::format("{}The user finds more under {} in docs/troubleshooting.md.",
                                    error.ai_message.empty() ? "" : " ", CodeText(error.code));
  }
  ToolResult result;
  result.text = fmt::format("{}: {}", CodeText(error.code), error.message);
  if (!error.ai_message.empty()) result.text += "\n" + error.ai_message;
  result.error = std::move(error);
  return result;
}

void WriteError(JsonWriter& writer, const ToolError& error) {
  writer.BeginObject().Field("code", CodeText(error.code)).Field("message", error.message);
  writer.Field("ai_message", error.ai_message).Field("recoverable", error.recoverable);
  if (!error.details.empty()) writer.Key("details").Raw(error.details);
  writer.EndObject();
}

void WriteOutcome(JsonWriter& writer, const ToolResult& result,
                  std::chrono::microseconds duration) {
  if (!result.data.empty()) writer.Key("data").Raw(result.data);
  if (result.error) {
    writer.Key("error");
    WriteError(writer, *result.error);
  }
  writer.Key("meta");
  WriteMeta(writer, result, duration);
}

std::string StructuredContent(const ToolResult& result, std::chrono::microseconds duration) {
  JsonWriter writer;
  writer.BeginObject().Field("success", !result.error);
  WriteOutcome(writer, result, duration);
  writer.EndObject();
  return std::move(writer).Take();
}

}  // namespace pa
