// Subscriptions: the clients of 2026-07-28 that listen (subscriptions/listen), by request id.
//
//   std::string ack = subscriptions.Add(id, params);   // first message of the subscription
//   for (const std::string& line : subscriptions.ToolsChanged()) transport.Send(line);
//
// Only what we can honour is acknowledged: changes of the tool list. A subscription lives until its
// request is cancelled (nothing more is sent) or we end (its result is).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/transport/rpc.h"

namespace pa {

class Subscriptions {
 public:
  // `params` holds a valid filter in `notifications`. Returns the acknowledgement line.
  std::string Add(const rpc::Id& id, const JsonValue& params);
  bool Has(const rpc::Id& id) const { return filters_.contains(id); }
  bool Remove(const rpc::Id& id);  // false: no such subscription
  std::vector<std::string> ToolsChanged() const;
  // The results that end all of them.
  std::vector<std::string> End();

 private:
  struct Filter {
    bool tools_list_changed = false;
  };
  std::map<rpc::Id, Filter> filters_;
};

// What is wrong with `params` of subscriptions/listen; "" when nothing is.
std::string CheckListenParams(const JsonValue& params);

}  // namespace pa
