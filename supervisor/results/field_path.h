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

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
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

// Each value that the path names, in order, until `visit` returns false; then the result is false.
// Missing members and elements have none.
template <typename Visit>
bool ForEachAt(const JsonValue& value, std::span<const PathStep> steps, const Visit& visit) {
  if (steps.empty()) return visit(value);
  const PathStep& step = steps.front();
  const auto rest = steps.subspan(1);
  if (step.kind == PathStep::Kind::kName) {
    const JsonValue* member = value.Find(step.name);
    return member == nullptr || ForEachAt(*member, rest, visit);
  }
  if (!value.IsArray()) return true;
  const std::vector<JsonValue>& items = value.Items();
  if (step.kind == PathStep::Kind::kIndex) {
    return step.index >= items.size() || ForEachAt(items[step.index], rest, visit);
  }
  return std::ranges::all_of(items,
                             [&](const JsonValue& item) { return ForEachAt(item, rest, visit); });
}

}  // namespace pa
