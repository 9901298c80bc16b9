// `project-actions token new | list | revoke`: the tokens by which clients of HTTP are known
// (supervisor/state/token_file.h). A server that runs takes them into account at once.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/cli/command_line.h"
#include "supervisor/state/token_file.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// `12h`, `90d` from `now` on; `2027-01-31`, as ParsePointInTime reads it; `never`: nothing. The
// error says what was expected.
std::expected<std::optional<TokenTime>, std::string> TokenExpiry(std::string_view text,
                                                                 TokenTime now);

// Standard output is the token, and nothing else. 1: there is one of that name, or the file cannot
// be written.
int RunTokenNew(const TokenNewCommand& command, const Environment& environment);
int RunTokenList(const TokenListCommand& command, const Environment& environment);
// 1: there is none of that name, or the file cannot be written.
int RunTokenRevoke(const TokenRevokeCommand& command, const Environment& environment);

}  // namespace pa
