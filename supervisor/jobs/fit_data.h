// FitData: the data of a call of calls, short enough for a result. Long texts are cut to their
// beginning and their end, long lists to their beginning; everything keeps its type.
//
//    const FittedData fitted = FitData(*data, {.all = 24 << 10, .text = 4 << 10}, uri);
//    FitResult(result, call, 4 << 10);      // the same, and keeps all of it as a result
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_result.h"

namespace pa {

struct FitLimits {
  std::size_t all;   // bytes of the whole as JSON
  std::size_t text;  // bytes of one string
};

struct FittedData {
  std::string json;
  bool cut = false;
};

// A text of at most about `most` bytes: its beginning and its end, and what is left out between
// them.
std::string CutText(std::string_view text, std::size_t most, std::string_view uri);

// `uri`: of all of it; a text that is cut names it. "" = it is not kept.
FittedData FitData(const JsonValue& data, const FitLimits& limits, std::string_view uri);

// Cuts the data of `result` if it is longer than limits.output_inline or has a string longer than
// `text`, and keeps all of it as the result `name`.
void FitResult(ToolResult& result, CallContext& call, std::size_t text, const std::string& name);

}  // namespace pa
