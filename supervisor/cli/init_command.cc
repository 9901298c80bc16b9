#include "supervisor/cli/init_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "base/words.h"
#include "policy/load.h"
#include "policy/path.h"
#include "policy/trust_anchors.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/cli/confirmed_write.h"
#include "supervisor/cli/written_switches.h"
#include "supervisor/clients/user_file.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/state/state_directory.h"
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

// Of this directory, whatever that of the client is.
CommonOptions Spelled(const Client& client, CommonOptions options, const std::string& project) {
  for (std::string& root : options.roots) root = Absolute(root);
  if (options.roots.empty() && client.root != Client::Root::kItsOwn) options.roots = {project};
  if (options.policy_file) options.policy_file = Absolute(*options.policy_file);
  if (options.worker) options.worker = Absolute(*options.worker);
  return options;
}

// With what stands for tools that are not named. A policy that is named says itself which are on.
CommonOptions WithTools(CommonOptions options) {
  if (options.enable.empty() && !options.policy_file) {
    options.enable.assign(std::begin(kUsualTools), std::end(kUsualTools));
  }
  return options;
}

// What an entry of ours passes to `serve` already. Nothing: there is none, or it is another
// command.
std::optional<CommonOptions> EarlierIn(const Client& client, const std::string& text) {
  const auto args = ArgsIn(text, client, kServerName);
  if (!args) return std::nullopt;
  std::vector<const char*> words = {"project-actions"};
  for (const std::string& arg : *args) words.push_back(arg.c_str());
  ParsedCommandLine parsed = ParseCommandLine(static_cast<int>(words.size()), words.data());
  if (!parsed.command || !std::holds_alternative<ServeCommand>(*parsed.command)) {
    return std::nullopt;
  }
  return std::get<ServeCommand>(*std::move(parsed.command)).common;
}

// A file in the home has one entry for all projects: this one comes to those that it names and that
// are still there, and what is not given now stays.
CommonOptions WithEarlier(CommonOptions options, const CommonOptions& earlier) {
  std::vector<std::string> roots;
  for (const std::string& root : earlier.roots) {
    if (!root.starts_with('/') || policy::IsDirectory(root)) roots.push_back(root);
  }
  for (const std::string& root : options.roots) {
    if (std::ranges::find(roots, root) == roots.end()) roots.push_back(root);
  }
  options.roots = std::move(roots);
  if (options.enable.empty() && !options.policy_file) options.enable = earlier.enable;
  if (!options.policy_file) options.policy_file = earlier.policy_file;
  if (!options.worker) options.worker = earlier.worker;
  return options;
}

// What no text holds, and what the client would read as something else.
std::string WhyUnwritable(const Client& client, const ServerEntry& entry) {
  std::vector<std::string> words = entry.args;
  words.push_back(entry.command);
  words.push_back(entry.url);
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

// What the server would start with; nothing: it would not.
policy::PolicyPtr WouldServe(const CommonOptions& options, const Environment& environment) {
  policy::LoadedPolicy loaded = policy::LoadPolicy(SourcesOf(options, environment));
  for (const auto& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}\n", diagnostic.Format());
  }
  if (!loaded.policy) {
    PrintUnwritten("the server would not start with this policy and these options");
    return nullptr;
  }
  for (const auto& warning : loaded.warnings)
    fmt::print(stderr, "warning: {}\n", VisibleText(warning.Format()));
  LogSources(*loaded.policy);
  return loaded.policy;
}

// `file` of the client, relative to `base`. An error was printed.
std::optional<UserFileChange> Read(const Client& client, std::string_view file,
                                   const std::string& base) {
  const std::string path = base + "/" + std::string(file);
  // In the home a symlink is the user's own; in a project an agent may have made it, to have this
  // write elsewhere.
  if (client.base == Client::Base::kProject &&
      policy::ResolvePath(path) != policy::ResolvePath(base) + "/" + std::string(file)) {
    PrintUnwritten(VisibleText(path) +
                   " is reached through a symlink in the project; make it a file");
    return std::nullopt;
  }
  Result<UserFile> read = ReadUserFile(path, base);
  if (read) return UserFileChange{.path = path, .file = *read, .now = read->content};
  PrintUnwritten(read.error().Message());
  return std::nullopt;
}

