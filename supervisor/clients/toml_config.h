// Our entry in a client's TOML: `[mcp_servers.project-actions]` with `command`, `args`. The one
// user of toml++.
//
//   auto now = MergeIntoToml(text, entry);
//   if (!now) ... now.error()                  // where, and what was expected
//
// What is not ours keeps every byte. What cannot be changed without losing something (a comment in
// an array, tables that stand inline) is refused with what to write by hand. Before it is returned
// the new text is read again, and is the old one with the entry in it, or nothing is.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "supervisor/clients/config_text.h"

namespace pa {

// `text` without a byte order mark.
std::expected<std::string, TextProblem> MergeIntoToml(std::string_view text,
                                                      const ServerEntry& entry);

}  // namespace pa
