#include "supervisor/call/tool.h"

namespace pa {
std::string ToolNames(std::span<const Tool* const> tools) {
  std::string names;
  for (const Tool* tool : tools) names.append(names.empty() ? "" : ", ").append(tool->name);
  return names;
}

}  // namespace pa
