// Which environment variables a policy may give to commands. Some would hand the command to whoever
// writes their value (LD_PRELOAD), others would change what make and git do behind the tool's back.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa::policy {

// Why `name` may not be passed or set; "" if it may.
std::string CheckVariableName(std::string_view name);

// For the JSON Schema: a regular expression of what is a name, and of the names that are refused.
std::string VariableNamePattern();
std::string RefusedVariablePattern();

}  // namespace pa::policy
