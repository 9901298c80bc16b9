// ConfineDaemon: the front door gives up what it does not need: every file but those of its
// configuration, every capability, and all system calls but a few. It starts nothing.
//
//    Result<void> done = ConfineDaemon({kTenantDirectory, "/var/lib/project-actions/jwks"});
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace pa {

// `readable`: files, and directories with what is in them; what does not exist is left out. For
// good, and for this thread and what it starts: call it when there is no other. An error: this
// kernel cannot do it, or only a part has been done.
Result<void> ConfineDaemon(const std::vector<std::string>& readable);

}  // namespace pa
