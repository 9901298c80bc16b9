// StepValue: what a template (template_text.h) stands for: a value in the result of a step that has
// run.
//
//    StepData data(step, results);             // both outlive it
//    std::expected<JsonValue, std::string> value = data.Value(reference);
//
// What is read or parsed for one template is kept for the next.
//
// A text or list that the result shows in part is read as a whole from the result store. It fails
// if it is no longer there or longer than kMaxValue, or if the list is a page of more: a part that
// is taken for the whole is no value.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <optional>
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

class StepData {
 public:
  StepData(const FinishedStep& step, ResultStore& results);
  // The error is a sentence that names the template.
  std::expected<JsonValue, std::string> Value(const StepReference& reference);

 private:
  using Whole = std::expected<JsonValue, std::string>;
  const Whole& Member(const std::string& name);
  const Whole& Items();
  Whole All();

  const FinishedStep& step_;
  ResultStore& results_;
  Whole data_;         // as the step returned it
  std::string items_;  // the list that an index directly after the id is about; "" = there is none
  std::map<std::string, Whole, std::less<>> members_;  // of which the data has a part, as a whole
  std::optional<Whole> rows_;                          // the list `items_`; of a text its lines
};

}  // namespace pa
