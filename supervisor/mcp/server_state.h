// ServerState: the state of the protocol that the sessions of one server share. Must outlive them.
//
//    ServerState state = NewServerState(*policy);
//    Session session(engine.services(), state, transport);
#pragma once

#include <chrono>
#include <string>

#include "policy/policy.h"
#include "supervisor/mcp/open_calls.h"
#include "supervisor/mcp/progress.h"
#include "supervisor/mcp/prompts.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/mcp/questions.h"
#include "supervisor/mcp/resources.h"

namespace pa {

// The result of tools/list, as long as nothing that it says has changed.
struct ToolList {
  policy::PolicyPtr policy;
  Revision revision = kModernRevision;
  std::string json;
};

struct ServerState {
  Identity identity;
  std::chrono::milliseconds answer_patience = kAnswerPatience;
  std::chrono::milliseconds heartbeat = ProgressNotifier::kHeartbeat;
  OpenCalls open = {};
  ToolList tool_list = {};
  const PromptSource* prompts = &TargetPrompts();
  const ResourceSource* resources = &ResultResources();
  // With which jobs end that outlive their own session (jobs.keep); null: there are none, as on
  // stdio alone, where the server ends with its client.
  Session* keeper = nullptr;
};

// What a model is told before it calls anything. It names no tool that is off.
std::string InstructionsFor(const policy::Policy& policy);

// What of it follows from the policy.
void UpdateIdentity(Identity& identity, const policy::Policy& policy);

// With this version and its instructions for models. `text_only`: Identity.
ServerState NewServerState(const policy::Policy& policy, bool text_only = false);

}  // namespace pa
