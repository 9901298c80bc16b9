#include "supervisor/jobs/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/json_writer.h"
#include "base/try.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/jobs/batch.h"
#include "supervisor/jobs/shell_template.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

// Linux takes 128 KiB for an argument of a program (execve(2)).
constexpr std::size_t kMaxShellValue = 100U << 10;
// Of all arguments of a program and its environment, Linux takes 2 MiB.
constexpr std::size_t kMaxShellValues = 1U << 20;

constexpr std::string_view kValidation = "_validation";

// What a caller wrote, as far as it is repeated.
constexpr std::size_t kMaxName = 100;
constexpr std::size_t kMaxMessage = 1000;
constexpr std::size_t kMaxErrors = 20;

std::string Short(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  return fmt::format("{} ... {}", Utf8Head(text, limit / 2), Utf8Tail(text, limit / 2));
}

// Of the whole pipeline, before it runs.
struct StepError {
  std::string step;  // "" = of the pipeline's own arguments
  TemplateError error;
  std::string advice = {};

  std::string Message() const {
    std::string place = step.empty() ? "" : fmt::format("step '{}': ", step);
    if (!error.argument.empty()) place += fmt::format("{}: ", error.argument);
    return place + error.message;
  }
};

ToolError Invalid(const std::vector<StepError>& errors) {
  JsonWriter details;
  details.BeginObject().Field("step", kValidation).Key("errors").BeginArray();
  for (const StepError& one : std::span(errors).first(std::min(errors.size(), kMaxErrors))) {
    details.BeginObject();
    if (!one.step.empty()) details.Field("step", one.step);
    if (!one.error.argument.empty()) details.Field("argument", one.error.argument);
    details.Field("message", one.error.message).EndObject();
  }
  details.EndArray().EndObject();
  std::string message = errors.front().Message();
  if (errors.size() > 1) message += fmt::format(" (and {} more)", errors.size() - 1);
  std::string advice = "Nothing was run. Correct the steps and call again.";
  if (!errors.front().advice.empty()) advice += " " + errors.front().advice;
  ToolError error = InvalidArgument(std::move(message), std::move(advice));
  error.details = std::move(details).Take();
  return error;
}

const Param* ParamOf(const Tool& tool, std::string_view name) {
  const auto found = std::ranges::find(tool.params, name, &Param::name);
  return found == tool.params.end() ? nullptr : &*found;
}

bool IsProgram(const Tool& tool, std::string_view name) {
  const Param* param = ParamOf(tool, name);
  return param != nullptr && param->is_program;
}

// Whether any string of the value is or has a template. It has passed CheckTemplates.
bool HasTemplate(const JsonValue& value, std::span<const std::string> ids) {
  if (value.IsString()) {
    const auto text = ParseTemplateText(value.AsString(), ids, ids);
    return text && std::ranges::any_of(text->parts, [](const TemplatePart& part) {
             return part.reference.has_value();
           });
  }
  if (value.IsArray()) {
    return std::ranges::any_of(value.Items(),
                               [&](const JsonValue& item) { return HasTemplate(item, ids); });
  }
  return value.IsObject() && std::ranges::any_of(value.Members(), [&](const auto& member) {
           return HasTemplate(member.second, ids);
         });
}

class Checker {
 public:
  Checker(const Pipeline& pipeline, const CallStarter& calls)
      : pipeline_(pipeline), calls_(calls), ids_(pipeline.Ids()) {}

  std::vector<StepError> Check() {
    CheckIds();
    for (std::size_t i = 0; i < pipeline_.steps.size(); ++i) CheckStep(i);
    CheckReturns();
    CheckResult();
    return std::move(errors_);
  }

 private:
  void Add(const std::string& step, const std::string& argument, const std::string& message,
           const std::string& advice = {}) {
    errors_.push_back({Short(step, kMaxName),
                       {Short(argument, kMaxName), Short(message, kMaxMessage)},
                       Short(advice, kMaxMessage)});
  }

