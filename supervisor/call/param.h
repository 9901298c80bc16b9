// Param: one parameter of a tool.
//
//   constexpr Param kParams[] = {
//       {.name = "target", .kind = ParamKind::kString, .required = true, .description = "..."},
//   };
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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

// Of a string that becomes an argument of a program: Linux takes 128 KiB of each, with its NUL
// (execve(2)). What is added to it, `--glob=` or a backslash for each character, has room in the
// other half.
inline constexpr std::int64_t kMaxArgument = (128 << 10) - 1;
inline constexpr std::int64_t kMaxPattern = 64 << 10;

}  // namespace pa
