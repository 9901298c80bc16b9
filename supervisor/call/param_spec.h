// ParamSpec: the arguments of a tool. Validates them AND prints inputSchema: one truth.
//
//   constexpr Param kParams[] = {
//       {.name = "target", .kind = ParamKind::kString, .required = true, .description = "..."},
//   };
//   std::expected<Arguments, ToolError> args = ValidateArguments(kParams, json);
//
// Only ValidateArguments can make Arguments, so a tool never sees a value that its schema would
// refuse.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "supervisor/call/tool_error.h"

namespace pa {

enum class ParamKind { kString, kInteger, kBoolean, kStringArray, kObjectArray };

struct Param {
  std::string_view name;
  ParamKind kind = ParamKind::kString;
  bool required = false;
  std::string_view description;
  std::span<const std::string_view> one_of = {};  // kString
  std::int64_t minimum = 0;                       // kInteger; arrays: items
  std::int64_t maximum = 0;  // the same; kString: bytes; 0: none (integers: 2^53 - 1)
  std::optional<std::int64_t> default_integer = std::nullopt;
  std::string_view advice =
      {};  // kString: what to do about a value that is not one_of, or too long
  std::string_view pattern = {};       // printed in the schema; the tool refuses with its own error
  std::span<const Param> fields = {};  // kObjectArray: of each object
};

// Of a string that becomes an argument of a program: Linux takes 128 KiB of each, with its NUL (execve(2)).
// What is added to it, `--glob=` or a backslash for each character, has room in the other half.
inline constexpr std::int64_t kMaxArgument = (128 << 10) - 1;
inline constexpr std::int64_t kMaxPattern = 64 << 10;

class Arguments {
 public:
  const std::string* String(std::string_view name) const;  // null when absent
  std::optional<std::int64_t> Integer(std::string_view name) const;
  bool Boolean(std::string_view name) const;  // false when absent
  const std::vector<std::string>* Strings(std::string_view name) const;
  const std::vector<Arguments>* Objects(std::string_view name) const;

 private:
  friend struct ArgumentsMaker;
  Arguments() = default;
  using Value = std::variant<std::string, std::int64_t, bool, std::vector<std::string>,
                             std::vector<Arguments>>;
  std::map<std::string, Value, std::less<>> values_;
};

// `arguments` null (absent) is an empty object; absent integers take their default. JSON's null is absent,
// too, of the whole and of each argument, which the schema does not say: models write it.
// INVALID_ARGUMENT names the argument, what was expected and what came; unknown arguments are
// refused with a did-you-mean. Stricter than the schema in one thing: no string may hold a NUL
// character.
std::expected<Arguments, ToolError> ValidateArguments(std::span<const Param> params,
                                                      const JsonValue* arguments);

std::string InputSchema(std::span<const Param> params);  // JSON on one line

}  // namespace pa
