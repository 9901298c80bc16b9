// Our entry in a client's JSON: `{"mcpServers": {"project-actions": {"command": ..., "args":
// [...]}}}`.
//
//   auto now = MergeIntoJson(text, entry, JsonDialect::kComments);
//   if (!now) ... now.error()                  // where, and what was expected
//
// What is not ours keeps every byte: other members, also of our entry, comments, order,
// indentation, line ends. Before it is returned the new text is read again, and is the old one with
// the entry in it, or nothing is.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "supervisor/clients/config_text.h"
#include "supervisor/clients/jsonc.h"

namespace pa {

// `text` without a byte order mark; blank text becomes a document of its own.
std::expected<std::string, TextProblem> MergeIntoJson(std::string_view text,
                                                      const ServerEntry& entry,
                                                      JsonDialect dialect);

}  // namespace pa
