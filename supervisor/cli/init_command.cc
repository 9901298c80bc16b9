#include "supervisor/cli/init_command.h"

#include <fmt/format.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/utf8.h"
#include "base/words.h"
#include "policy/load.h"
#include "policy/path.h"
#include "policy/trust_anchors.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/cli/terminal_approver.h"
#include "supervisor/clients/user_file.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/text/line_diff.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr int kNotWritten = 1;

constexpr std::string_view kWorkspaceFolder = "${workspaceFolder}";

// As the examples of docs/clients.md have it.
constexpr const char* kUsualTools[] = {"make", "makefile_generate", "git_add", "git_commit"};

std::string Absolute(const std::string& path) {
  std::error_code failed;
  std::string absolute = fs::absolute(path, failed).lexically_normal();
  if (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
  return absolute;
}

// By its name where the PATH leads to it; else the client would start another one, or none. Nor
// where a command could lay one into a directory before it (an active venv), or into the one in
// which the client happens to be.
std::string OurProgram(const Environment& environment, const policy::Policy& policy) {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  const auto set = environment.find("PATH");
  const std::string path = set == environment.end() ? "" : set->second;
  for (const std::string_view entry : PathEntries(path)) {
    const fs::path place(entry);
    const fs::path program = place / self.filename();
    if (!place.is_absolute() || policy::WhereCommandsWrite(policy, program)) return self;
    if (fs::equivalent(program, self, failed)) return self.filename();
    if (access(program.c_str(), X_OK) == 0) return self;
  }
  return self;
}

// With what stands for options that are not given: what the client shall serve.
CommonOptions Completed(const Client& client, CommonOptions options, const std::string& project) {
  for (std::string& root : options.roots) root = Absolute(root);
  if (options.roots.empty() && client.root != Client::Root::kItsOwn) options.roots = {project};
  if (options.policy_file) options.policy_file = Absolute(*options.policy_file);
  if (options.worker) options.worker = Absolute(*options.worker);
  // A policy that is named says itself which tools are on.
  if (options.enable.empty() && !options.policy_file) {
    options.enable.assign(std::begin(kUsualTools), std::end(kUsualTools));
  }
  return options;
}

// What no text holds, and what the client would read as something else.
std::string WhyUnwritable(const Client& client, const ServerEntry& entry) {
  std::vector<std::string> words = entry.args;
  words.push_back(entry.command);
  for (const std::string& word : words) {
    const bool ours = word == kWorkspaceFolder;
    if (!IsValidUtf8(word)) {
      return "'" + VisibleText(word) + "' is not UTF-8, and the configuration must be";
    }
    if (client.variables && !ours && word.contains('$')) {
      return "'" + VisibleText(word) + "' has a $, which " + std::string(client.title) +
             " takes for the beginning of a variable; give it another name, or a symlink";
    }
  }
  return "";
}

void PrintProblem(const std::string& problem) {
  fmt::print(stderr, "{}; nothing was written\n", problem);
}

// What the server would start with; nothing: it would not.
policy::PolicyPtr WouldServe(const CommonOptions& options, const Environment& environment) {
  policy::LoadedPolicy loaded = policy::LoadPolicy(SourcesOf(options, environment));
  for (const auto& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}\n", diagnostic.Format());
  }
  if (!loaded.policy) {
    PrintProblem("the server would not start with this policy and these options");
    return nullptr;
  }
  for (const auto& warning : loaded.warnings)
    fmt::print(stderr, "warning: {}\n", VisibleText(warning.Format()));
  LogSources(*loaded.policy);
  return loaded.policy;
}

// The diff is what a person reads before saying yes: what a project's file holds cannot hide a part
// of it.
std::string Shown(const std::string& diff) {
  std::string out;
  for (std::string_view line : SplitLines(diff)) {
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    for (std::size_t tab = 0; (tab = line.find('\t')) != std::string_view::npos;) {
      out += VisibleText(line.substr(0, tab)) + "\t";
      line.remove_prefix(tab + 1);
    }
    out += VisibleText(line) + "\n";
  }
  return out;
}

// Why it shall not be written; "" = it shall.
std::string Confirm(const InitCommand& command, bool attended) {
  if (command.yes) return "";
  if (!attended) return "no terminal to ask on; --yes writes without asking";
  tcflush(STDIN_FILENO, TCIFLUSH);  // what was typed before is no answer
  fmt::print(stderr, "Write this? [y/N] ");
  return ReadAnswer(STDIN_FILENO) == Answer::kAccept ? "" : "as you say";
}

