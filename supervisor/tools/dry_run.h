// The result of dry_run: the exact command and all that the sandbox would and would not do to it.
#pragma once

#include <optional>
#include <string>

#include "supervisor/tools/render.h"

namespace pa {

// `would_print` nothing: not known without running.
ToolResult RenderDryRun(const CommandReport& report, const policy::Allow& allow,
                        std::optional<std::string> would_print);

}  // namespace pa
