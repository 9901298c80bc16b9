#include "policy/host_files.h"

#include <algorithm>
#include <vector>

#include "base/did_you_mean.h"
#include "policy/path.h"

namespace pa::policy {
namespace {

using enum HostFile::Kind;
constexpr HostFile::Base kHome = HostFile::Base::kHome;

constexpr std::string_view kStartsServers = "starts the servers that it names";
constexpr std::string_view kStartsTheirs = "starts the servers that they name";
constexpr std::string_view kStartsLanguage = "starts the language servers that it names";
constexpr std::string_view kLoaded = "loaded when it starts";
constexpr std::string_view kRunsHooks = "runs the hooks that it names";
constexpr std::string_view kHookScripts = "its hooks lie there";
constexpr std::string_view kPermits = "says what may run without a question";
constexpr std::string_view kCommands = "runs shell commands that stand in them";
constexpr std::string_view kAgents = "they bring hooks, servers and permissions of their own";
constexpr std::string_view kOnEntering = "executed when a shell enters the directory";
constexpr std::string_view kShellStart = "executed when a shell starts";

// Left out, and why: `.claude/skills`, `.agents/skills` and `.claude/worktrees` are what agents
// work with. `.github/workflows` no program of this machine executes. `.husky`,
// `.pre-commit-config.yaml` and the like run when git runs a hook, and which hooks git runs is
// protected (core.hooksPath); what a hook calls is the project's code, as what a Makefile calls.
// `*.code-workspace` is opened by name.
// `.exrc`, `.nvim.lua` and `.dir-locals.el` are off by default, or asked about whenever they
// change.
// `.env`, which Gemini CLI, Qwen Code and Aider read into their environment, builds write; what
// only a pattern would name (`mise.ENV.toml`, `.devcontainer/FOLDER/devcontainer.json`),
// `.tool-versions`, which people have agents edit, and `.vscode/extensions`, which projects build
// in: SECURITY.md lists these.
constexpr HostFile kHostFiles[] = {
    {".mcp.json", kFile, "Claude Code", kStartsServers, {}, true},
    {".claude/settings.json", kFile, "Claude Code", kRunsHooks},
    {".claude/settings.local.json", kFile, "Claude Code", kRunsHooks},
    {".claude/hooks", kTree, "Claude Code", kHookScripts},
    {".claude/commands", kTree, "Claude Code", kCommands},
    {".claude/agents", kTree, "Claude Code", kAgents},

    {".codex/config.toml", kFile, "Codex", kStartsServers},
    {".codex/hooks.json", kFile, "Codex", kRunsHooks},
    {".codex/hooks", kTree, "Codex", kHookScripts},
    {".codex/rules", kTree, "Codex", kPermits},
    {".codex/agents", kTree, "Codex", kAgents},
    {".codex/environments", kTree, "Codex", "sets up worktrees by the commands in them"},
    {".agents/plugins", kTree, "Codex", kAgents},

    {".gemini/settings.json", kFile, "Gemini CLI", kStartsServers, {}, true},
    {".gemini/.env", kFile, "Gemini CLI", "gives it as environment to what it starts"},
    {".gemini/commands", kTree, "Gemini CLI", kCommands},
    {".gemini/extensions", kTree, "Gemini CLI", kStartsTheirs},
    {".gemini/hooks", kTree, "Gemini CLI", kHookScripts},
    {".gemini/policies", kTree, "Gemini CLI", kPermits},
    {".gemini/agents", kTree, "Gemini CLI", kAgents},
    {".agents/mcp_config.json", kFile, "Antigravity", kStartsServers},
    {".agents/hooks.json", kFile, "Antigravity", kRunsHooks},
    {".qwen/settings.json", kFile, "Qwen Code", kStartsServers},
    {".qwen/.env", kFile, "Qwen Code", "gives it as environment to what it starts"},
    {".qwen/commands", kTree, "Qwen Code", kCommands},
    {".qwen/extensions", kTree, "Qwen Code", kStartsTheirs},
    {".qwen/agents", kTree, "Qwen Code", kAgents},
    {".lsp.json", kFile, "Qwen Code", kStartsLanguage},

    {".cursor/mcp.json", kFile, "Cursor", kStartsServers, {}, true},
    {".cursor/hooks.json", kFile, "Cursor", kRunsHooks},
    {".cursor/hooks", kTree, "Cursor", kHookScripts},
    {".cursor/cli.json", kFile, "Cursor", kPermits},
    {".cursor/sandbox.json", kFile, "Cursor", kPermits},
    {".cursor/worktrees.json", kFile, "Cursor", "sets up worktrees by the commands in it"},

    {".vscode/mcp.json", kFile, "VS Code", kStartsServers, {}, true},
    {".vscode/settings.json", kFile, "VS Code", "names the programs that extensions start"},
    {".vscode/tasks.json", kFile, "VS Code", "runs tasks when the folder is opened"},
    {".vscode/launch.json", kFile, "VS Code", "names the programs that F5 starts"},
    {".devcontainer/devcontainer.json", kFile, "VS Code", "runs initializeCommand on the host"},
    {".devcontainer.json", kFile, "VS Code", "runs initializeCommand on the host"},
    {".github/mcp.json", kFile, "GitHub Copilot", kStartsServers},
    {".github/lsp.json", kFile, "GitHub Copilot", kStartsLanguage},
    {".github/extensions", kTree, "GitHub Copilot", kLoaded},
    {".github/agents", kTree, "GitHub Copilot", kAgents},
    {".github/hooks", kTree, "GitHub Copilot", kRunsHooks},
    {".github/copilot/settings.json", kFile, "GitHub Copilot", kRunsHooks},
    {".github/copilot/settings.local.json", kFile, "GitHub Copilot", kRunsHooks},

    {".idea/workspace.xml", kFile, "JetBrains IDEs", "holds run configurations and startup tasks"},
    {".idea/startup.xml", kFile, "JetBrains IDEs", "runs tasks when the project is opened"},
    {".idea/watcherTasks.xml", kFile, "JetBrains IDEs", "runs programs when a file is saved"},
    {".idea/vcs.xml", kFile, "JetBrains IDEs", "names directories in which git is run"},
    {".idea/runConfigurations", kTree, "JetBrains IDEs", "startup tasks run them"},
    {".run", kTree, "JetBrains IDEs", "startup tasks run them"},
    {".externalToolBuilders", kTree, "Eclipse", "automatic builds run them"},
    {".air/mcp.json", kFile, "JetBrains Air", kStartsServers},
    {".zed/settings.json", kFile, "Zed", "names the language servers that it starts"},
    {".zed/tasks.json", kFile, "Zed", "runs tasks when a worktree is made"},
    {".zed/debug.json", kFile, "Zed", "names the programs that it starts"},
    {".helix/languages.toml", kFile, "Helix", kStartsLanguage},
    {".Rprofile", kFile, "RStudio and R", "executed when R starts in the directory"},
    {".Renviron", kFile, "RStudio and R", "the environment in which R starts"},

    {"opencode.json", kFile, "OpenCode", kStartsServers},
    {"opencode.jsonc", kFile, "OpenCode", kStartsServers},
    {".opencode/opencode.json", kFile, "OpenCode", kStartsServers},
    {".opencode/opencode.jsonc", kFile, "OpenCode", kStartsServers},
    {".opencode/package.json", kFile, "OpenCode", "installs what it names when it starts"},
    {".opencode/plugin", kTree, "OpenCode", kLoaded},
    {".opencode/plugins", kTree, "OpenCode", kLoaded},
    {".opencode/tool", kTree, "OpenCode", kLoaded},
    {".opencode/tools", kTree, "OpenCode", kLoaded},
    {".opencode/command", kTree, "OpenCode", kCommands},
    {".opencode/commands", kTree, "OpenCode", kCommands},
    {".opencode/agent", kTree, "OpenCode", kPermits},
    {".opencode/agents", kTree, "OpenCode", kPermits},
    {"kilo.json", kFile, "Kilo Code", kStartsServers},
    {"kilo.jsonc", kFile, "Kilo Code", kStartsServers},
    {".kilo/kilo.json", kFile, "Kilo Code", kStartsServers},
    {".kilo/kilo.jsonc", kFile, "Kilo Code", kStartsServers},
    {".kilo/setup-script", kFile, "Kilo Code", "run in each worktree that it makes"},
    {".kilo/setup-script.sh", kFile, "Kilo Code", "run in each worktree that it makes"},
    {".kilo/plugin", kTree, "Kilo Code", kLoaded},
    {".kilo/plugins", kTree, "Kilo Code", kLoaded},
    {".kilo/tool", kTree, "Kilo Code", kLoaded},
    {".kilo/tools", kTree, "Kilo Code", kLoaded},
    {".kilo/command", kTree, "Kilo Code", kCommands},
    {".kilo/commands", kTree, "Kilo Code", kCommands},
    {".kilo/agent", kTree, "Kilo Code", kPermits},
    {".kilo/agents", kTree, "Kilo Code", kPermits},
    {".kilocode/mcp.json", kFile, "Kilo Code", kStartsServers},
    {".kilocode/command", kTree, "Kilo Code", kCommands},
    {".kilocode/commands", kTree, "Kilo Code", kCommands},
    {".kilocode/agent", kTree, "Kilo Code", kPermits},
    {".kilocode/agents", kTree, "Kilo Code", kPermits},
    {".crushrc", kFile, "Crush", "a shell script that it runs when it starts"},
    {"crushrc", kFile, "Crush", "a shell script that it runs when it starts"},
    {".crush.json", kFile, "Crush", kStartsServers},
    {"crush.json", kFile, "Crush", kStartsServers},
    {".pi/settings.json", kFile, "Pi", "loads the extensions and packages that it names"},
    {".pi/mcp.json", kFile, "Pi", kStartsServers},
    {".pi/extensions", kTree, "Pi", kLoaded},
    {".continue/mcpServers", kTree, "Continue", kStartsTheirs},
    {".factory/mcp.json", kFile, "Factory", kStartsServers},
    {".factory/settings.json", kFile, "Factory", kRunsHooks},
    {".factory/hooks.json", kFile, "Factory", kRunsHooks},
    {".factory/hooks", kTree, "Factory", kHookScripts},
    {".augment/settings.json", kFile, "Augment", kStartsServers},
    {".augment/settings.local.json", kFile, "Augment", kStartsServers},
    {".trae/mcp.json", kFile, "Trae", kStartsServers},
    {".warp/.mcp.json", kFile, "Warp", kStartsServers},
    {".kiro/settings/mcp.json", kFile, "Kiro", kStartsServers},
    {".kiro/settings/lsp.json", kFile, "Kiro", kStartsLanguage},
    {".kiro/agents", kTree, "Kiro", kAgents},
    {".kiro/hooks", kTree, "Kiro", kRunsHooks},
    {".windsurf/hooks.json", kFile, "Windsurf", kRunsHooks},
    {".amazonq/mcp.json", kFile, "Amazon Q", kStartsServers},
    {".amazonq/default.json", kFile, "Amazon Q", kStartsServers},
    {".amazonq/agents", kTree, "Amazon Q", kAgents},
    {".amazonq/cli-agents", kTree, "Amazon Q", kAgents},
    {".roo/mcp.json", kFile, "Roo Code", kStartsServers},
    {".clinerules/hooks", kTree, "Cline", kHookScripts},
    {".junie/mcp/mcp.json", kFile, "Junie", kStartsServers},
    {".aider.conf.yml", kFile, "Aider", "runs lint-cmd and test-cmd after each edit"},

    {".envrc", kFile, "direnv", kOnEntering},
    {"mise.toml", kFile, "mise", kOnEntering},
    {"mise.local.toml", kFile, "mise", kOnEntering},
    {".mise.toml", kFile, "mise", kOnEntering},
    {".mise.local.toml", kFile, "mise", kOnEntering},
    {"mise/config.toml", kFile, "mise", kOnEntering},
    {"mise/config.local.toml", kFile, "mise", kOnEntering},
    {".mise/config.toml", kFile, "mise", kOnEntering},
    {".mise/config.local.toml", kFile, "mise", kOnEntering},
    {".config/mise.toml", kFile, "mise", kOnEntering},
    {".config/mise.local.toml", kFile, "mise", kOnEntering},
    {".config/mise/config.toml", kFile, "mise", kOnEntering},
    {".config/mise/config.local.toml", kFile, "mise", kOnEntering},
    {".config/mise/mise.toml", kFile, "mise", kOnEntering},
    {".config/mise/mise.local.toml", kFile, "mise", kOnEntering},
    {".rtx.toml", kFile, "mise", kOnEntering},
    {".rtx.local.toml", kFile, "mise", kOnEntering},
    {".config/mise/conf.d", kTree, "mise", kOnEntering},
    {".miserc.toml", kFile, "mise", "says which of its files count"},

    {".hg/hgrc", kFile, "Mercurial", kRunsHooks},
    {".hg/hgrc-not-shared", kFile, "Mercurial", kRunsHooks},
    {".hg/sharedpath", kFile, "Mercurial", "names the directory of its configuration"},
    {".jj/repo/config.toml", kFile, "Jujutsu", "names the programs that it starts"},

    {".bashrc", kFile, "bash", kShellStart, kHome},
    {".bash_profile", kFile, "bash", kShellStart, kHome},
    {".bash_login", kFile, "bash", kShellStart, kHome},
    {".bash_logout", kFile, "bash", "executed when a shell ends", kHome},
    {".profile", kFile, "the shell", kShellStart, kHome},
    {".zshenv", kFile, "zsh", kShellStart, kHome},
    {".zprofile", kFile, "zsh", kShellStart, kHome},
    {".zshrc", kFile, "zsh", kShellStart, kHome},
    {".zlogin", kFile, "zsh", kShellStart, kHome},
    {".config/fish/config.fish", kFile, "fish", kShellStart, kHome},
    {".config/fish/conf.d", kTree, "fish", kShellStart, kHome},
    {".config/autostart", kTree, "the desktop", "executed at login", kHome},
    {".config/environment.d", kTree, "systemd", "the environment of all that it starts", kHome},
    {".config/systemd/user", kTree, "systemd", "units that it starts", kHome},
    {".ssh/config", kFile, "ssh", "names programs that it starts", kHome},
    {".ssh/rc", kFile, "sshd", "executed at login", kHome},
    {".ssh/authorized_keys", kFile, "sshd", "says who may log in", kHome},
    {".claude.json", kFile, "Claude Code", kStartsServers, kHome},
    {".config/Claude/claude_desktop_config.json", kFile, "Claude Desktop", kStartsServers, kHome,
     true},
};

// What package managers fill.
constexpr std::string_view kPackages[] = {
    "node_modules", "bower_components", "vendor",        "third_party", "third-party", "thirdparty",
    "_deps",        "site-packages",    "dist-packages", ".venv",       "venv",        "Pods"};

}  // namespace

std::string HostFile::Reason() const {
  return "executed by " + std::string(host) + " (" + std::string(why) + ")";
}

std::string HostFile::Line() const {
  return ours ? "" : "filesystem: {unprotect: [" + std::string(path) + "]}";
}

std::string HostFile::HowToUnprotect() const {
  return ours ? "it configures how this server starts, so no policy can unprotect it"
              : "a policy unprotects it with " + Line();
}

std::span<const HostFile> HostFiles() { return kHostFiles; }

const HostFile* FindHostFile(std::string_view path) {
  const auto* found = std::ranges::find(kHostFiles, path, &HostFile::path);
  return found == std::end(kHostFiles) ? nullptr : found;
}

std::string CheckUnprotected(std::string_view path) {
  const HostFile* file = FindHostFile(path);
  if (file == nullptr) {
    std::vector<std::string_view> names;
    for (const HostFile& one : kHostFiles) names.push_back(one.path);
    return "'" + std::string(path) + "' is not protected by default" + DidYouMean(path, names);
  }
  if (!file->ours) return "";
  return "'" + std::string(path) + "' cannot be unprotected: it configures how this server starts";
}

bool HoldsPackages(const std::string& path, const std::string& top) {
  if (path == top || !IsBeneath(path, top)) return false;
  const std::string below = path.substr(top == "/" ? 0 : top.size()) + "/";
  return std::ranges::any_of(kPackages, [&](std::string_view name) {
    return below.contains("/" + std::string(name) + "/");
  });
}

}  // namespace pa::policy
