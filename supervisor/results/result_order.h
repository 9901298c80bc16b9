// ResultOrder: what the argument `result` of a call asks for, checked before anything runs.
//
//    std::expected<ResultOrder, ResultProblem> order = ReadResultOrder(*arguments.Find("result"));
//
//    {"items": "matches", "filter": "path CONTAINS src", "limit": 20, "fields": ["path", "line"],
//     "return_mode": "summary"}
//
// null for the whole or a member counts as absent. A limit is rounded down and is at least 0.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "supervisor/results/field_path.h"
#include "supervisor/results/filter.h"

namespace pa {

enum class ReturnMode { kInline, kSummary, kFile };
inline constexpr std::string_view kReturnModes[] = {"inline", "summary", "file"};

inline constexpr std::string_view kResultMembers[] = {"items", "filter", "limit", "fields",
                                                      "return_mode"};

struct ResultOrder {
  std::optional<FieldPath> items;  // none: the tool's own
  std::optional<Filter> filter;
  std::optional<std::uint64_t> limit;
  std::vector<FieldPath> fields;  // none: all
  ReturnMode mode = ReturnMode::kInline;

  // Whether it asks for anything beside what would be returned without it.
  bool Changes() const {
    return items || filter || limit || !fields.empty() || mode != ReturnMode::kInline;
  }
};

struct ResultProblem {
  std::string member;   // "result.filter"
  std::string message;  // "column 3: no operator =>"
  std::string advice;   // what to write, with a caret where there is one
};

std::expected<ResultOrder, ResultProblem> ReadResultOrder(const JsonValue& result);

}  // namespace pa
