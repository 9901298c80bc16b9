#include "supervisor/results/result_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/did_you_mean.h"
#include "base/try.h"
#include "base/utf8.h"

namespace pa {
namespace {

constexpr std::string_view kShape =
    "result is {items?: string, filter?: \"field OPERATOR value\", limit?: integer, fields?: "
    "string[], return_mode?: \"inline\" | \"summary\" | \"file\"}.";

// What other programs call the same thing.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"project", "fields"},       {"projection", "fields"}, {"select", "fields"},
    {"select_fields", "fields"}, {"columns", "fields"},    {"mode", "return_mode"},
    {"output", "return_mode"},   {"where", "filter"},      {"max_results", "limit"},
    {"head", "limit"},           {"path", "items"},        {"list", "items"}};

constexpr std::string_view kFilterForm =
    "A filter is `field OPERATOR value`: = != > < >= <= CONTAINS STARTS_WITH IS_NULL IS_NOT_NULL; "
    "a line of text is the field `.`; quote a value to take it as text.";
constexpr std::string_view kPathForm =
    R"(A path is a.b, a[0], a[*].b or ["a.b"]; `.` is the whole.)";

constexpr std::size_t kMaxFields = 100;  // each is looked for in each row

using Unread = std::unexpected<ResultProblem>;

Unread Wrong(std::string_view member, std::string message, std::string_view advice = kShape) {
  const std::string name =
      member.empty() ? "result" : fmt::format("result.{}", Utf8Prefix(member, 40));
  return Unread(ResultProblem{name, std::move(message), std::string(advice)});
}

Unread WrongKind(std::string_view member, std::string_view expected, const JsonValue& came) {
  return Wrong(member, fmt::format("expected {}, got {}", expected, came.KindName()));
}

Unread WrongText(std::string_view member, const QueryError& error, std::string_view form) {
  return Wrong(member, error.Message(), fmt::format("{}\n{}", error.caret, form));
}

std::expected<void, ResultProblem> CheckResultMembers(const JsonValue& result) {
  for (const auto& [name, value] : result.Members()) {
    if (std::ranges::find(kResultMembers, name) != std::end(kResultMembers)) continue;
    const auto* other = std::ranges::find(kOtherNames, std::string_view(name),
                                          [](const auto& row) { return row.first; });
    const std::string hint = other != std::end(kOtherNames)
                                 ? fmt::format(" - did you mean '{}'?", other->second)
                                 : DidYouMean(name, kResultMembers);
    return Wrong(name, "there is no such member" + hint);
  }
  return {};
}

std::expected<FieldPath, ResultProblem> ReadPath(std::string_view member, const JsonValue& value) {
  if (!value.IsString()) return WrongKind(member, "a string", value);
  auto path = ParseFieldPath(value.AsString());
  if (!path) return WrongText(member, path.error(), kPathForm);
  return *std::move(path);
}

std::expected<Filter, ResultProblem> ReadFilter(const JsonValue& value) {
  if (!value.IsString()) return WrongKind("filter", "a string", value);
  auto filter = ParseFilter(value.AsString());
  if (!filter) return WrongText("filter", filter.error(), kFilterForm);
  return *std::move(filter);
}

// `2.9` is 2 and `-3` is 0, also as strings.
std::expected<std::uint64_t, ResultProblem> ReadLimit(const JsonValue& value) {
  const std::string& token = value.IsString()   ? value.AsString()
                             : value.IsNumber() ? value.NumberToken()
                                                : std::string();
  const auto number = ParseJsonNumber(token);
  if (!number) return WrongKind("limit", "a number", value);
  constexpr double kMost = 1e15;  // more than there are rows anywhere
  const double limit = std::visit([](auto n) { return static_cast<double>(n); }, *number);
  return limit >= 1 ? static_cast<std::uint64_t>(std::floor(std::min(limit, kMost))) : 0;
}

std::expected<std::vector<FieldPath>, ResultProblem> ReadFields(const JsonValue& value) {
  if (value.IsString()) {  // one, without its brackets
    PA_TRY(FieldPath path, ReadPath("fields", value));
    return std::vector{std::move(path)};
  }
  if (!value.IsArray()) return WrongKind("fields", "an array of strings", value);
  if (value.Items().empty()) {
    return Wrong("fields", "the array is empty: leave it out to get all fields");
  }
  if (value.Items().size() > kMaxFields) {
    return Wrong("fields",
                 fmt::format("{} fields; at most {} are taken", value.Items().size(), kMaxFields));
  }
  std::vector<FieldPath> paths;
  for (const JsonValue& item : value.Items()) {
    PA_TRY(FieldPath path, ReadPath(fmt::format("fields[{}]", paths.size()), item));
    paths.push_back(std::move(path));
  }
  return paths;
}

std::expected<ReturnMode, ResultProblem> ReadMode(const JsonValue& value) {
  if (!value.IsString()) return WrongKind("return_mode", "a string", value);
  const std::string& name = value.AsString();
  if (name == "full") return ReturnMode::kInline;
  const auto* found = std::ranges::find(kReturnModes, name);
  if (found == std::end(kReturnModes)) {
    return Wrong("return_mode", fmt::format("expected 'inline', 'summary' or 'file', got '{}'{}",
                                            Utf8Prefix(name, 40), DidYouMean(name, kReturnModes)));
  }
  return static_cast<ReturnMode>(found - std::begin(kReturnModes));
}

}  // namespace

std::expected<ResultOrder, ResultProblem> ReadResultOrder(const JsonValue& result) {
  ResultOrder order;
  if (result.IsNull()) return order;
  if (!result.IsObject()) return WrongKind("", "an object", result);
  PA_TRY_VOID(CheckResultMembers(result));
  if (const JsonValue* items = result.FindSet("items")) {
    PA_TRY(order.items, ReadPath("items", *items));
  }
  if (const JsonValue* filter = result.FindSet("filter")) {
    PA_TRY(order.filter, ReadFilter(*filter));
  }
  if (const JsonValue* limit = result.FindSet("limit")) {
    PA_TRY(order.limit, ReadLimit(*limit));
  }
  if (const JsonValue* fields = result.FindSet("fields")) {
    PA_TRY(order.fields, ReadFields(*fields));
  }
  if (const JsonValue* mode = result.FindSet("return_mode")) {
    PA_TRY(order.mode, ReadMode(*mode));
  }
  return order;
}

}  // namespace pa