// Takes `edited` into the change. False: it is an error, which was printed.
bool Take(UserFileChange& change, std::expected<std::string, TextProblem> edited) {
  if (edited) {
    change.now = *std::move(edited);
    return true;
  }
  const LineAndColumn place = PlaceOf(change.file.content, edited.error().at);
  PrintUnwritten(fmt::format("{}:{}:{}: {}", VisibleText(change.file.path), place.line,
                             place.column, edited.error().message));
  return false;
}

// The files that a run is about.
struct Files {
  UserFileChange entry;
  std::optional<UserFileChange> own;  // settings of the client, if they are another file

  // Of the client's own settings.
  UserFileChange& settings() { return own ? *own : entry; }
  std::vector<UserFileChange> Changed() const {
    std::vector<UserFileChange> changed;
    const auto add = [&](const UserFileChange& change) {
      if (change.now != change.file.content) changed.push_back(change);
    };
    add(entry);
    if (own) add(*own);
    return changed;
  }
};

// `with_own`: the client's own settings, too. An error was printed.
std::optional<Files> ReadFiles(const Client& client, const std::string& base, bool with_own) {
  std::optional<UserFileChange> entry = Read(client, client.file, base);
  if (!entry) return std::nullopt;
  Files files{.entry = *std::move(entry), .own = std::nullopt};
  const std::string_view own = client.own_tools.file;
  if (!with_own || own.empty() || own == client.file) return files;
  files.own = Read(client, own, base);
  return files.own ? std::optional(std::move(files)) : std::nullopt;
}

// `MCP is at /mcp`, whatever the user has left out.
std::string WithPath(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return std::ranges::count(url, '/') == 2 ? url + "/mcp" : url;
}

// A server that runs already, with options of its own.
bool IsOfServerThatRuns(const Client& client, const std::string& text) {
  const auto args = ArgsIn(text, client, kServerName);
  const bool connects = args && !args->empty() && args->front() == "connect";
  return connects || SendsOurToken(text, client, kServerName);
}

std::string RecordOf(const Environment& environment) {
  return PathInState(StateHome(environment), "clients") + "/switches.json";
}

// Shows, asks and writes. `switches`: what of ours the client's own settings then have.
int Write(const InitCommand& command, const Client& client, Files& files,
          const std::optional<std::vector<std::string>>& switches, const Environment& environment) {
  const std::vector<UserFileChange> changes = files.Changed();
  if (changes.empty()) {
    fmt::print("{}: nothing has to change for {}\n", VisibleText(files.entry.path), client.title);
  } else if (!WriteConfirmed(changes, command.yes)) {
    return kNotWritten;
  }
  if (!switches) return 0;
  const Result<void> kept =
      KeepWrittenSwitches(RecordOf(environment), files.settings().file.path, *switches);
  if (!kept) {
    fmt::print(stderr, "warning: `init --remove` will not know what to remove from {}: {}\n",
               VisibleText(files.settings().path), VisibleText(kept.error().Message()));
  }
  return 0;
}

