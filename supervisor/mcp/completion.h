// completion/complete: values for an argument of a prompt or of a resource template, while a person
// types.
//
//    PA_TRY(const CompletionOrder order, CompletionIn(request.params));
//    return CompleteResult(revision, identity, names, order.value);
#pragma once

#include <expected>
#include <span>
#include <string>

#include "base/json.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/transport/rpc.h"

namespace pa {

struct CompletionOrder {
  enum class Of { kPrompt, kTemplate };
  Of of = Of::kPrompt;
  std::string name;      // of the prompt, or the template's URI
  std::string argument;  // whose value is typed
  std::string value;     // as far as it is
  // An object: other arguments, as far as they are known; null: none is. Borrowed.
  const JsonValue* known = nullptr;

  // One of them; "" = it is not known, or is no text.
  std::string Known(std::string_view other) const;
};
// -32602: the params have another shape.
std::expected<CompletionOrder, rpc::Failure> CompletionIn(const JsonValue& params);

// Those of `all` that begin with `value`, then those that contain it; at most 100, as the
// specification has it.
std::string CompleteResult(Revision revision, const Identity& identity,
                           std::span<const std::string> all, std::string_view value);

}  // namespace pa
