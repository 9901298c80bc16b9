// FieldPath: names values of a JSON value; of `items`, `filter`, `fields` and templates.
//
//    QueryResult<FieldPath> path = ParseFieldPath("contact.phones[*].number");
//    ForEachAt(row, path->steps, [&](const JsonValue& value) { ...; return true; });
//    path->Print();                         // as ParseFieldPath reads it back
//
//    path  = "." | step0 { step }                 "." is the value itself
//    step0 = name | index ; step = "." name | index
//    index = "[" ( 0 | [1-9][0-9]* | "*" | quoted ) "]"        ["a.b"] is a name, [*] every element
//    name  = 1*( any character but white space, control, . [ ] " ' = ! < > )
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/results/query_text.h"

namespace pa {

struct PathStep {
  enum class Kind { kName, kIndex, kEach };
  Kind kind = Kind::kName;
  std::string name;
  std::size_t index = 0;

  bool operator==(const PathStep&) const = default;
};

struct FieldPath {
  std::vector<PathStep> steps;  // none: the value itself

  std::string Print() const;
  bool operator==(const FieldPath&) const = default;
};

// The whole text is one path.
QueryResult<FieldPath> ParseFieldPath(std::string_view text);

// The path that begins here; behind it afterwards.
QueryResult<FieldPath> ReadFieldPath(QueryText& text);

// Whether the path names a list of values: it has a [*].
bool NamesEach(std::span<const PathStep> steps);

// Each value that the path names in a JsonValue or a JsonView, in order, until `visit` returns
// false; then the result is false. Missing members and elements have none.
template <typename Json, typename Visit>
bool ForEachAt(const Json& value, std::span<const PathStep> steps, const Visit& visit) {
  if (steps.empty()) return visit(value);
  const PathStep& step = steps.front();
  const auto rest = steps.subspan(1);
  if (step.kind == PathStep::Kind::kName) {
    const auto member = value.Find(step.name);
    return !member || ForEachAt(*member, rest, visit);
  }
  if (!value.IsArray()) return true;
  auto&& items = value.Items();
  if (step.kind == PathStep::Kind::kIndex) {
    if (step.index >= items.size()) return true;
    const auto distance = static_cast<std::ptrdiff_t>(step.index);
    return ForEachAt(*std::ranges::next(items.begin(), distance), rest, visit);
  }
  for (const auto& item : items) {
    if (!ForEachAt(item, rest, visit)) return false;
  }
  return true;
}

}  // namespace pa
