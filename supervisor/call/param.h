// Param: one parameter of a tool. A table of them validates a call's arguments and prints
// inputSchema (arguments.h).
//
//    constexpr Param kParams[] = {
//        {.name = "target", .kind = ParamKind::kString, .required = true, .description = "..."},
//    };
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pa {

// kResult is the argument `result` (supervisor/results/result_order.h); kObject any object;
// kPortArray numbers of TCP ports.
enum class ParamKind {
  kString,
  kInteger,
  kBoolean,
  kStringArray,
  kPortArray,
  kObjectArray,
  kResult,
  kObject
};

struct Param {
  std::string_view name;
  ParamKind kind = ParamKind::kString;
  bool required = false;
  std::string_view description;  // of kResult: in place of the schema of its members
  std::span<const std::string_view> one_of = {};  // kString
  std::int64_t minimum = 0;                       // kInteger; arrays: items
  std::int64_t maximum = 0;  // the same; kString: bytes; 0: none (integers: 2^53 - 1)
  std::optional<std::int64_t> default_integer = std::nullopt;
  // kString: what to do if the value is not one_of, or too long.
  std::string_view advice = {};
  std::string_view pattern = {};       // for the schema; the tool itself checks it
  std::span<const Param> fields = {};  // kObjectArray: of each object; none: any objects
  // A shell executes it: a pipeline does not write values into it (supervisor/jobs).
  bool is_program = false;
};

// The longest string that can become an argument of a program: Linux takes 128 KiB for each, with
// its NUL (execve(2)). kMaxPattern leaves half of that for what a tool adds: `--glob=`, or a
// backslash for each character.
inline constexpr std::int64_t kMaxArgument = (128 << 10) - 1;
inline constexpr std::int64_t kMaxPattern = 64 << 10;

}  // namespace pa
