// Batch: calls of one tool, several at a time.
//
//    Task<ToolResult> task = RunBatch({.tool = "read", .items = {...}}, call);
//
// The data: {total, succeeded, failed, skipped, results: [{index, success, data?, error?,
// result_uri?, warnings?}]}, in the order of the items.
//
// If calls want approvals, they wait until all others have ended, and the user is asked once, about
// all of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_result.h"

namespace pa {

inline constexpr std::size_t kMaxItems = 100;
inline constexpr std::size_t kMaxConcurrency = 10;
inline constexpr std::size_t kMaxRetries = 3;

// The arguments that CheckPipeline has to know.
inline constexpr std::string_view kBatchTool = "tool";
inline constexpr std::string_view kBatchItems = "items";

struct Batch {
  std::string tool;
  std::vector<JsonValue> items;  // the arguments of each call
  std::size_t concurrency = 5;
  bool stops = false;       // at the first failure; what has not begun is skipped
  bool detail = true;       // false: only failures are in `results`
  std::size_t retries = 0;  // after BUSY, which says that nothing ran
};

// `call.starter` makes the calls.
Task<ToolResult> RunBatch(Batch batch, CallContext& call);

}  // namespace pa
