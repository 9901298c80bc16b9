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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/clients/config_text.h"
#include "supervisor/clients/jsonc.h"

namespace pa {

// `text`: without a byte order mark. Blank text becomes a new document.
std::expected<std::string, TextProblem> MergeIntoJson(std::string_view text,
                                                      const ServerEntry& entry,
                                                      JsonDialect dialect);

// The document without the entry `name` in `section`, which stays.
std::expected<std::string, TextProblem> RemoveJsonEntry(std::string_view text,
                                                        std::string_view section,
                                                        std::string_view name, JsonDialect dialect);

// The strings of the list `key` in `section`; none: no such list, or no such document.
std::vector<std::string> StringsInJson(std::string_view text, std::string_view section,
                                       std::string_view key, JsonDialect dialect);
// The document with more strings in that list, which is made if need be, or with fewer.
std::expected<std::string, TextProblem> AddToJsonList(std::string_view text,
                                                      std::string_view section,
                                                      std::string_view key,
                                                      const std::vector<std::string>& added,
                                                      JsonDialect dialect);
std::expected<std::string, TextProblem> RemoveFromJsonList(std::string_view text,
                                                           std::string_view section,
                                                           std::string_view key,
                                                           const std::vector<std::string>& gone,
                                                           JsonDialect dialect);

// `args` of the entry `name` in `section`. Nothing: no such entry, or no such document.
std::optional<std::vector<std::string>> ArgsInJson(std::string_view text, std::string_view section,
                                                   std::string_view name, JsonDialect dialect);

// The header Authorization of the entry `name`; "": it has none.
std::string AuthorizationInJson(std::string_view text, std::string_view section,
                                std::string_view name, JsonDialect dialect);

}  // namespace pa