  void CheckIds() {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const std::string place = fmt::format("steps[{}].id", i);
      if (!IsStepId(ids_[i]) || ids_[i] == kValidation) {
        Add("", place,
            "expected a name of letters, digits, _ and -, a letter or _ first, 64 at most");
      } else if (!seen.insert(ids_[i]).second) {
        Add("", place, fmt::format("there are two steps '{}'", ids_[i]));
      }
    }
  }

  void CheckStep(std::size_t index) {
    const PipelineStep& step = pipeline_.steps[index];
    if (auto error = calls_.WhyNot(step.tool)) {
      return Add(step.id, "tool", error->message, error->ai_message);
    }
    const Tool& tool = *calls_.Find(step.tool);
    const auto earlier = std::span(ids_).first(index);
    const std::size_t before = errors_.size();
    std::set<std::string, std::less<>> later;
    if (!step.args.IsNull()) {
      for (const auto& [name, value] : step.args.Members()) {
        CheckArgument(step, tool, name, value, earlier);
        if (HasTemplate(value, ids_)) later.insert(name);
      }
      if (!step.result.IsNull() && step.args.Find("result") != nullptr) {
        Add(step.id, "result", "it stands in args, too");
      }
    }
    if (tool.level > 0) CheckBatch(step);
    if (HasTemplate(step.result, ids_)) Add(step.id, "result", "templates stand in args alone");
    if (errors_.size() > before) return;
    if (auto error = calls_.CheckArguments(tool, step.Arguments(), later)) {
      Add(step.id, "", error->message, error->ai_message);
    }
  }

  // A batch would write a value into a program, or let it choose the tool.
  void CheckBatch(const PipelineStep& step) {
    const JsonValue* name = step.args.Find(kBatchTool);
    if (name == nullptr || !name->IsString()) return;
    if (HasTemplate(*name, ids_)) {
      return Add(step.id, std::string(kBatchTool), "a template cannot be the name of a tool");
    }
    if (auto error = calls_.WhyNot(name->AsString())) {
      return Add(step.id, std::string(kBatchTool), error->message, error->ai_message);
    }
    const auto& params = calls_.Find(name->AsString())->params;
    const auto program = std::ranges::find(params, true, &Param::is_program);
    const JsonValue* items = step.args.Find(kBatchItems);
    if (program == params.end() || items == nullptr) return;
    const auto has_program = [&](const JsonValue& item) {
      const JsonValue* text = item.Find(program->name);
      return text != nullptr && HasTemplate(*text, ids_);
    };
    if (items->IsArray() && std::ranges::none_of(items->Items(), has_program)) return;
    Add(step.id, std::string(kBatchItems),
        fmt::format("in a batch a template cannot be in {} of {}, which is a program; pass values "
                    "as stdin, or make the calls steps",
                    program->name, name->AsString()));
  }

  void CheckArgument(const PipelineStep& step, const Tool& tool, const std::string& name,
                     const JsonValue& value, std::span<const std::string> earlier) {
    if (IsProgram(tool, name) && value.IsString()) {
      const auto shell = ParseShellTemplate(value.AsString(), earlier, ids_);
      if (!shell) Add(step.id, name, shell.error().message);
      return;
    }
    const JsonValue argument = JsonValue::Object({{name, value}});
    for (const TemplateError& error : CheckTemplates(argument, earlier, ids_)) {
      Add(step.id, error.argument, error.message);
    }
  }

  void CheckReturns() {
    if (!pipeline_.returns) return;
    for (const TemplateError& error : CheckTemplates(*pipeline_.returns, ids_, ids_)) {
      Add("", "return." + error.argument, error.message);
    }
  }

  // The data is the last step's, or what `return` says.
  void CheckResult() {
    if (!pipeline_.result) return;
    const ResultOrder& order = *pipeline_.result;
    if (!pipeline_.returns) {
      const Tool* last = calls_.Find(pipeline_.steps.back().tool);
      if (last == nullptr) return;
      const auto error = CheckResultOrder(*last, order);
      if (error) Add("", "", error->message, error->ai_message);
      return;
    }
    const bool named = order.items && !order.items->steps.empty() &&
                       pipeline_.returns->Find(order.items->steps.front().name) != nullptr;
    const bool needs = order.items || order.filter || order.limit || !order.fields.empty();
    if (needs && !named) Add("", "result.items", "expected a member of return");
  }

  const Pipeline& pipeline_;
  const CallStarter& calls_;
  std::vector<std::string> ids_;
  std::vector<StepError> errors_;
};

std::string TextOf(const JsonValue& value) {
  return value.IsString() ? value.AsString() : value.Dump();
}

// The command as people see it, and the program that bash executes.
struct PreparedCommand {
  std::string shown;
  ShellProgram shell;
};

