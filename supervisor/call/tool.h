// Tool: one thing that a client can call, as a constant: names, schemas and the coroutine that runs
// it.
//
// To add a tool: write supervisor/tools/NAME.{h,cc} with a `const Tool kName` and NAME_test.cc, add
// its line to registry.cc, its name to meson.build, its rows to README and docs/tools.md
// (CONTRIBUTING.md, "a tool"). Tools do not register themselves.
#pragma once

#include <optional>
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
  // What the argument `result` applies to: lists of the data, texts that count as lists of their
  // lines, and `json`, a command's stdout read as JSON. The first that the data has is the default.
  // Empty: the data is one thing.
  std::span<const std::string_view> items = {};
  Task<ToolResult> (*run)(ToolRequest request, CallContext& call);
  // Decides with which calls it waits to begin; nothing: it runs no command itself, holds nothing
  // open, and does not wait.
  std::optional<policy::Purpose> purpose = policy::Purpose::kBuild;
  // Above 0 it calls tools of lower levels (call_starter.h). If it has no `items`, its data is what
  // the caller asks for, and it checks `result` itself.
  int level = 0;
  // A client may refuse a result without structuredContent from a tool with an outputSchema
  // (MCP 2025-06-18, "Output Schema"); false for a tool whose results may lack it.
  bool has_output_schema = true;
  // It asks its client for more than approvals (client_input.h).
  bool asks_client = false;
  // JSON; in place of what `params` print. "": that.
  std::string_view input_schema = {};
};

// `make_targets, make, ...`, for the answer to the name of an unknown tool.
std::string ToolNames(std::span<const Tool* const> tools);

}  // namespace pa
