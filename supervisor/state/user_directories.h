// The user's directories, as our environment and the password database have them.
//
//    const Environment environment = ReadEnvironment(environ);
//    const std::string file = ConfigHome(environment) + "/project-actions/policy.yaml";
//
// They are names; nothing is created there.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace pa {

using Environment = std::map<std::string, std::string>;

// `entries` as in environ(7). The first of two entries with one name counts, as for getenv(3).
Environment ReadEnvironment(const char* const* entries);

// $HOME if it is absolute, else the home of the effective user in the password database.
std::string HomeDirectory(const Environment& environment);

// $XDG_CONFIG_HOME if it is absolute, else ~/.config.
std::string ConfigHome(const Environment& environment);

// $CODEX_HOME if it is set, made absolute, else ~/.codex.
std::string CodexHome(const Environment& environment);

// $XDG_STATE_HOME if it is absolute, else ~/.local/state.
std::string StateHome(const Environment& environment);

// The value of a variable; "" counts as absent.
std::optional<std::string> GetVariable(const Environment& environment, const std::string& name);

// The current directory at the time of the first call. Relative names keep their meaning after the
// server has left that directory.
const std::string& StartDirectory();

// `path`, if it is relative, from that directory.
std::string AbsoluteFromStart(const std::string& path);

}  // namespace pa
