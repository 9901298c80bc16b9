// Prompts: what a person can pick from a menu or type as `/name` in a client. A server's prompts
// come from a PromptSource; ours are the project's make targets.
//
//    Prepared prepared = state.prompts->Get("make-test", nullptr, {revision, identity, policy});
//
// Which targets there are is a call's business, with its policy, its approval and its record: a
// source names the call, and makes the answer of its result.
#pragma once

#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "policy/policy.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/mcp/completion.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/transport/rpc.h"

namespace pa {

// A request's answer that is made of the result of a call.
struct AnswerOfCall {
  std::string tool;
  JsonValue arguments = JsonValue::Object({});
  std::function<std::expected<std::string, rpc::Failure>(const ToolResult&)> answer;
};
// The answer, or the call that it needs first.
using Prepared = std::expected<std::variant<std::string, AnswerOfCall>, rpc::Failure>;

// Who asks. `identity` outlives the answer, `policy` does not.
struct PromptClient {
  Revision revision;
  const Identity& identity;
  const policy::Policy& policy;
};

class PromptSource {
 public:
  virtual ~PromptSource() = default;
  virtual Prepared List(const PromptClient& client) const = 0;
  // `arguments`: an object of strings; null: none.
  virtual Prepared Get(const std::string& name, const JsonValue* arguments,
                       const PromptClient& client) const = 0;
  // Of an argument of a prompt.
  virtual Prepared Complete(const CompletionOrder& order, const PromptClient& client) const = 0;
};

// `make`, whose argument is the name of a target, and `make-NAME` for each target of the first
// root. There are none if the policy does not enable the tool make. A message names the target and
// nothing that a Makefile says of it: it would be read as the user's own words.
const PromptSource& TargetPrompts();

struct PromptArgument {
  std::string name, description;
  bool required = false;
};
struct Prompt {
  std::string name, title, description;
  std::vector<PromptArgument> arguments = {};
};
std::string ListPromptsResult(Revision revision, const Identity& identity,
                              std::span<const Prompt> prompts);
// `messages`: an array of JSON.
std::string GetPromptResult(Revision revision, const Identity& identity,
                            std::string_view description, std::string_view messages);
// -32602.
std::unexpected<rpc::Failure> UnknownPrompt(std::string_view name);

}  // namespace pa
