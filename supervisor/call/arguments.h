// Arguments: the arguments of a call, validated against the tool's parameters (param.h). The same
// table prints inputSchema.
//
//    std::expected<Arguments, ToolError> args = ValidateArguments(kParams, json);
//
// Only ValidateArguments can make Arguments, so a tool never sees a value that its schema would
// refuse.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "supervisor/call/param.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/results/result_order.h"

namespace pa {

class Arguments {
 public:
  const std::string* String(std::string_view name) const;  // null when absent
  std::optional<std::int64_t> Integer(std::string_view name) const;
  bool Boolean(std::string_view name) const;  // false when absent
  const std::vector<std::string>* Strings(std::string_view name) const;
  const std::vector<std::uint16_t>* Ports(std::string_view name) const;  // none of them 0
  const std::vector<Arguments>* Objects(std::string_view name) const;
  // Of kind kObject, or kObjectArray without fields.
  const JsonValue* Json(std::string_view name) const;
  // Whether the caller gave it: it is neither absent nor a default.
  bool Given(std::string_view name) const;
  // Of the parameter of kind kResult; null if it is absent.
  const ResultOrder* result_order() const;

 private:
  friend struct ArgumentsMaker;
  Arguments() = default;
  using Value =
      std::variant<std::string, std::int64_t, bool, std::vector<std::string>,
                   std::vector<std::uint16_t>, std::vector<Arguments>, ResultOrder, JsonValue>;
  std::map<std::string, Value, std::less<>> values_;
  std::set<std::string, std::less<>> defaults_;
};

// A null `arguments` (absent) counts as an empty object; absent integers take their default. JSON's
// null counts as absent, too, for the whole and for each argument: the schema does not allow it,
// but models write it (and more: as_meant.h). INVALID_ARGUMENT names the argument, what was
// expected, what came, and the shape of the whole. Unknown arguments are refused with a suggestion.
// Stricter than the schema in one point: no string may hold a NUL character.
std::expected<Arguments, ToolError> ValidateArguments(std::span<const Param> params,
                                                      const JsonValue* arguments);

std::string InputSchema(std::span<const Param> params);  // JSON on one line

}  // namespace pa