std::expected<PreparedCommand, TemplateError> PrepareCommand(const std::string& name,
                                                             const std::string& command,
                                                             std::span<const std::string> earlier,
                                                             std::span<const std::string> all,
                                                             const ValueOf& value_of) {
  const auto wrong = [&](std::string message) {
    return std::unexpected(TemplateError{name, std::move(message)});
  };
  const auto parsed = ParseShellTemplate(command, earlier, all);
  if (!parsed) return wrong(parsed.error().message);
  PreparedCommand prepared;
  std::size_t size = 0;
  for (const StepReference& reference : parsed->references) {
    const auto value = value_of(reference);
    if (!value) {
      return std::unexpected(TemplateError{name, value.error(), reference.Print()});
    }
    std::string text = TextOf(*value);
    if (text.find('\0') != std::string::npos) {
      return wrong(
          fmt::format("{} has a NUL character, which no argument of a program can have; "
                      "pass it as stdin",
                      reference.Print()));
    }
    size += text.size();
    if (text.size() > kMaxShellValue || size > kMaxShellValues) {
      return wrong(
          fmt::format("{} is too long for an argument of a program ({} bytes, {} at "
                      "most, {} together); pass it as stdin",
                      reference.Print(), text.size(), kMaxShellValue, kMaxShellValues));
    }
    prepared.shell.values.push_back(std::move(text));
  }
  if (parsed->program.size() > static_cast<std::size_t>(kMaxArgument)) {
    return wrong(
        "with its templates it is too long for an argument of a program; pass values as "
        "stdin");
  }
  prepared.shell.program = parsed->program;
  prepared.shown = parsed->Shown(prepared.shell.values);
  return prepared;
}

// An argument that was one template and is an empty list now.
bool CameOutEmpty(const Tool& tool, std::string_view name, const JsonValue& written,
                  const JsonValue& filled) {
  const Param* param = ParamOf(tool, name);
  const bool array = param != nullptr && (param->kind == ParamKind::kStringArray ||
                                          param->kind == ParamKind::kObjectArray);
  return array && written.IsString() && filled.IsArray() && filled.Items().empty();
}

}  // namespace

JsonValue PipelineStep::Arguments() const {
  std::vector<JsonValue::Member> members;
  if (!args.IsNull()) members = args.Members();
  if (!result.IsNull()) members.emplace_back("result", result);
  return JsonValue::Object(std::move(members));
}

std::vector<std::string> Pipeline::Ids() const {
  std::vector<std::string> ids;
  for (const PipelineStep& step : steps) ids.push_back(step.id);
  return ids;
}

// What is allowed comes before what is right, as for any call.
std::optional<ToolError> CheckPipeline(const Pipeline& pipeline, const CallStarter& calls) {
  for (const PipelineStep& step : pipeline.steps) {
    auto error = calls.WhyNot(step.tool);
    if (!error || error->code == ErrorCode::kInvalidArgument) continue;
    const std::string id = Short(step.id, kMaxName);
    error->message = fmt::format("step '{}': {}", id, error->message);
    JsonWriter details;
    details.BeginObject().Field("step", id).EndObject();
    error->details = std::move(details).Take();
    return error;
  }
  const std::vector<StepError> errors = Checker(pipeline, calls).Check();
  if (errors.empty()) return std::nullopt;
  return Invalid(errors);
}

std::expected<PreparedStep, TemplateError> PrepareStep(const PipelineStep& step, const Tool& tool,
                                                       std::span<const std::string> earlier,
                                                       std::span<const std::string> all,
                                                       const ValueOf& value_of) {
  PreparedStep prepared;
  std::vector<JsonValue::Member> members;
  const JsonValue arguments = step.Arguments();
  for (const auto& [name, value] : arguments.Members()) {
    if (IsProgram(tool, name) && value.IsString()) {
      PA_TRY(auto command, PrepareCommand(name, value.AsString(), earlier, all, value_of));
      members.emplace_back(name, JsonValue::String(std::move(command.shown)));
      if (!command.shell.values.empty()) prepared.shell = std::move(command.shell);
      continue;
    }
    PA_TRY(const JsonValue filled,
           FillTemplates(JsonValue::Object({{name, value}}), earlier, all, value_of));
    members.push_back(filled.Members().front());
    if (CameOutEmpty(tool, name, value, members.back().second)) prepared.empty = name;
  }
  prepared.arguments = JsonValue::Object(std::move(members));
  return prepared;
}

}  // namespace pa
