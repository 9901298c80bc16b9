#include "supervisor/tool.h"

namespace pa {

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

std::string ToolNames(std::span<const Tool* const> tools) {
  std::string names;
  for (const Tool* tool : tools) names.append(names.empty() ? "" : ", ").append(tool->name);
  return names;
}

}  // namespace pa
