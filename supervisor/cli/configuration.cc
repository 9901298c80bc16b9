#include "supervisor/cli/configuration.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/path_stamp.h"
#include "supervisor/call/tool.h"
#include "supervisor/clients/client_config.h"
#include "supervisor/loop/log.h"
#include "supervisor/state/token_file.h"
#include "supervisor/tools/registry.h"

namespace pa {
namespace {

using Anchors = std::vector<policy::TrustAnchor>;
using Anchor = policy::TrustAnchor::Kind;

// Beside our own executable, as in a build folder, and where it is installed.
std::vector<std::string> WorkerPlaces(const std::optional<std::string>& given) {
  if (given) return {AbsoluteFromStart(*given)};
  std::vector<std::string> bases = {PROJECT_ACTIONS_LIBEXECDIR "/project-actions-worker"};
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const auto folder = self.parent_path().parent_path();
    bases.insert(bases.begin(), (folder / "worker/project-actions-worker").string());
  }
  return bases;
}

void AddExecutable(Anchors& anchors) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) anchors.emplace_back(Anchor::kExecutable, self);
  // The name by which we were started, which may be a symlink.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): as the C library hands it out
  const auto* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  std::string started = name == nullptr ? self.string() : AbsoluteFromStart(name);
  if (started != self) anchors.emplace_back(Anchor::kExecutable, std::move(started));
}

// Where the clients of the home learn what to start: what init writes, seen from the home, and what
// else is the user's own. ~/.claude.json is not among them: Claude Code writes it all the time.
// With the home as a root it is a host file.
void AddClients(const Environment& environment, Anchors& anchors) {
  const std::string home = HomeDirectory(environment);
  const ConfigBases bases{.project = home,
                          .config_home = ConfigHome(environment),
                          .codex_home = CodexHome(environment)};
  for (const Client& client : Clients()) {
    anchors.emplace_back(Anchor::kClient, ConfigFile(client, bases));
  }
  anchors.emplace_back(Anchor::kClient, home + "/.claude/settings.json");
  anchors.emplace_back(Anchor::kClient, ConfigHome(environment) + "/Code/User/mcp.json");
}

void AddLibraries(const Environment& environment, Anchors& anchors) {
  struct Variable {
    const char* name;
    const char* separators;
    bool directories;
  };
  // As ld.so(8) has it. A relative directory, and an empty entry, is sought where the server is
  // started; of the others, what has no slash is looked for in directories.
  for (const Variable& variable : {Variable{"LD_LIBRARY_PATH", ":;", true},
                                   {"LD_PRELOAD", ": ", false},
                                   {"LD_AUDIT", ":", false}}) {
    const auto all = GetVariable(environment, variable.name);
    if (!all) continue;
    for (std::size_t start = 0; start <= all->size();) {
      const std::size_t end = std::min(all->find_first_of(variable.separators, start), all->size());
      const std::string entry = all->substr(start, end - start);
      if (variable.directories || entry.contains('/')) {
        anchors.emplace_back(Anchor::kLibraries,
                             entry.empty() ? StartDirectory() : AbsoluteFromStart(entry));
      }
      start = end + 1;
    }
  }
}

Anchors AnchorsOf(const CommonOptions& options, const Environment& environment) {
  Anchors anchors;
  AddExecutable(anchors);
  for (std::string& place : WorkerPlaces(options.worker)) {
    anchors.emplace_back(Anchor::kWorker, std::move(place));
  }
  AddClients(environment, anchors);
  AddLibraries(environment, anchors);
  // The tokens of every server of this user. A user without tokens may work in the whole home.
  const std::string tokens = TokenDirectory(StateHome(environment));
  const bool there = !LookAt(tokens).IsAbsent();
  anchors.emplace_back(there ? Anchor::kTokens : Anchor::kFutureTokens, tokens);
  return anchors;
}

}  // namespace

policy::PolicySources SourcesOf(const CommonOptions& options, const Environment& environment) {
  policy::PolicySources sources;
  sources.home = HomeDirectory(environment);
  sources.user_file = options.policy_file ? options.policy_file
                                          : GetVariable(environment, "PROJECT_ACTIONS_POLICY");
  sources.default_user_file = ConfigHome(environment) + "/project-actions/policy.yaml";
  sources.roots = options.roots;
  sources.enable = options.enable;
  sources.env_enable = GetVariable(environment, "ENABLE_ADDITIONAL_TOOLS");
  sources.env_commit_size = GetVariable(environment, "PROJECT_ACTIONS_MAX_COMMIT_SIZE");
  if (sources.user_file) sources.user_file = AbsoluteFromStart(*sources.user_file);
  sources.current_directory = StartDirectory();
  sources.variables = environment;
  for (const Tool* tool : AllTools()) {
    sources.known_tools.emplace_back(tool->name);
    if (tool->annotations.read_only) sources.read_only_tools.emplace_back(tool->name);
  }
  sources.anchors = AnchorsOf(options, environment);
  return sources;
}

