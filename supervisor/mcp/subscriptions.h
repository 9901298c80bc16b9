// Subscriptions: the open subscriptions/listen requests of a client of 2026-07-28, by request id.
//
//    std::string ack = subscriptions.Add(id, params);   // first message of the subscription
//    for (const std::string& line : subscriptions.Changed(ListKind::kTools)) transport.Send(line);
//
// A subscription ends when its request is cancelled (nothing more is sent) or when the server ends
// (its result is sent).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/transport/rpc.h"

namespace pa {

class JsonWriter;

enum class ListKind : std::uint8_t { kTools, kPrompts, kResources };

// The method of the notification: `notifications/tools/list_changed`.
const char* ListChangedMethod(ListKind kind);

class Subscriptions {
 public:
  // `params` must have passed CheckListenParams. Of the tasks and resources that it names those are
  // acknowledged that are `tasks` and `resources`. Returns the acknowledgement line.
  std::string Add(const rpc::Id& id, const JsonValue& params, std::set<std::string> tasks = {},
                  std::set<std::string> resources = {});
  bool Has(const rpc::Id& id) const { return filters_.contains(id); }
  bool Remove(const rpc::Id& id);  // false: no such subscription
  std::vector<std::string> Changed(ListKind kind) const;
  std::vector<std::string> ResourceUpdated(const std::string& uri) const;
  // notifications/tasks, with what `write` writes into the params.
  std::vector<std::string> TaskChanged(const std::string& task,
                                       const std::function<void(JsonWriter&)>& write) const;
  // Ends all of them; returns the lines of their results.
  std::vector<std::string> End();

 private:
  struct Filter {
    std::set<ListKind> lists;
    std::set<std::string> tasks;
    std::set<std::string> resources;
  };
  // A notification for each that `wants` it, with what `write` writes into the params.
  std::vector<std::string> Notify(const char* method,
                                  const std::function<bool(const Filter&)>& wants,
                                  const std::function<void(JsonWriter&)>& write) const;
  std::map<rpc::Id, Filter> filters_;
};

// What `params` names in the list `name` of its notifications; empty if it is not there.
std::set<std::string> NamedIn(const JsonValue& params, const char* name);
// What is wrong with `params` of subscriptions/listen; "" if nothing is.
std::string CheckListenParams(const JsonValue& params);

}  // namespace pa
