// ToolError: a refusal or failure as the model sees it. One maker for each code of the contract, so that
// code, text, advice and recoverability stand in one place (supervisor/tool_error.cc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/decide.h"

namespace pa {

struct ToolError {
  std::string code;        // INVALID_TARGET
  std::string message;     // begins with the contract's text
  std::string ai_message;  // what to do next
  bool recoverable = true; // false: no other call of the same kind can succeed
  std::string details;     // a JSON object, or ""
};

}  // namespace pa
