// FillTemplates, CheckTemplates: the templates (template_text.h) in the arguments of a pipeline's
// step.
//
//    std::vector<TemplateError> wrong = CheckTemplates(step.args, earlier, all);  // before it runs
//    auto args = FillTemplates(step.args, earlier, all, value_of);
//
// Templates stand in string values, at any depth; never in the keys of objects. A string that is
// one template becomes the value that it names, of whatever type. In a longer string, strings stand
// as they are and everything else as JSON. Values are never looked through for templates again.
#pragma once

#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "supervisor/jobs/template_text.h"

namespace pa {

struct TemplateError {
  std::string argument;  // `paths[2]`, `edits[0].path`
  std::string message;
  std::string path = {};  // the template whose value is missing
};

// What a reference stands for; an error says what is missing.
using ValueOf = std::function<std::expected<JsonValue, std::string>(const StepReference&)>;

std::vector<TemplateError> CheckTemplates(const JsonValue& arguments,
                                          std::span<const std::string> earlier,
                                          std::span<const std::string> all);

// The arguments must have passed CheckTemplates.
std::expected<JsonValue, TemplateError> FillTemplates(const JsonValue& arguments,
                                                      std::span<const std::string> earlier,
                                                      std::span<const std::string> all,
                                                      const ValueOf& value_of);

// The value that `path`, the end of that of `reference`, names in `base`. [*] gives a list of all
// that it names.
std::expected<JsonValue, std::string> LookUp(const StepReference& reference, const JsonValue& base,
                                             std::span<const PathStep> path);

}  // namespace pa
