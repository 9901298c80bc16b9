// Merges our entry into a client's JSON configuration:
//
//    {"mcpServers": {"project-actions": {"command": ..., "args": [...]}}}
//
//    auto now = MergeIntoJson(text, entry, JsonDialect::kComments);
//    if (!now) ... now.error()                  // where, and what was expected
//
// Everything else keeps every byte: other members, also those of our entry, comments, order,
// indentation, line ends. The new text is read again before it is returned: unless it is the old
// document with the entry in it, an error is returned.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "supervisor/clients/config_text.h"
#include "supervisor/clients/jsonc.h"

namespace pa {

// `text`: without a byte order mark. Blank text becomes a new document.
std::expected<std::string, TextProblem> MergeIntoJson(std::string_view text,
                                                      const ServerEntry& entry,
                                                      JsonDialect dialect);

}  // namespace pa
