// ApplyResult: applies the argument `result` of a call to what its tool returned: filter, limit,
// fields and return mode, on one list or text of the data, in place.
//
//    std::optional<ResultOrder> order = ResultOrderOf(request);      // nothing: none was asked for
//    Task<ToolResult> task = ApplyResult(services, tool, *order, std::move(result), call);
//
// It applies to failed calls with data, too, and not to a dry run. A call is not made to fail by
// it: what cannot be done afterwards is a warning, and the data stays as it is.
#pragma once

#include <optional>

#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/engine/services.h"
#include "supervisor/results/result_order.h"

namespace pa {

std::optional<ResultOrder> ResultOrderOf(const ToolRequest& request);

Task<ToolResult> ApplyResult(const Services& services, const Tool& tool, ResultOrder order,
                             ToolResult result, CallContext& call);

}  // namespace pa