// The entry for a server that listens. An error was printed.
std::optional<ServerEntry> EntryOfUrl(const Client& client, const std::string& url,
                                      const CommonOptions& options,
                                      const Environment& environment) {
  ServerEntry entry{.section = std::string(client.section), .name = std::string(kServerName)};
  entry.tool_timeout_sec = client.tool_timeout_sec;
  if (url.starts_with("unix:")) {
    const policy::PolicyPtr policy = WouldServe(options, environment);
    if (!policy) return std::nullopt;
    entry.command = OurProgram(environment, *policy);
    entry.args = {"connect", "unix:" + Absolute(url.substr(5))};
    entry.with_type = client.with_type;
  } else if (client.url_key.empty()) {
    PrintUnwritten(std::string(client.title) +
                   " only starts programs: pass --url unix:PATH, for which it starts `connect`");
    return std::nullopt;
  } else {
    entry.url = WithPath(url);
    entry.url_key = client.url_key;
    entry.with_type = client.url_with_type;
    entry.authorization = client.authorization;
  }
  std::string why = WhyUnwritable(client, entry);
  if (why.empty()) return entry;
  PrintUnwritten(why);
  return std::nullopt;
}

// The entry for these options, if a server would start with them. An error was printed.
std::optional<ServerEntry> EntryOrSay(const Client& client, const CommonOptions& options,
                                      const Environment& environment) {
  const policy::PolicyPtr policy = WouldServe(options, environment);
  if (!policy) return std::nullopt;
  auto entry = EntryFor(client, options, OurProgram(environment, *policy));
  if (entry) return *std::move(entry);
  PrintUnwritten(entry.error());
  return std::nullopt;
}

std::optional<ServerEntry> EntryOf(const InitCommand& command, const Client& client,
                                   CommonOptions options, const Environment& environment) {
  return command.url.empty() ? EntryOrSay(client, WithTools(std::move(options)), environment)
                             : EntryOfUrl(client, command.url, options, environment);
}

// Of what these settings switch off, what an earlier init wrote. An error was printed.
std::optional<std::vector<std::string>> OursIn(const UserFileChange& settings,
                                               const Environment& environment) {
  auto ours = ReadWrittenSwitches(RecordOf(environment), settings.file.path);
  if (ours) return *std::move(ours);
  PrintUnwritten(VisibleText(ours.error().Message()));
  return std::nullopt;
}

// What switches the client's own tools off, into its settings; the result: what of that is ours. An
// error was printed.
std::optional<std::vector<std::string>> SwitchOff(const Client& client, UserFileChange& settings,
                                                  const Environment& environment) {
  const std::vector<std::string> there = SwitchesIn(settings.now, client);
  std::optional<std::vector<std::string>> ours = OursIn(settings, environment);
  if (!ours) return std::nullopt;
  std::vector<std::string> missing;
  for (std::string& name : SwitchesOf(client)) {
    if (std::ranges::find(there, name) == there.end()) missing.push_back(std::move(name));
  }
  if (!Take(settings, WithSwitches(settings.now, client, missing))) return std::nullopt;
  std::erase_if(*ours, [&](const std::string& name) {
    return std::ranges::find(missing, name) != missing.end();
  });
  ours->insert(ours->end(), missing.begin(), missing.end());
  return ours;
}

void SayWhatIsOff(const Client& client, const UserFileChange& settings) {
  fmt::print("{}: {}'s own tools are switched off: {}\n", VisibleText(settings.path), client.title,
             fmt::join(SwitchesOf(client), ", "));
  if (!client.own_tools.rest.empty()) fmt::print("{}.\n", client.own_tools.rest);
}

