#include "supervisor/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "supervisor/log.h"
#include "supervisor/tool.h"

namespace pa {
namespace {

std::optional<std::string> Get(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

bool IsAbsolute(const std::string& path) { return !path.empty() && path[0] == '/'; }

}  // namespace

Environment ReadEnvironment(const char* const* entries) {
  Environment environment;
  for (; *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

std::string HomeDirectory(const Environment& environment) {
  const auto home = Get(environment, "HOME");
  if (home && IsAbsolute(*home)) return *home;
  const passwd* user = getpwuid(geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/nonexistent";
}

std::string ConfigHome(const Environment& environment) {
  const auto configured = Get(environment, "XDG_CONFIG_HOME");
  return configured && IsAbsolute(*configured) ? *configured
                                               : HomeDirectory(environment) + "/.config";
}

std::string StateHome(const Environment& environment) {
  const auto configured = Get(environment, "XDG_STATE_HOME");
  return configured && IsAbsolute(*configured) ? *configured
                                               : HomeDirectory(environment) + "/.local/state";
}

policy::PolicySources SourcesOf(const CommonOptions& options, const Environment& environment) {
  policy::PolicySources sources;
  sources.home = HomeDirectory(environment);
  sources.user_file =
      options.policy_file ? options.policy_file : Get(environment, "PROJECT_ACTIONS_POLICY");
  sources.default_user_file = ConfigHome(environment) + "/project-actions/policy.yaml";
  sources.roots = options.roots;
  sources.enable = options.enable;
  sources.env_enable = Get(environment, "ENABLE_ADDITIONAL_TOOLS");
  sources.env_commit_size = Get(environment, "PROJECT_ACTIONS_MAX_COMMIT_SIZE");
  std::error_code failed;
  sources.current_directory = std::filesystem::current_path(failed).string();
  sources.variables = environment;
  for (const Tool* tool : AllTools()) sources.known_tools.emplace_back(tool->name);
  return sources;
}

Result<std::string> FindWorker(const std::optional<std::string>& given) {
  if (given) {
    // Absolute, because the worker is started from another directory's descriptor.
    std::error_code failed;
    std::string path = std::filesystem::absolute(*given, failed).string();
    if (access(path.c_str(), X_OK) != 0) return std::unexpected(Error("find worker", path, errno));
    return path;
  }
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  std::string beside =
      (self.parent_path().parent_path() / "worker/project-actions-worker").string();
  if (!failed && access(beside.c_str(), X_OK) == 0) return beside;
  std::string installed = PROJECT_ACTIONS_LIBEXECDIR "/project-actions-worker";
  if (access(installed.c_str(), X_OK) == 0) return installed;
  return std::unexpected(Error("find worker", beside + " or " + installed, errno));
}

void LogSources(const policy::Policy& policy) {
  for (const std::string& root : policy.roots) LogInfo("root: " + root);
  for (const std::string& source : policy.sources) LogInfo("policy: " + source);
  if (policy.sources.empty()) LogInfo("policy: built-in defaults");
}

}  // namespace pa
