#include "supervisor/call/tool_request.h"

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

}  // namespace pa