int RunEnter(const InitCommand& command, const Client& client, const ConfigBases& bases,
             CommonOptions options, const Environment& environment) {
  std::optional<Files> files = ReadFiles(client, BaseOf(client, bases), command.exclusive);
  if (!files) return kNotWritten;
  const auto earlier = EarlierIn(client, files->entry.file.content);
  if (earlier && client.base != Client::Base::kProject) {
    options = WithEarlier(std::move(options), *earlier);
  }
  const auto entry = EntryOf(command, client, std::move(options), environment);
  if (!entry) return kNotWritten;
  if (!Take(files->entry, MergeInto(files->entry.now, client, *entry))) return kNotWritten;
  const bool is_new = files->entry.now != files->entry.file.content;
  std::optional<std::vector<std::string>> switches;
  if (command.exclusive) {
    switches = SwitchOff(client, files->settings(), environment);
    if (!switches) return kNotWritten;
  }
  const int status = Write(command, client, *files, switches, environment);
  if (status != 0) return status;
  if (is_new) {
    fmt::print("{}: project-actions is entered for {}\n", VisibleText(files->entry.path),
               client.title);
  }
  if (command.exclusive) SayWhatIsOff(client, files->settings());
  if (!entry->url.empty()) {
    fmt::print(
        "next: `project-actions token new {}` makes a token; have it in "
        "PROJECT_ACTIONS_TOKEN where the client is started\n",
        client.name);
  }
  fmt::print("next: {}\n", fmt::format(fmt::runtime(client.next), bases.project));
  if (!command.exclusive) fmt::print("{}.\n", client.bypass);
  fmt::print("`project-actions doctor` says what this machine enforces.\n");
  return 0;
}

// The entry without this project; without any other the whole of it, and what --exclusive has
// written. An error was printed.
bool TakeAway(const Client& client, Files& files, const CommonOptions& options,
              const Environment& environment, bool* wholly) {
  auto earlier = EarlierIn(client, files.entry.file.content);
  *wholly = true;
  if (earlier && client.base != Client::Base::kProject && !earlier->roots.empty()) {
    const auto is_ours = [&](const std::string& root) {
      return std::ranges::find(options.roots, root) != options.roots.end();
    };
    const std::size_t gone = std::erase_if(earlier->roots, is_ours);
    *wholly = earlier->roots.empty();
    if (!*wholly) {
      if (gone == 0) return true;
      const auto entry = EntryOrSay(client, *earlier, environment);
      return entry && Take(files.entry, MergeInto(files.entry.now, client, *entry));
    }
  }
  if (!Take(files.entry, WithoutEntry(files.entry.now, client, kServerName))) return false;
  if (!earlier && !IsOfServerThatRuns(client, files.entry.file.content) &&
      files.entry.now != files.entry.file.content) {
    PrintUnwritten(VisibleText(files.entry.path) +
                   ": its entry project-actions is not one of init's; remove it by hand");
    return false;
  }
  UserFileChange& settings = files.settings();
  const std::optional<std::vector<std::string>> ours = OursIn(settings, environment);
  return ours && (ours->empty() || Take(settings, WithoutSwitches(settings.now, client, *ours)));
}

int RunRemove(const InitCommand& command, const Client& client, const ConfigBases& bases,
              const CommonOptions& options, const Environment& environment) {
  std::optional<Files> files = ReadFiles(client, BaseOf(client, bases), true);
  bool wholly = false;
  if (!files || !TakeAway(client, *files, options, environment, &wholly)) return kNotWritten;
  const bool changes = !files->Changed().empty();
  const auto none = wholly && changes ? std::optional(std::vector<std::string>()) : std::nullopt;
  const int status = Write(command, client, *files, none, environment);
  if (status == 0 && changes) {
    fmt::print("{}: project-actions is removed for {}\n", VisibleText(files->entry.path),
               client.title);
  }
  return status;
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
  CommonOptions options = Spelled(client, command.common, project);
  if (command.print) {
    const auto entry = EntryOf(command, client, std::move(options), environment);
    if (!entry) return kNotWritten;
    fmt::print("{}", *MergeInto("", client, *entry));
    fmt::print(stderr, "{}.\n", client.bypass);  // standard output is the entry alone
    return 0;
  }
  if (command.exclusive && client.own_tools.file.empty()) {
    PrintUnwritten(std::string(client.own_tools.rest));
    return kNotWritten;
  }
  const ConfigBases bases{.project = project,
                          .config_home = ConfigHome(environment),
                          .codex_home = CodexHome(environment)};
  if (command.remove) return RunRemove(command, client, bases, options, environment);
  return RunEnter(command, client, bases, std::move(options), environment);
}

}  // namespace pa