int Write(const InitCommand& command, const Client& client, const std::string& path,
          const UserFile& file, const std::string& now) {
  const bool attended =
      isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
  const std::string diff = UnifiedDiff(file.exists ? file.path : "/dev/null", file.path,
                                       file.content, now, 2 * kMaxUserFile);
  fmt::print("{}", isatty(STDOUT_FILENO) != 0 ? Shown(diff) : diff);
  if (file.path != path) {
    fmt::print("{} leads to {}, which is changed\n", VisibleText(path), VisibleText(file.path));
  }
  (void)fflush(stdout);
  if (const std::string why = Confirm(command, attended); !why.empty()) {
    PrintProblem(why);
    return kNotWritten;
  }
  if (const Result<void> written = ReplaceUserFile(file, now); !written) {
    PrintProblem(written.error().sys_errno == ESTALE
                     ? VisibleText(file.path) + " was changed in the meantime; run this again"
                     : written.error().Message());
    return kNotWritten;
  }
  fmt::print("{}: project-actions is entered for {}\n", VisibleText(path), client.title);
  return 0;
}

int Enter(const InitCommand& command, const Client& client, const ServerEntry& entry,
          const std::string& path, const std::string& base) {
  // In the home a symlink is the user's own; in a project an agent may have made it, to have this
  // write elsewhere.
  if (client.base == Client::Base::kProject &&
      policy::ResolvePath(path) != policy::ResolvePath(base) + "/" + std::string(client.file)) {
    PrintProblem(VisibleText(path) +
                 " is reached through a symlink in the project; make it a file");
    return kNotWritten;
  }
  const Result<UserFile> file = ReadUserFile(path, base);
  if (!file) {
    PrintProblem(file.error().Message());
    return kNotWritten;
  }
  const auto now = MergeInto(file->content, client, entry);
  if (!now) {
    const LineAndColumn place = PlaceOf(file->content, now.error().at);
    PrintProblem(fmt::format("{}:{}:{}: {}", VisibleText(file->path), place.line, place.column,
                             now.error().message));
    return kNotWritten;
  }
  if (*now == file->content && file->exists) {
    fmt::print("{}: nothing has to change for {}\n", VisibleText(path), client.title);
    return 0;
  }
  return Write(command, client, path, *file, *now);
}

}  // namespace

std::expected<ServerEntry, std::string> EntryFor(const Client& client, const CommonOptions& options,
                                                 const std::string& program) {
  ServerEntry entry{.section = std::string(client.section),
                    .name = std::string(kServerName),
                    .command = program,
                    .args = {"serve"},
                    .with_type = client.with_type,
                    .tool_timeout_sec = client.tool_timeout_sec};
  const auto add = [&](const char* option, std::string value) {
    entry.args.insert(entry.args.end(), {option, std::move(value)});
  };
  for (const std::string& root : options.roots) {
    const bool project = root == options.roots[0];
    // The client starts the server in the project.
    if (project && client.root == Client::Root::kItsOwn && options.roots.size() == 1) continue;
    const bool word = project && client.root == Client::Root::kWorkspaceFolder;
    add("--root", word ? std::string(kWorkspaceFolder) : root);
  }
  std::string tools;
  for (const std::string& tool : options.enable) tools += (tools.empty() ? "" : ",") + tool;
  if (!tools.empty()) add("--enable", tools);
  if (options.policy_file) add("--policy", *options.policy_file);
  if (options.worker) add("--worker", *options.worker);
  if (std::string why = WhyUnwritable(client, entry); !why.empty()) {
    return std::unexpected(std::move(why));
  }
  return entry;
}

int RunInit(const InitCommand& command, const Environment& environment) {
  const Client& client = *FindClient(command.client);
  const std::string project =
      Absolute(command.common.roots.empty() ? "." : command.common.roots[0]);
  const CommonOptions options = Completed(client, command.common, project);
  const policy::PolicyPtr policy = WouldServe(options, environment);
  if (!policy) return kNotWritten;
  const auto entry = EntryFor(client, options, OurProgram(environment, *policy));
  if (!entry) {
    PrintProblem(entry.error());
    return kNotWritten;
  }
  if (command.print) {
    fmt::print("{}", *MergeInto("", client, *entry));
    fmt::print(stderr, "{}.\n", client.bypass);  // standard output is the entry alone
    return 0;
  }
  const ConfigBases bases{.project = project,
                          .config_home = ConfigHome(environment),
                          .codex_home = CodexHome(environment)};
  const int status =
      Enter(command, client, *entry, ConfigFile(client, bases), BaseOf(client, bases));
  if (status != 0) return status;
  fmt::print("next: {}\n", fmt::format(fmt::runtime(client.next), project));
  fmt::print("{}.\n", client.bypass);
  fmt::print("`project-actions doctor` says what this machine enforces.\n");
  return status;
}

}  // namespace pa
