#include "supervisor/call/tool_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/did_you_mean.h"
#include "base/try.h"

namespace pa {
namespace {

constexpr std::string_view kJsonItems = "json";

ToolError NotInResult(std::string_view member, std::string message, std::string advice) {
  return InvalidArgument(fmt::format("argument 'result.{}': {}", member, message),
                         std::move(advice));
}

std::string NamesOf(std::span<const std::string_view> items) {
  std::string names;
  for (const std::string_view name : items) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  return names;
}

const ResultField* FieldOf(const Tool& tool, std::string_view name) {
  const auto found = std::ranges::find(tool.data, name, &ResultField::name);
  return found == tool.data.end() ? nullptr : &*found;
}

bool IsList(FieldKind kind) {
  return kind == FieldKind::kStringArray || kind == FieldKind::kObjectArray;
}

// A text of the data counts as the list of its lines.
bool IsLines(const Tool& tool, std::string_view name) {
  if (name == kJsonItems) return false;
  const ResultField* field = FieldOf(tool, name);
  return field == nullptr || field->kind == FieldKind::kString;
}

std::optional<ToolError> CheckItems(const Tool& tool, const FieldPath& items) {
  const std::string lists = NamesOf(tool.items);
  const std::string advice = fmt::format("The lists of {}: {}.", tool.name, lists);
  const bool named = !items.steps.empty() && items.steps.front().kind == PathStep::Kind::kName;
  if (!named) return NotInResult("items", "expected the name of a list", advice);
  const std::string& name = items.steps.front().name;
  const ResultField* field = FieldOf(tool, name);
  const bool known = std::ranges::find(tool.items, name) != tool.items.end() ||
                     (field != nullptr && IsList(field->kind));
  if (!known) {
    return NotInResult(
        "items", fmt::format("the result has no list '{}'{}", name, DidYouMean(name, tool.items)),
        advice);
  }
  if (name == kJsonItems || items.steps.size() == 1) return std::nullopt;
  return NotInResult("items", fmt::format("'{}' is a list itself", name), advice);
}

// Of lines: a text has neither fields nor what a filter on a field could look at.
std::optional<ToolError> CheckLines(const ResultOrder& order, std::string_view name) {
  if (!order.fields.empty()) {
    return NotInResult("fields", fmt::format("{} is a list of lines, which have no fields", name),
                       "Leave fields out; a filter on lines is `. CONTAINS text`.");
  }
  if (order.filter && !order.filter->path().steps.empty()) {
    return NotInResult(
        "filter", fmt::format("{} is a list of lines, which have no fields", name),
        "A line is the field `.`: write `. CONTAINS text`, `. STARTS_WITH text` or `. = text`.");
  }
  return std::nullopt;
}

}  // namespace

std::optional<ToolError> CheckResultOrder(const Tool& tool, const ResultOrder& order) {
  if (tool.items.empty()) {
    const char* member = order.items             ? "items"
                         : order.filter          ? "filter"
                         : order.limit           ? "limit"
                         : !order.fields.empty() ? "fields"
                                                 : nullptr;
    if (member == nullptr) return std::nullopt;
    return NotInResult(member, fmt::format("the result of {} is no list", tool.name),
                       "Leave it out; return_mode alone applies here.");
  }
  if (order.items) {
    if (auto error = CheckItems(tool, *order.items)) return error;
  }
  const std::string_view name =
      order.items ? std::string_view(order.items->steps.front().name) : tool.items.front();
  if (IsLines(tool, name)) return CheckLines(order, name);
  return std::nullopt;
}

struct ToolRequestMaker {
  static ToolRequest Make(const Tool& tool, Arguments arguments) {
    return ToolRequest(tool, std::move(arguments));
  }
};

std::expected<ToolRequest, ToolError> MakeToolRequest(const Tool& tool,
                                                      const JsonValue* arguments) {
  PA_TRY(auto valid, ValidateArguments(tool.params, arguments));
  const ResultOrder* order = valid.result_order();
  const bool own_data = tool.level == 0 || !tool.items.empty();
  if (order != nullptr && own_data) {  // what the data of others is, they find out
    if (auto error = CheckResultOrder(tool, *order)) return std::unexpected(*std::move(error));
  }
  return ToolRequestMaker::Make(tool, std::move(valid));
}

}  // namespace pa
