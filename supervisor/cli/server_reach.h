// ReachOf: what of the machine's files the server needs once it has started.
#pragma once

#include <string>

#include "policy/policy.h"
#include "supervisor/engine/engine.h"
#include "supervisor/spawner/confine_server.h"

namespace pa {

// Holds the engine to the directories in which it writes.
ServerReach ReachOf(Engine& engine, const std::string& tmp_base);

}  // namespace pa