Anchors AnchorsOfSockets(const std::vector<ListeningSocket>& sockets) {
  Anchors anchors;
  for (const ListeningSocket& socket : sockets) {
    const ListenAddress& address = socket.address;
    if (address.kind == ListenAddress::Kind::kUnix && !address.path.empty()) {
      anchors.emplace_back(Anchor::kSocket, address.path);
    }
  }
  return anchors;
}

policy::PolicySources SourcesElsewhere(const std::string& file, const Environment& environment) {
  policy::PolicySources sources = SourcesOf({}, environment);
  sources.env_enable.reset();
  sources.env_commit_size.reset();
  sources.user_file = file;
  // A file without roots works in the directory of whoever uses it, which need not be where it is
  // looked at.
  sources.current_directory = "/usr";
  sources.elsewhere = true;
  return sources;
}

Result<std::string> FindWorker(const std::optional<std::string>& given) {
  std::string looked;
  // Absolute, because the worker is started from another directory's descriptor.
  for (std::string& place : WorkerPlaces(given)) {
    if (access(place.c_str(), X_OK) == 0) return std::move(place);
    looked += (looked.empty() ? "" : " or ") + place;
  }
  return std::unexpected(Error("find worker", looked, errno));
}

Result<std::string> TemporaryBase(const policy::Policy& policy, const Environment& environment) {
  std::vector<std::string> bases = {"/tmp", "/var/tmp"};
  if (const auto set = GetVariable(environment, "TMPDIR"); set && set->starts_with('/')) {
    bases.insert(bases.begin(), *set);
  }
  std::string refused;
  for (std::string& base : bases) {
    const std::optional<std::string> place = policy::WhereCommandsWrite(policy, base);
    if (!place) return std::move(base);
    LogInfo(base + " is no TMPDIR for the server: commands can write there, in " + *place);
    refused += (refused.empty() ? "" : ", ") + base;
  }
  return std::unexpected(
      Error("no TMPDIR: set one where no command can write, which they can in", refused, EPERM));
}

void LogSources(const policy::Policy& policy) {
  for (const std::string& root : policy.roots) LogInfo("root: " + root);
  for (const std::string& source : policy.sources) LogInfo("policy: " + source);
  if (policy.sources.empty()) LogInfo("policy: built-in defaults");
}

Result<void> CheckProc(const std::string& proc) {
  if (access((proc + "/self/fd").c_str(), X_OK) == 0) return {};
  return std::unexpected(
      Error("/proc is missing, as in a bare chroot, or is another pid "
            "namespace's: mount it with `mount -t proc proc /proc`; look up",
            proc + "/self/fd", errno));
}

EngineParts PartsOf(policy::PolicyPtr policy, std::string worker, const Environment& environment) {
  std::string base = TemporaryBase(*policy, environment).value_or("/proc/no-TMPDIR");
  return {.policy = std::move(policy),
          .worker = std::move(worker),
          .tmp_base = std::move(base),
          .state_home = StateHome(environment)};
}

std::expected<EngineParts, std::vector<std::string>> LoadEngineParts(
    const CommonOptions& options, const Environment& environment,
    const std::vector<policy::TrustAnchor>& more) {
  if (const Result<void> proc = CheckProc(); !proc) {
    return std::unexpected(std::vector{proc.error().Message()});
  }
  policy::PolicySources sources = SourcesOf(options, environment);
  sources.anchors.insert(sources.anchors.end(), more.begin(), more.end());
  sources.opens_nothing = true;
  policy::LoadedPolicy loaded = policy::LoadPolicy(sources);
  std::vector<std::string> wrong;
  for (const policy::Diagnostic& diagnostic : loaded.diagnostics) {
    wrong.push_back(diagnostic.Format());
  }
  for (const policy::Diagnostic& warning : loaded.warnings) LogWarning(warning.Format());
  const Result<std::string> worker = FindWorker(options.worker);
  if (!worker) wrong.push_back(worker.error().Message());
  if (loaded.policy) {
    const Result<std::string> base = TemporaryBase(*loaded.policy, environment);
    if (!base) wrong.push_back(base.error().Message());
  }
  if (!wrong.empty()) return std::unexpected(std::move(wrong));
  LogSources(*loaded.policy);
  LogInfo("worker: " + *worker);
  return PartsOf(std::move(loaded.policy), *worker, environment);
}

Result<std::string> ClientToken(const Environment& environment) {
  std::string token = GetVariable(environment, "PROJECT_ACTIONS_TOKEN").value_or("");
  if (token.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos) return token;
  return std::unexpected(Error("PROJECT_ACTIONS_TOKEN holds more than a token", "", 0));
}

}  // namespace pa
