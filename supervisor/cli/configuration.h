// What the command line, the environment and the files say together: the policy's sources, the
// worker program, and the parts of an Engine.
//
//   std::expected<EngineParts, std::vector<std::string>> parts = LoadEngineParts(options,
//       environment);
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "policy/load.h"
#include "supervisor/cli/command_line.h"
#include "supervisor/engine/engine.h"
#include "supervisor/state/user_directories.h"

namespace pa {

// Who says what: command line, environment, files (policy/load.h), and which files besides no
// command may write. Reads no file.
policy::PolicySources SourcesOf(const CommonOptions& options, const Environment& environment);

// Where the policy comes from, for --verbose.
void LogSources(const policy::Policy& policy);

// $TMPDIR if it is absolute, else /tmp, else /var/tmp: the first in which no command of `policy`
// can write, since what is made there is emptied by name. The error names them.
Result<std::string> TemporaryBase(const policy::Policy& policy, const Environment& environment);

// `--worker` if given; else the worker of the build folder that our own executable lies in; else
// the one in libexecdir. The error names every place that was looked at.
Result<std::string> FindWorker(const std::optional<std::string>& given);

// For an engine under `policy`. Where there is no TMPDIR (TemporaryBase) its commands get no
// directory.
EngineParts PartsOf(policy::PolicyPtr policy, std::string worker, const Environment& environment);

// Everything that is wrong, a line each: policy errors, a missing worker, no TMPDIR. Warnings are
// logged. Reads files, starts nothing.
std::expected<EngineParts, std::vector<std::string>> LoadEngineParts(
    const CommonOptions& options, const Environment& environment);

}  // namespace pa
