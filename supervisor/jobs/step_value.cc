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
std::expected<JsonValue, std::string> Whole(const JsonValue& part, const KeptText& kept,
                                            ResultStore& results) {
  if (!kept.whole) return std::unexpected("is cut in the result, and not all of it was kept");
  PA_TRY(std::string all, ReadAll(kept.uri, results));
  if (part.IsString()) return JsonValue::String(std::move(all));
  Result<JsonValue> list = ParseJson(all);
  if (!list) return std::unexpected("cannot be read: " + list.error().Message());
  return *std::move(list);
}

// The data, with all of the member `name`.
std::expected<JsonValue, std::string> WithWhole(const JsonValue& data, std::string_view name,
                                                const FinishedStep& step, ResultStore& results) {
  const auto kept = std::ranges::find(step.result.kept, name, &KeptText::member);
  if (kept == step.result.kept.end()) return data;
  std::vector<JsonValue::Member> members = data.Members();
  for (auto& [member, value] : members) {
    if (member != name) continue;
    PA_TRY(value, Whole(value, *kept, results));
  }
  return JsonValue::Object(std::move(members));
}

// Whether the reference is about all of the list. The data as a whole says that it has a page.
bool NamesAll(const StepReference& reference, std::string_view items) {
  if (reference.path.empty()) return false;
  if (!reference.OfItems() && reference.path.front().name != items) return false;
  const auto rest = std::span(reference.path).subspan(reference.OfItems() ? 0 : 1);
  return rest.empty() || NamesEach(rest.first(1));
}

}  // namespace

std::expected<JsonValue, std::string> StepValue(const StepReference& reference,
                                                const FinishedStep& step, ResultStore& results) {
  const std::string& text = step.result.data;
  // As long as a step's data may be: the rows that a filter has left of 8 MiB, of a hundred calls.
  const JsonLimits limits{.max_bytes = 64U << 20};
  const Result<JsonValue> data = ParseJson(text.empty() ? "{}" : text, limits);
  if (!data) return std::unexpected(reference.Print() + ": " + data.error().Message());
  const std::string items = ItemsOf(step, *data);
  const std::string_view about = reference.OfItems()      ? std::string_view(items)
                                 : reference.path.empty() ? std::string_view()
                                                          : reference.path.front().name;
  if (NamesAll(reference, items) && step.page && step.result.truncated) {
    return std::unexpected(reference.Print() +
                           " is a page of a longer list: pass `limit`, or narrow it with `result`");
  }
  auto whole = WithWhole(*data, about, step, results);
  if (!whole) return std::unexpected(reference.Print() + " " + whole.error());
  return LookUp(reference, *whole, items);
}

}  // namespace pa
