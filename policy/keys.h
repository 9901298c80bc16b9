// The key table: every key that a policy file may contain, once. To add one: see policy/fragment.h.
//
//    for (const Key& key : PolicyKeys()) ...
//    const Key* key = FindKey("limits.memory");
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "policy/fragment.h"
#include "policy/policy.h"

namespace pa::policy {

enum class Type {
  kVersion,    // the number 1
  kPaths,      // list of paths; ~ and ${VAR} expand
  kPath,       // one path, absolute; ~ and ${VAR} expand
  kFile,       // the same, of a file that is read again: its symlinks are followed each time
  kPlaces,     // list of paths relative to the working directory of a call
  kHostFiles,  // list of paths from the table in policy/host_files.h
  kTools,      // list of tool names, or `all`
  kToolNames,  // list of tool names; `all` is none
  kNames,      // list of environment variable names
  kVariables,  // mapping of environment variables to values
  kRules,      // permissions
  kUrl,        // one absolute URL of http or https, without query and fragment; "" = none
  kOrigins,    // list of origins (RFC 6454): https://host:port
  kText,       // printable text without blanks; "" = none
  kScopes,     // list of scopes (RFC 6749, 3.3)
  kSubjects,   // mapping of the subjects of tokens to users
  kChoice,     // one of `choices`
  kSwitch,     // true or false, as text; `choices` explain them
  kDuration,   // limits
  kByteSize,
  kCount,
  kNotBuilt,  // refused with the sentence in `not_built`
};

struct Choice {
  std::string_view name;
  std::string_view help;
  std::string_view not_built = {};  // refused with this sentence, absent from the schema
};

using Field = std::variant<std::monostate,  //
                           std::optional<Located<Strings>> PolicyFragment::*,
                           std::optional<Located<std::string>> PolicyFragment::*,
                           std::optional<Located<std::vector<Variable>>> PolicyFragment::*,
                           std::optional<Located<std::vector<RuleText>>> PolicyFragment::*,
                           std::chrono::milliseconds Limits::*, std::uint64_t Limits::*>;

struct Key {
  std::string_view name;  // `limits.wall_time`
  Type type;
  std::string_view help;  // one line, for the schema and the manual
  Field field = {};
  std::span<const Choice> choices = {};  // kChoice, kSwitch: the tightest first
  // Of a number, in ms, bytes or as a count; lower is tighter. A duration of 0 is written `off`.
  std::uint64_t minimum = 1;
  std::uint64_t maximum = 0;
  std::string_view not_built = {};

  // The section of the name and the word after it: `limits` and `wall_time`. A top-level key has no
  // section. The keys of one section are adjacent in the table.
  constexpr std::string_view Section() const {
    const std::size_t dot = name.find('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
  }
  // If the administrator sets one of these keys, nobody else may set another value, not even a
  // tighter one.
  constexpr bool IsAdministrators() const {
    return Section() == "audit" || (Section() == "http" && type != Type::kOrigins);
  }
  constexpr std::string_view Word() const { return name.substr(name.find('.') + 1); }
  bool IsList() const {
    return std::holds_alternative<std::optional<Located<Strings>> PolicyFragment::*>(field);
  }
  bool IsNumber() const {
    return type == Type::kDuration || type == Type::kByteSize || type == Type::kCount;
  }
  bool IsLimit() const { return IsNumber() && Section() == "limits"; }
  bool CanBeOff() const { return type == Type::kDuration && minimum == 0; }
};

std::span<const Key> PolicyKeys();
const Key* FindKey(std::string_view name);

// The members of one line of `permissions`.
struct RuleKey {
  std::string_view name;
  std::string_view help;
  std::string_view not_built = {};
};
std::span<const RuleKey> RuleKeys();

// The built-in defaults as the weakest layer: the values of Limits{} and of the tables above.
PolicyFragment DefaultFragment();

// `10m`, `off`, `24KiB` or `512`, in the notation of the type of the key.
std::string FormatLimit(const Key& key, std::uint64_t value);
// `1ms to 168h, or off`.
std::string FormatRange(const Key& key);

}  // namespace pa::policy
