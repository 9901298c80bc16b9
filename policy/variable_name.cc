#include "policy/variable_name.h"

#include <algorithm>
#include <cctype>

namespace pa::policy {
namespace {

struct RefusedName {
  std::string_view name;  // with `*` at the end: every name that begins so
  std::string_view reason;
};

constexpr RefusedName kRefused[] = {
    {"LD_*", "it makes the dynamic loader run foreign code in every command"},
    {"GLIBC_TUNABLES", "it changes the C library of every command"},
    {"GCONV_PATH", "it makes the C library load foreign code"},
    {"BASH_ENV", "it makes every shell run a file first"},
    {"ENV", "it makes every shell run a file first"},
    {"BASH_FUNC_*", "it replaces commands by shell functions"},
    {"SHELLOPTS", "it changes how every shell reads its script"},
    {"BASHOPTS", "it changes how every shell reads its script"},
    {"IFS", "it changes how every shell reads its script"},
    {"MAKEFLAGS", "it changes which targets and rules make runs"},
    {"MFLAGS", "it changes which targets and rules make runs"},
    {"GNUMAKEFLAGS", "it changes which targets and rules make runs"},
    {"MAKEFILES", "it makes make read a foreign Makefile first"},
    {"MAKELEVEL", "make sets it itself"},
    {"GIT_*", "it changes what git does and to which repository"},
    {"TMPDIR", "it is a private directory of each command"},
    {"PROJECT_ACTIONS_TOKEN", "whoever has it can call the server, and approve such calls"},
};

bool Matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

bool IsNameCharacter(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

std::string CheckVariableName(std::string_view name) {
  const std::string quoted = "'" + std::string(name) + "'";
  const bool starts_with_digit = !name.empty() && name[0] >= '0' && name[0] <= '9';
  if (name.empty() || starts_with_digit || !std::ranges::all_of(name, IsNameCharacter)) {
    return quoted + " is not the name of a variable: letters, digits and _, no digit first";
  }
  for (const RefusedName& refused : kRefused) {
    if (Matches(refused.name, name)) {
      return quoted + " may not reach commands: " + std::string(refused.reason);
    }
  }
  return "";
}

std::string VariableNamePattern() { return "^[A-Za-z_][A-Za-z0-9_]*$"; }

std::string RefusedVariablePattern() {
  std::string alternatives;
  for (const RefusedName& refused : kRefused) {
    std::string_view name = refused.name;
    const bool prefix = name.ends_with('*');
    if (prefix) name.remove_suffix(1);
    if (!alternatives.empty()) alternatives += '|';
    alternatives += std::string(name) + (prefix ? "" : "$");
  }
  return "^(" + alternatives + ")";
}

}  // namespace pa::policy
