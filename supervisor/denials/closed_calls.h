// System calls that no line of policy opens: which of them a line of output speaks of, and what is
// said of it. Like all that is read from output a hint (refusals.h); but here there is nothing to
// check, because every command is refused them.
//
//    if (auto refusal = ReadClosedCall("unshare: unshare failed: Operation not permitted", {})) ...
//
// To add the message of a program: a line in the tables of closed_calls.cc, the message itself in
// closed_calls_test.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/denials/refusals.h"

namespace pa {

// `before`: the lines above, for an errno that stands alone beneath a traceback.
std::optional<Refusal> ReadClosedCall(std::string_view line, std::span<const std::string> before);

struct ClosedCallDescription {
  std::string_view syscall;
  std::string_view blocked_by;
};
ClosedCallDescription DescriptionOf(ClosedCall call);

}  // namespace pa
