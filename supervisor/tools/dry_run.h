// The result of dry_run: the exact command and all that the sandbox would and would not do to it.
#pragma once

#include <optional>
#include <string>

#include "sandbox/enforcement.h"
#include "supervisor/tools/render.h"

namespace pa {

// `would_print` nothing: not known without running. `kernel`: of the runner, which may know whether
// there are namespaces.
ToolResult RenderDryRun(const CommandReport& report, const policy::Allow& allow,
                        const sandbox::KernelFeatures& kernel,
                        std::optional<std::string> would_print);

}  // namespace pa
