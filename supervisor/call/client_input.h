// What a call asks its client for while it waits: the user's answer to a form. (Clients can be
// asked for a model's text and for their roots, too; no tool of ours does, those of the conformance
// test do.)
//
//    if (call.client == nullptr || !call.client->Has(InputKind::kElicitation)) ...
//    Task<Inputs> asking = call.client->Ask({{.key = "name", .params = form}}, call.cancel);
//    const Inputs inputs = co_await asking;
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "base/json.h"
#include "supervisor/call/approval.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/task.h"

namespace pa {

enum class InputKind : std::uint8_t { kElicitation, kSampling, kRoots };

struct InputRequest {
  std::string key = {};  // of the answer; unique among those that are asked at once
  InputKind kind = InputKind::kElicitation;
  std::string params = "{}";  // of the client's method, JSON
};

// The client's results, objects, in the order of the requests; or why there are none, which is
// never kAccept or kDecline.
using Inputs = std::expected<std::vector<JsonValue>, Answer>;

class ClientInputs {
 public:
  virtual ~ClientInputs() = default;
  // Whether the client can be asked for that.
  virtual bool Has(InputKind kind) const = 0;
  // All at once, at least one, of kinds that it has. A call may ask several times, one after the
  // other.
  virtual Task<Inputs> Ask(std::vector<InputRequest> requests, CancelSource& cancel) = 0;
};

}  // namespace pa
