#include "supervisor/results/row_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_view.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

std::string WithArticle(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return "a boolean";
    case JsonValue::Kind::kNumber:
      return "a number";
    case JsonValue::Kind::kString:
      return "a string";
    case JsonValue::Kind::kArray:
      return "an array";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "";
}

template <typename Json>
std::string FieldsOf(const Json& row) {
  constexpr std::size_t kMost = 8;
  if (!row.IsObject()) return WithArticle(row.kind());
  std::string names;
  std::size_t told = 0;
  for (const auto& [name, value] : row.Members()) {
    if (told++ == kMost) return names + ", ...";
    names += (names.empty() ? "" : ", ") + FieldPath{{{.name = std::string(name)}}}.Print();
  }
  return names.empty() ? "no field" : names;
}

}  // namespace

bool RowQuery::Count(bool matches) {
  ++counts_.total;
  if (!matches) return false;
  ++counts_.matched;
  if (order_.limit && counts_.returned >= *order_.limit) return false;
  ++counts_.returned;
  return true;
}

template <typename Json>
void RowQuery::Note(const Json& row) {
  if (first_row_.empty()) first_row_ = FieldsOf(row);
  std::array<bool, kKinds> seen{};
  ForEachAt(row, order_.filter->path().steps, [&](const Json& value) {
    seen.at(static_cast<std::size_t>(value.kind())) = true;
    return true;
  });
  for (std::size_t i = 0; i < kKinds; ++i) kinds_.at(i) += seen.at(i) ? 1 : 0;
  with_field_ += std::ranges::count(seen, true) > 0 ? 1 : 0;
}

template <typename Json>
bool RowQuery::Accepts(const Json& row) {
  const bool matches = !order_.filter || order_.filter->Matches(row);
  if (!matches && counts_.matched == 0) Note(row);
  return Count(matches);
}

bool RowQuery::AcceptsLine(std::string_view line) {
  return Count(!order_.filter || order_.filter->MatchesLine(line));
}

template <typename Json>
void RowQuery::Write(const Json& row, JsonWriter& writer) {
  if (order_.fields.empty()) {
    writer.Value(row);
    return;
  }
  if (!row.IsObject() && !row.IsArray()) ++without_fields_;
  projection_.Write(row, writer);
}

template bool RowQuery::Accepts(const JsonValue& row);
template bool RowQuery::Accepts(const JsonView& row);
template void RowQuery::Write(const JsonValue& row, JsonWriter& writer);
template void RowQuery::Write(const JsonView& row, JsonWriter& writer);

std::vector<std::string> RowQuery::Transformations() const {
  std::vector<std::string> stages;
  if (order_.filter) {
    stages.push_back(fmt::format("filter: {} -> {}", counts_.total, counts_.matched));
  }
  if (order_.limit) {
    stages.push_back(fmt::format("limit: {} -> {}", counts_.matched, counts_.returned));
  }
  if (!order_.fields.empty()) {
    std::string fields;
    for (const FieldPath& path : order_.fields)
      fields += (fields.empty() ? "" : ", ") + path.Print();
    stages.push_back("fields: " + fields);
  }
  if (order_.mode != ReturnMode::kInline) {
    stages.push_back(
        fmt::format("return_mode: {}", kReturnModes[static_cast<std::size_t>(order_.mode)]));
  }
  return stages;
}

std::string RowQuery::Warning() const {
  if (without_fields_ > 0) {
    return fmt::format("{} of {} rows are no objects and stand as they are, without `fields`",
                       without_fields_, counts_.returned);
  }
  if (!order_.filter || counts_.total == 0 || counts_.matched > 0) return "";
  std::string none = fmt::format("none of {} rows matches", counts_.total);
  if (first_row_.empty()) return none;  // lines
  const std::string path = VisibleText(order_.filter->path().Print());
  const std::string first = "; the first row has " + VisibleText(first_row_);
  if (with_field_ == 0) return fmt::format("{}: no row has {}{}", none, path, first);
  std::string types;
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (kinds_.at(i) == 0) continue;
    const std::string type = WithArticle(static_cast<JsonValue::Kind>(i));
    types += fmt::format("{}{} in {}", types.empty() ? "" : ", ", type, kinds_.at(i));
  }
  const bool list = kinds_.at(static_cast<std::size_t>(JsonValue::Kind::kArray)) > 0;
  FieldPath each = order_.filter->path();
  each.steps.push_back({.kind = PathStep::Kind::kEach});
  const std::string advice =
      list ? fmt::format(": use CONTAINS or {}", VisibleText(each.Print())) : "";
  return fmt::format("{}: {} is {} of {}{}{}", none, path, types, counts_.total, advice, first);
}

}  // namespace pa
