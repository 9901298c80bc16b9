#include "supervisor/clients/client_config.h"

#include <algorithm>

#include "base/try.h"
#include "supervisor/clients/json_config.h"
#include "supervisor/clients/toml_config.h"

namespace pa {
namespace {

using enum Client::Base;
using enum Client::Format;
using enum Client::Root;

constexpr std::string_view kOfClaudeCode[] = {"Bash", "PowerShell", "Monitor",
                                              "Edit", "Write",      "NotebookEdit"};
constexpr std::string_view kOfGemini[] = {"run_shell_command", "write_file", "replace"};
constexpr TomlSetting kOfCodex[] = {
    {.table = "features", .key = "shell_tool", .literal = "false"},
    {.table = "", .key = "sandbox_mode", .literal = "\"read-only\""},
};

constexpr Client kClients[] = {
    {.name = "claude-code",
     .title = "Claude Code",
     .base = kProject,
     .file = ".mcp.json",
     .format = kJson,
     .section = "mcpServers",
     .root = kItsOwn,
     .variables = true,
     .next = "start Claude Code (`claude`) in {}, approve the server when it asks, and see it with "
             "/mcp",
     .url_key = "url",
     .url_with_type = true,
     .authorization = "Bearer ${PROJECT_ACTIONS_TOKEN}",
     .bypass =
         "Claude Code's own Bash, PowerShell, Monitor, Edit and Write bypass all this; to switch "
         "them off, `claude --disallowedTools "
         "Bash,PowerShell,Monitor,Edit,Write,NotebookEdit`, or the same names in "
         "permissions.deny of ~/.claude/settings.json",
     .own_tools = {.file = ".claude/settings.json",
                   .section = "permissions",
                   .key = "deny",
                   .names = kOfClaudeCode}},
    {.name = "claude-desktop",
     .title = "Claude Desktop",
     .base = kConfigHome,
     .file = "Claude/claude_desktop_config.json",
     .format = kJson,
     .section = "mcpServers",
     .next = "quit Claude Desktop and start it again; Settings > Developer shows the server",
     .bypass =
         "the shell and edit tools of the tabs Code and Cowork, where Claude Desktop has them, and "
         "other servers bypass all this; Code runs Claude Code, whose permissions.deny is in "
         "~/.claude/settings.json, and Settings > Developer lists the servers",
     .own_tools = {.rest = "Claude Desktop has no setting known to us that switches them off"}},
    {.name = "vscode",
     .title = "VS Code",
     .base = kProject,
     .file = ".vscode/mcp.json",
     .format = kJsonWithCommentsAndCommas,
     .section = "servers",
     .root = kWorkspaceFolder,
     .with_type = true,
     .variables = true,
     .next = "open {} in VS Code, run `MCP: List Servers`, start project-actions and trust it",
     .url_key = "url",
     .url_with_type = true,
     .authorization = "Bearer ${env:PROJECT_ACTIONS_TOKEN}",
     .bypass =
         "VS Code's own terminal and edit tools bypass all this; to switch them off, clear them in "
         "`Configure Tools` of the chat view",
     .own_tools = {.rest = "VS Code has no setting in a file for this; clear its terminal and edit "
                           "tools in `Configure Tools` of the chat view"}},
    {.name = "cursor",
     .title = "Cursor",
     .base = kProject,
     .file = ".cursor/mcp.json",
     .format = kJsonWithCommentsAndCommas,
     .section = "mcpServers",
     .variables = true,
     .next = "open {} in Cursor and enable project-actions in Settings > MCP",
     .url_key = "url",
     .authorization = "Bearer ${env:PROJECT_ACTIONS_TOKEN}",
     .bypass =
         "Cursor's own terminal and edit tools bypass all this and cannot be switched off in Agent "
         "mode; Ask mode has neither, and its command line obeys permissions.deny with "
         "Shell(**) and Write(**) in ~/.cursor/cli-config.json",
     .own_tools = {.rest = "Cursor has no setting that switches its terminal and edit tools off in "
                           "Agent mode; its command line alone obeys permissions.deny with "
                           "Shell(**) and Write(**) in ~/.cursor/cli-config.json"}},
    {.name = "codex",
     .title = "Codex",
     .base = kCodexHome,
     .file = "config.toml",
     .format = kToml,
     .section = "mcp_servers",
     .tool_timeout_sec = 600,
     .next = "`codex mcp list` shows the server; start `codex` in {}",
     .url_key = "url",
     .authorization = "PROJECT_ACTIONS_TOKEN",
     .bypass = "Codex's own shell and apply_patch bypass all this; to switch the shell off, `codex "
               "--disable shell_tool`, and so that patches are refused, `--sandbox read-only`",
     .own_tools = {.file = "config.toml",
                   .settings = kOfCodex,
                   .rest = "apply_patch stays: its patches are refused unless you approve one"}},
    {.name = "gemini",
     .title = "Gemini CLI",
     .base = kProject,
     .file = ".gemini/settings.json",
     .format = kJsonWithComments,
     .section = "mcpServers",
     .variables = true,
     .next = "start `gemini` in {} and trust the folder, because it starts no servers in others; "
             "`gemini mcp list` shows the server",
     .url_key = "httpUrl",
     .authorization = "Bearer ${PROJECT_ACTIONS_TOKEN}",
     .bypass = "Gemini CLI's own run_shell_command, write_file and replace bypass all this; to "
               "switch them off, name them in tools.exclude of ~/.gemini/settings.json",
     .own_tools = {.file = ".gemini/settings.json",
                   .section = "tools",
                   .key = "exclude",
                   .names = kOfGemini}},
};

JsonDialect DialectOf(Client::Format format) {
  if (format == kJsonWithComments) return JsonDialect::kComments;
  return format == kJson ? JsonDialect::kPlain : JsonDialect::kCommentsAndCommas;
}

std::expected<std::string, TextProblem> MergeBody(std::string_view text, Client::Format format,
                                                  const ServerEntry& entry) {
  if (format == kToml) return MergeIntoToml(text, entry);
  return MergeIntoJson(text, entry, DialectOf(format));
}

std::size_t MarkOf(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

bool Names(const std::vector<std::string>& switches, const std::string& name) {
  return std::ranges::find(switches, name) != switches.end();
}

// What `edit` makes of the text behind its byte order mark.
template <typename Edit>
std::expected<std::string, TextProblem> BehindMark(std::string_view text, const Edit& edit) {
  const std::size_t mark = MarkOf(text);
  std::expected<std::string, TextProblem> body = edit(text.substr(mark));
  if (body) {
    body->insert(0, text.substr(0, mark));
  } else {
    body.error().at += mark;
  }
  return body;
}

}  // namespace

std::span<const Client> Clients() { return kClients; }

const Client* FindClient(std::string_view name) {
  const auto* found = std::ranges::find(kClients, name, &Client::name);
  return found == std::end(kClients) ? nullptr : found;
}

const std::string& BaseOf(const Client& client, const ConfigBases& bases) {
  switch (client.base) {
    case kConfigHome:
      return bases.config_home;
    case kCodexHome:
      return bases.codex_home;
    case kProject:
      break;
  }
  return bases.project;
}

std::string ConfigFile(const Client& client, const ConfigBases& bases) {
  return BaseOf(client, bases) + "/" + std::string(client.file);
}

std::expected<std::string, TextProblem> MergeInto(std::string_view text, const Client& client,
                                                  const ServerEntry& entry) {
  return BehindMark(text,
                    [&](std::string_view body) { return MergeBody(body, client.format, entry); });
}

std::vector<std::string> SwitchesOf(const Client& client) {
  std::vector<std::string> switches(client.own_tools.names.begin(), client.own_tools.names.end());
  for (const TomlSetting& setting : client.own_tools.settings) switches.push_back(setting.Name());
  return switches;
}

std::vector<std::string> SwitchesIn(std::string_view text, const Client& client) {
  const Client::OwnTools& own = client.own_tools;
  const std::string_view body = text.substr(MarkOf(text));
  std::vector<std::string> switches;
  for (const TomlSetting& setting : own.settings) {
    if (HasInToml(body, setting)) switches.push_back(setting.Name());
  }
  if (own.key.empty()) return switches;
  for (std::string& name : StringsInJson(body, own.section, own.key, DialectOf(client.format))) {
    if (Names(SwitchesOf(client), name)) switches.push_back(std::move(name));
  }
  return switches;
}

std::expected<std::string, TextProblem> WithSwitches(std::string_view text, const Client& client,
                                                     const std::vector<std::string>& switches) {
  const Client::OwnTools& own = client.own_tools;
  return BehindMark(text, [&](std::string_view body) -> std::expected<std::string, TextProblem> {
    if (own.settings.empty()) {
      return AddToJsonList(body, own.section, own.key, switches, DialectOf(client.format));
    }
    std::string now(body);
    for (const TomlSetting& setting : own.settings) {
      if (!Names(switches, setting.Name())) continue;
      PA_TRY(now, SetInToml(now, setting));
    }
    return now;
  });
}

std::expected<std::string, TextProblem> WithoutSwitches(std::string_view text, const Client& client,
                                                        const std::vector<std::string>& switches) {
  const Client::OwnTools& own = client.own_tools;
  return BehindMark(text, [&](std::string_view body) -> std::expected<std::string, TextProblem> {
    if (own.settings.empty()) {
      return RemoveFromJsonList(body, own.section, own.key, switches, DialectOf(client.format));
    }
    std::string now(body);
    for (const TomlSetting& setting : own.settings) {
      if (!Names(switches, setting.Name())) continue;
      PA_TRY(now, UnsetInToml(now, setting));
    }
    return now;
  });
}

std::expected<std::string, TextProblem> WithoutEntry(std::string_view text, const Client& client,
                                                     std::string_view name) {
  return BehindMark(text, [&](std::string_view body) {
    return client.format == kToml
               ? RemoveTomlTable(body, client.section, name)
               : RemoveJsonEntry(body, client.section, name, DialectOf(client.format));
  });
}

std::optional<std::vector<std::string>> ArgsIn(std::string_view text, const Client& client,
                                               std::string_view name) {
  text.remove_prefix(MarkOf(text));
  if (client.format == kToml) return ArgsInToml(text, client.section, name);
  return ArgsInJson(text, client.section, name, DialectOf(client.format));
}

bool SendsOurToken(std::string_view text, const Client& client, std::string_view name) {
  if (client.authorization.empty()) return false;
  text.remove_prefix(MarkOf(text));
  const std::string there = client.format == kToml ? TokenVariableInToml(text, client.section, name)
                                                   : AuthorizationInJson(text, client.section, name,
                                                                         DialectOf(client.format));
  return there == client.authorization;
}

}  // namespace pa
