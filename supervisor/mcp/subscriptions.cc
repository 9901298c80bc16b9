#include "supervisor/mcp/subscriptions.h"

#include "base/json_writer.h"

namespace pa {
namespace {

constexpr std::string_view kSubscriptionId = "io.modelcontextprotocol/subscriptionId";

// Everything that belongs to a subscription carries its id.
void WriteTag(JsonWriter& writer, const rpc::Id& id) {
  writer.Key("_meta").BeginObject().Key(kSubscriptionId).Raw(id.token()).EndObject();
}

bool IsTrue(const JsonValue* value) {
  return value != nullptr && value->IsBool() && value->AsBool();
}

}  // namespace

std::string CheckListenParams(const JsonValue& params) {
  const JsonValue* filter = params.Find("notifications");
  if (filter == nullptr) return "params.notifications is missing: it says what to listen for";
  if (!filter->IsObject()) {
    return std::string("params.notifications must be an object, not ") + filter->KindName();
  }
  for (const char* flag : {"toolsListChanged", "promptsListChanged", "resourcesListChanged"}) {
    const JsonValue* value = filter->FindSet(flag);
    if (value == nullptr || value->IsBool()) continue;
    return std::string("params.notifications.") + flag + " must be a boolean, not " +
           value->KindName();
  }
  const JsonValue* uris = filter->FindSet("resourceSubscriptions");
  if (uris == nullptr || uris->IsArray()) return {};
  return std::string("params.notifications.resourceSubscriptions must be an array, not ") +
         uris->KindName();
}

std::string Subscriptions::Add(const rpc::Id& id, const JsonValue& params) {
  const bool tools = IsTrue(params.Find("notifications")->Find("toolsListChanged"));
  const bool resources = IsTrue(params.Find("notifications")->Find("resourcesListChanged"));
  filters_[id] = {.tools_list_changed = tools, .resources_list_changed = resources};
  JsonWriter writer;
  writer.BeginObject();
  WriteTag(writer, id);
  writer.Key("notifications").BeginObject();
  if (tools) writer.Field("toolsListChanged", true);
  if (resources) writer.Field("resourcesListChanged", true);
  writer.EndObject().EndObject();
  return rpc::NotificationLine("notifications/subscriptions/acknowledged",
                               std::move(writer).Take());
}

bool Subscriptions::Remove(const rpc::Id& id) { return filters_.erase(id) > 0; }

const char* ListChangedMethod(ListKind kind) {
  return kind == ListKind::kTools ? "notifications/tools/list_changed"
                                  : "notifications/resources/list_changed";
}

std::vector<std::string> Subscriptions::Changed(ListKind kind) const {
  std::vector<std::string> lines;
  for (const auto& [id, filter] : filters_) {
    const bool wanted =
        kind == ListKind::kTools ? filter.tools_list_changed : filter.resources_list_changed;
    if (!wanted) continue;
    JsonWriter writer;
    writer.BeginObject();
    WriteTag(writer, id);
    writer.EndObject();
    lines.push_back(rpc::NotificationLine(ListChangedMethod(kind), std::move(writer).Take()));
  }
  return lines;
}

std::vector<std::string> Subscriptions::End() {
  std::vector<std::string> lines;
  for (const auto& [id, filter] : filters_) {
    JsonWriter writer;
    writer.BeginObject().Field("resultType", "complete");
    WriteTag(writer, id);
    writer.EndObject();
    lines.push_back(rpc::ResultLine(id, std::move(writer).Take()));
  }
  filters_.clear();
  return lines;
}

}  // namespace pa
