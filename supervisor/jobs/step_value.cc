#include "supervisor/jobs/step_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/try.h"
#include "supervisor/jobs/templates.h"

namespace pa {
namespace {

// The list of the data that an index directly after the id is about; "" = there is none.
std::string ItemsOf(const FinishedStep& step, const JsonValue& data) {
  if (!step.items.empty()) return step.items;
  const Tool& tool = step.result.data_of != nullptr ? *step.result.data_of : *step.tool;
  for (const std::string_view name : tool.items) {
    if (data.Find(name) != nullptr) return std::string(name);
  }
  return {};
}

std::expected<std::string, std::string> ReadAll(const std::string& uri, ResultStore& results) {
  const std::optional<Result<StoredBytes>> stored = results.Open(uri);
  if (!stored) return std::unexpected("is cut in the result, and all of it is no longer kept");
  if (!*stored) return std::unexpected("cannot be read: " + stored->error().Message());
  if ((*stored)->size > kMaxValue) {
    return std::unexpected(
        fmt::format("is cut in the result and has {} bytes, more than a value "
                    "may have ({}); narrow it with `result`",
                    (*stored)->size, kMaxValue));
  }
  std::string all;
  const Result<void> read = ReadStoredText(**stored, [&](std::string_view text) {
    all += text;
    return true;
  });
  if (!read) return std::unexpected("cannot be read: " + read.error().Message());
  return all;
}

// The member as a whole, where the data has a part of it.
std::expected<JsonValue, std::string> ReadWhole(const JsonValue& part, const KeptText& kept,
                                                ResultStore& results) {
  if (!kept.whole) return std::unexpected("is cut in the result, and not all of it was kept");
  PA_TRY(std::string all, ReadAll(kept.uri, results));
  if (part.IsString()) return JsonValue::String(std::move(all));
  Result<JsonValue> list = ParseJson(all);
  if (!list) return std::unexpected("cannot be read: " + list.error().Message());
  return *std::move(list);
}

// Whether the reference is about all of the list. The data as a whole says that it has a page.
bool NamesAll(const StepReference& reference, std::string_view items) {
  if (reference.path.empty()) return false;
  if (!reference.OfItems() && reference.path.front().name != items) return false;
  const auto rest = std::span(reference.path).subspan(reference.OfItems() ? 0 : 1);
  return rest.empty() || NamesEach(rest.first(1));
}

// A text that counts as a list (supervisor/call/tool.h).
JsonValue LinesOf(std::string_view text) {
  std::vector<JsonValue> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(JsonValue::String(std::string(text.substr(0, end))));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return JsonValue::Array(std::move(lines));
}

std::expected<JsonValue, std::string> DataOf(const ToolResult& result) {
  // As long as a step's data may be: the rows that a filter has left of 8 MiB, of a hundred calls.
  const JsonLimits limits{.max_bytes = 64U << 20};
  Result<JsonValue> data = ParseJson(result.data.empty() ? "{}" : result.data, limits);
  if (!data) return std::unexpected("cannot be read: " + data.error().Message());
  return *std::move(data);
}

}  // namespace

StepData::StepData(const FinishedStep& step, ResultStore& results)
    : step_(step), results_(results), data_(DataOf(step.result)) {
  if (data_) items_ = ItemsOf(step, *data_);
}

const StepData::Whole& StepData::Member(const std::string& name) {
  const auto known = members_.find(name);
  if (known != members_.end()) return known->second;
  const JsonValue* part = data_->Find(name);
  const auto kept = std::ranges::find(step_.result.kept, name, &KeptText::member);
  Whole whole = part == nullptr                   ? Whole(JsonValue())
                : kept == step_.result.kept.end() ? Whole(*part)
                                                  : ReadWhole(*part, *kept, results_);
  return members_.emplace(name, std::move(whole)).first->second;
}

const StepData::Whole& StepData::Items() {
  if (rows_) return *rows_;
  const Whole& list = Member(items_);
  rows_ = list && list->IsString() ? Whole(LinesOf(list->AsString())) : list;
  return *rows_;
}

// The data, all of it whole.
StepData::Whole StepData::All() {
  std::vector<JsonValue::Member> members;
  for (const auto& [name, value] : data_->Members()) {
    const Whole& whole = Member(name);
    if (!whole) return std::unexpected(name + " " + whole.error());
    members.emplace_back(name, *whole);
  }
  return JsonValue::Object(std::move(members));
}

std::expected<JsonValue, std::string> StepData::Value(const StepReference& reference) {
  const auto wrong = [&](const std::string& why) {
    return std::unexpected(reference.Print() + " " + why);
  };
  if (!data_) return wrong(data_.error());
  if (NamesAll(reference, items_) && step_.page && step_.result.truncated) {
    return wrong("is a page of a longer list: pass `limit`, or narrow it with `result`");
  }
  if (reference.OfItems()) {
    if (items_.empty()) return wrong("cannot be: the result of the step has no list");
    const Whole& rows = Items();
    if (!rows) return wrong(rows.error());
    return LookUp(reference, *rows, reference.path);
  }
  if (reference.path.empty()) {
    Whole all = All();
    if (!all) return wrong("is not whole: " + all.error());
    return all;
  }
  const auto path = std::span(reference.path);
  const bool known = data_->Find(path.front().name) != nullptr;
  if (!known) return LookUp(reference, *data_, path);
  const Whole& member = Member(path.front().name);
  if (!member) return wrong(member.error());
  return LookUp(reference, *member, path.subspan(1));
}

}  // namespace pa
