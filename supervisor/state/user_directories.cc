#include "supervisor/state/user_directories.h"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

namespace pa {
namespace {

bool IsAbsolute(const std::string& path) { return !path.empty() && path[0] == '/'; }

}  // namespace

std::optional<std::string> GetVariable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

const std::string& StartDirectory() {
  std::error_code gone;
  static const std::string directory = std::filesystem::current_path(gone).string();
  return directory;
}

std::string AbsoluteFromStart(const std::string& path) {
  return (std::filesystem::path(StartDirectory()) / path).string();
}

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
  const auto home = GetVariable(environment, "HOME");
  if (home && IsAbsolute(*home)) return *home;
  const passwd* user = getpwuid(geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/nonexistent";
}

std::string ConfigHome(const Environment& environment) {
  const auto configured = GetVariable(environment, "XDG_CONFIG_HOME");
  return configured && IsAbsolute(*configured) ? *configured
                                               : HomeDirectory(environment) + "/.config";
}

std::string StateHome(const Environment& environment) {
  const auto configured = GetVariable(environment, "XDG_STATE_HOME");
  return configured && IsAbsolute(*configured) ? *configured
                                               : HomeDirectory(environment) + "/.local/state";
}

std::string CodexHome(const Environment& environment) {
  const auto configured = GetVariable(environment, "CODEX_HOME");
  return configured ? AbsoluteFromStart(*configured) : HomeDirectory(environment) + "/.codex";
}

}  // namespace pa
