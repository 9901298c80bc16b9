#include "supervisor/call/tool.h"

namespace pa {
namespace {

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

struct ToolRequestMaker {
  static ToolRequest Make(const Tool& tool, Arguments arguments) {
    return ToolRequest(tool, std::move(arguments));
  }
};

std::expected<ToolRequest, ToolError> MakeToolRequest(const Tool& tool,
                                                      const JsonValue* arguments) {
  auto valid = ValidateArguments(tool.params, arguments);
  if (!valid) return std::unexpected(std::move(valid.error()));
  return ToolRequestMaker::Make(tool, std::move(*valid));
}

std::string OutputSchema(const Tool& tool) {
  const std::string_view data =
      tool.data_schema.empty() ? R"({"type":"object"})" : tool.data_schema;
  std::string schema(kOutputSchemaHead);
  return schema.append(data).append(kOutputSchemaTail);
}

std::string ToolNames(std::span<const Tool* const> tools) {
  std::string names;
  for (const Tool* tool : tools) names.append(names.empty() ? "" : ", ").append(tool->name);
  return names;
}

}  // namespace pa
