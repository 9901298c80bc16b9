// Merges our entry into a client's TOML configuration: `[mcp_servers.project-actions]` with
// `command` and `args`. Only toml_config.cc includes toml++.
//
//    auto now = MergeIntoToml(text, entry);
//    if (!now) ... now.error()                  // where, and what was expected
//
// Everything else keeps every byte. A text that cannot be changed without losing something (a
// comment in an array, inline tables) is refused; the error says what to write by hand. The new
// text is read again before it is returned: unless it is the old document with the entry in it, an
// error is returned.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "supervisor/clients/config_text.h"

namespace pa {

// `text`: without a byte order mark.
std::expected<std::string, TextProblem> MergeIntoToml(std::string_view text,
                                                      const ServerEntry& entry);

}  // namespace pa
