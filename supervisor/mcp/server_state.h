// ServerState: the state of the protocol that the sessions of one server share. Must outlive them.
//
//    ServerState state = NewServerState();
//    Session session(engine.services(), state, transport);
#pragma once

#include <chrono>

#include "supervisor/mcp/progress.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/mcp/questions.h"
#include "supervisor/mcp/request_states.h"

namespace pa {

struct ServerState {
  Identity identity;
  RequestStates request_states;
  std::chrono::milliseconds answer_patience = kAnswerPatience;
  std::chrono::milliseconds heartbeat = ProgressNotifier::kHeartbeat;
};

// With this version, its instructions for models, and a random key. `text_only`: Identity.
ServerState NewServerState(bool text_only = false);

}  // namespace pa
