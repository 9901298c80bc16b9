#include "supervisor/call/tool_request.h"

#include "base/try.h"

namespace pa {

struct ToolRequestMaker {
  static ToolRequest Make(const Tool& tool, Arguments arguments) {
    return ToolRequest(tool, std::move(arguments));
  }
};

std::expected<ToolRequest, ToolError> MakeToolRequest(const Tool& tool,
                                                      const JsonValue* arguments) {
  PA_TRY(auto valid, ValidateArguments(tool.params, arguments));
  return ToolRequestMaker::Make(tool, std::move(valid));
}

}  // namespace pa
