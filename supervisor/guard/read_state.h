// ReadState: finds what a command must leave as it is, and reads it. For a janitor's process: it
// opens and parses files that commands wrote.
//
//    ProtectedOr<GuardedState> state = ReadState(query);
//    if (!state) ...                       // nothing may run
#pragma once

#include <optional>

#include "supervisor/guard/guarded_state.h"

namespace pa {

ProtectedOr<GuardedState> ReadState(const GuardQuery& query);

// The same state once more, if its stamps prove something now. Nothing: they do not, or it is
// another state than `first`.
std::optional<GuardedState> ReadAgain(const GuardedState& first, const GuardQuery& query);

}  // namespace pa
