#include "supervisor/clients/client_config.h"

#include <algorithm>

#include "supervisor/clients/json_config.h"
#include "supervisor/clients/toml_config.h"

namespace pa {
namespace {

using enum Client::Base;
using enum Client::Format;
using enum Client::Root;

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
     .bypass =
         "Claude Code's own Bash, PowerShell, Monitor, Edit and Write bypass all this; to switch "
         "them off, `claude --disallowedTools "
         "Bash,PowerShell,Monitor,Edit,Write,NotebookEdit`, or the same names in "
         "permissions.deny of ~/.claude/settings.json"},
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
         "~/.claude/settings.json, and Settings > Developer lists the servers"},
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
     .bypass =
         "VS Code's own terminal and edit tools bypass all this; to switch them off, clear them in "
         "`Configure Tools` of the chat view"},
    {.name = "cursor",
     .title = "Cursor",
     .base = kProject,
     .file = ".cursor/mcp.json",
     .format = kJsonWithCommentsAndCommas,
     .section = "mcpServers",
     .variables = true,
     .next = "open {} in Cursor and enable project-actions in Settings > MCP",
     .bypass =
         "Cursor's own terminal and edit tools bypass all this and cannot be switched off in Agent "
         "mode; Ask mode has neither, and its command line obeys permissions.deny with "
         "Shell(**) and Write(**) in ~/.cursor/cli-config.json"},
    {.name = "codex",
     .title = "Codex",
     .base = kCodexHome,
     .file = "config.toml",
     .format = kToml,
     .section = "mcp_servers",
     .tool_timeout_sec = 600,
     .next = "`codex mcp list` shows the server; start `codex` in {}",
     .bypass = "Codex's own shell and apply_patch bypass all this; to switch the shell off, `codex "
               "--disable shell_tool`, and so that patches are refused, `--sandbox read-only`"},
    {.name = "gemini",
     .title = "Gemini CLI",
     .base = kProject,
     .file = ".gemini/settings.json",
     .format = kJsonWithComments,
     .section = "mcpServers",
     .variables = true,
     .next = "start `gemini` in {} and trust the folder, because it starts no servers in others; "
             "`gemini mcp list` shows the server",
     .bypass = "Gemini CLI's own run_shell_command, write_file and replace bypass all this; to "
               "switch them off, name them in tools.exclude of ~/.gemini/settings.json"},
};

std::expected<std::string, TextProblem> MergeBody(std::string_view text, Client::Format format,
                                                  const ServerEntry& entry) {
  switch (format) {
    case kJson:
      return MergeIntoJson(text, entry, JsonDialect::kPlain);
    case kJsonWithComments:
      return MergeIntoJson(text, entry, JsonDialect::kComments);
    case kJsonWithCommentsAndCommas:
      return MergeIntoJson(text, entry, JsonDialect::kCommentsAndCommas);
    case kToml:
      return MergeIntoToml(text, entry);
  }
  return {};
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
  const std::size_t mark = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  auto body = MergeBody(text.substr(mark), client.format, entry);
  if (body) {
    body->insert(0, text.substr(0, mark));
  } else {
    body.error().at += mark;
  }
  return body;
}

}  // namespace pa
