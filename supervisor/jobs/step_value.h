// StepValue: what a template (template_text.h) stands for: a value in the result of a step that has
// run.
//
//    std::expected<JsonValue, std::string> value = StepValue(reference, step, results);
//
// A text or list that the result shows in part is read as a whole from the result store. It fails
// if it is no longer there or longer than kMaxValue, or if the list is a page of more: a part that
// is taken for the whole is no value.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

#include "base/json.h"
#include "supervisor/call/tool.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/jobs/template_text.h"
#include "supervisor/results/result_store.h"

namespace pa {

inline constexpr std::size_t kMaxValue = 4U << 20;

// A step that has run.
struct FinishedStep {
  const Tool* tool;
  std::string items;  // the list that its `result` names; "" = the tool's own
  ToolResult result;
  bool page = false;  // the tool decided how much of its list it returned
};

// The error is a sentence that names the template.
std::expected<JsonValue, std::string> StepValue(const StepReference& reference,
                                                const FinishedStep& step, ResultStore& results);

}  // namespace pa
