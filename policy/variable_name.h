// CheckVariableName: which environment variables a policy may give to commands. Some variables
// would let the author of their value take over the command (LD_PRELOAD); others would change what
// make and git do without the tool noticing.
//
//    const std::string why = CheckVariableName("LD_PRELOAD");   // why not; "" = it may be given
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa::policy {

// Why `name` may not be passed or set; "" if it may.
std::string CheckVariableName(std::string_view name);

// For the JSON Schema: regular expressions for names, and for the names that are refused.
std::string VariableNamePattern();
std::string RefusedVariablePattern();

}  // namespace pa::policy
