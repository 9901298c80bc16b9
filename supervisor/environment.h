// Where we are: our own environment as values, the policy's sources, the worker program.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "policy/load.h"
#include "supervisor/command_line.h"

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

// The current directory as it was when this was called first. What is named relative to it goes on to be, when a server
// has left it.
const std::string& StartDirectory();

// Who says what: command line, environment, files (policy/load.h), and which files besides no command may write.
// Reads no file.
policy::PolicySources SourcesOf(const CommonOptions& options, const Environment& environment);

// Where the policy comes from, for --verbose.
void LogSources(const policy::Policy& policy);

// $TMPDIR if it is absolute, else /tmp, else /var/tmp: the first in which no command of `policy` can write, since
// what is made there is emptied by name. The error names them.
Result<std::string> TemporaryBase(const policy::Policy& policy, const Environment& environment);

// `--worker` if given; else the worker of the build folder that our own executable lies in; else
// the one in libexecdir. The error names every place that was looked at.
Result<std::string> FindWorker(const std::optional<std::string>& given);

}  // namespace pa
