// Combines command line, environment and files into the sources of the policy, the path of the
// worker and the parts of an Engine.
//
//    auto parts = LoadEngineParts(command.common, environment);
//    if (!parts) ... parts.error()         // what is wrong, a line each
//    Engine engine(loop.get(), std::move(*parts), environment);
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
#include "supervisor/transport/listening_socket.h"

namespace pa {

// The sources of the policy: command line, environment, files (policy/load.h), and the trust
// anchors, which no command may write. Reads no file.
policy::PolicySources SourcesOf(const CommonOptions& options, const Environment& environment);

// Unix sockets on which the server listens, of which no command may be in the way, or reach them.
std::vector<policy::TrustAnchor> AnchorsOfSockets(const std::vector<ListeningSocket>& sockets);

// The sources of a policy that is only looked at: of the user's `file` as it would be in force in a
// place about which there is nothing to say, whatever the environment sets.
policy::PolicySources SourcesElsewhere(const std::string& file, const Environment& environment);

// Logs where the policy comes from, for --verbose.
void LogSources(const policy::Policy& policy);

// The first of $TMPDIR (if it is absolute), /tmp and /var/tmp in which no command of `policy` can
// write, because directories made there are emptied by name. The error names all of them.
Result<std::string> TemporaryBase(const policy::Policy& policy, const Environment& environment);

// `given` (`--worker`) if there is one; else the worker of the build folder that holds our own
// executable; else the one in libexecdir. The error names every path that was tried.
Result<std::string> FindWorker(const std::optional<std::string>& given);

// Whether `proc` is there, as it is not in a bare chroot. Without it we find neither our own
// executable nor the paths of descriptors, and each later error would name something else.
Result<void> CheckProc(const std::string& proc = "/proc");

// The token by which `connect` and `top` are known to a server: PROJECT_ACTIONS_TOKEN; "": there is
// none. An error: it would be more than one line of a request.
Result<std::string> ClientToken(const Environment& environment);

// The parts of an engine under `policy`. Without a TemporaryBase it cannot make TMPDIRs for its
// commands.
EngineParts PartsOf(policy::PolicyPtr policy, std::string worker, const Environment& environment);

// The error is everything that is wrong, a line each: policy errors, a missing worker, no TMPDIR;
// without /proc that alone.
// Warnings are logged. Reads files, starts nothing.
// `anchors`: in addition to those of SourcesOf.
std::expected<EngineParts, std::vector<std::string>> LoadEngineParts(
    const CommonOptions& options, const Environment& environment,
    const std::vector<policy::TrustAnchor>& anchors = {});

}  // namespace pa
