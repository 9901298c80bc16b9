// Tool: one thing that a client can call. One file a tool in supervisor/tools/, one line in
// supervisor/tools/registry.cc, nothing else.
//
// To add a tool: write supervisor/tools/NAME.{h,cc} with a `const Tool kName`, add its line to
// registry.cc, its tests to tests/..., its rows to README and docs/tools.md. Nothing registers
// itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "policy/purpose.h"
#include "supervisor/call/param.h"
#include "supervisor/call/result_schema.h"

namespace pa {

class ToolRequest;
struct CallContext;
struct ToolResult;
template <typename T>
class Task;

struct Annotations {
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  Annotations annotations;
  std::span<const Param> params;
  std::span<const ResultField> data;  // of the result; prints outputSchema
  Task<ToolResult> (*run)(ToolRequest request, CallContext& call);
  policy::Purpose purpose = policy::Purpose::kBuild;  // says with which calls it waits to begin
};

// `make_targets, make, ...`: what an unknown tool is answered with.
std::string ToolNames(std::span<const Tool* const> tools);

}  // namespace pa
