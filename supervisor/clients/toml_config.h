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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/clients/config_text.h"

namespace pa {

// `text`: without a byte order mark.
std::expected<std::string, TextProblem> MergeIntoToml(std::string_view text,
                                                      const ServerEntry& entry);

// The document without the table `name` in `section`.
std::expected<std::string, TextProblem> RemoveTomlTable(std::string_view text,
                                                        std::string_view section,
                                                        std::string_view name);

struct TomlSetting {
  std::string_view table;  // "" = the top
  std::string_view key;
  std::string_view literal;  // `false`
  std::string Name() const;  // `features.shell_tool`
};
// Whether the document says so.
bool HasInToml(std::string_view text, const TomlSetting& setting);
// The document with the setting, or without it. An error if it has another value, which is the
// user's to change.
std::expected<std::string, TextProblem> SetInToml(std::string_view text,
                                                  const TomlSetting& setting);
std::expected<std::string, TextProblem> UnsetInToml(std::string_view text,
                                                    const TomlSetting& setting);

// `args` of the table `name` in `section`. Nothing: no such table, or no such document.
std::optional<std::vector<std::string>> ArgsInToml(std::string_view text, std::string_view section,
                                                   std::string_view name);

// The variable of the environment with the token of the entry `name`; "": it has none.
std::string TokenVariableInToml(std::string_view text, std::string_view section,
                                std::string_view name);

}  // namespace pa
