// Renders the result of a dry run: the exact command, what the sandbox would grant it, and which
// protections are enforced.
//
//    if (work.dry_run) co_return RenderDryRun(report, allow, call.runner.Kernel(), std::nullopt);
#pragma once

#include <optional>
#include <string>

#include "sandbox/enforcement.h"
#include "supervisor/tools/render.h"

namespace pa {

// `would_print`: nothing if that is not known without running. `kernel`: the runner's, which may
// know whether there are namespaces.
ToolResult RenderDryRun(const CommandReport& report, const policy::Allow& allow,
                        const sandbox::KernelFeatures& kernel,
                        std::optional<std::string> would_print);

}  // namespace pa
