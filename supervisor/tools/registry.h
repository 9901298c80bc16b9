// All tools, in the order in which clients see them.
#pragma once

#include <span>
#include <string_view>

#include "supervisor/call/tool.h"

namespace pa {

std::span<const Tool* const> AllTools();
const Tool* FindTool(std::string_view name);  // null: there is none

}  // namespace pa
