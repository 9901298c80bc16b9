#include "supervisor/mcp/subscriptions.h"

#include <algorithm>
#include <utility>

#include "base/json_writer.h"
#include "supervisor/mcp/resources.h"

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

struct ListFlag {
  ListKind kind;
  const char* flag;
  const char* method;
};
constexpr ListFlag kLists[] = {
    {ListKind::kTools, "toolsListChanged", "notifications/tools/list_changed"},
    {ListKind::kPrompts, "promptsListChanged", "notifications/prompts/list_changed"},
    {ListKind::kResources, "resourcesListChanged", "notifications/resources/list_changed"},
};

void WriteNames(JsonWriter& writer, const char* key, const std::set<std::string>& names) {
  writer.Key(key).BeginArray();
  for (const std::string& name : names) writer.String(name);
  writer.EndArray();
}

}  // namespace

std::string CheckListenParams(const JsonValue& params) {
  const JsonValue* filter = params.Find("notifications");
  if (filter == nullptr) return "params.notifications is missing: it says what to listen for";
  if (!filter->IsObject()) {
    return std::string("params.notifications must be an object, not ") + filter->KindName();
  }
  for (const ListFlag& list : kLists) {
    const JsonValue* value = filter->FindSet(list.flag);
    if (value == nullptr || value->IsBool()) continue;
    return std::string("params.notifications.") + list.flag + " must be a boolean, not " +
           value->KindName();
  }
  for (const char* list : {"resourceSubscriptions", "taskIds"}) {
    const std::string name = std::string("params.notifications.") + list;
    const JsonValue* value = filter->FindSet(list);
    if (value == nullptr) continue;
    if (!value->IsArray()) return name + " must be an array, not " + value->KindName();
    if (!std::ranges::all_of(value->Items(), &JsonValue::IsString)) {
      return name + " must have only strings";
    }
  }
  return "";
}

std::set<std::string> NamedIn(const JsonValue& params, const char* name) {
  std::set<std::string> names;
  const JsonValue* list = params.Find("notifications")->FindSet(name);
  if (list == nullptr) return names;
  for (const JsonValue& one : list->Items()) names.insert(one.AsString());
  return names;
}

std::string Subscriptions::Add(const rpc::Id& id, const JsonValue& params,
                               std::set<std::string> tasks, std::set<std::string> resources) {
  const JsonValue& wanted = *params.Find("notifications");
  Filter filter{.lists = {}, .tasks = std::move(tasks), .resources = std::move(resources)};
  JsonWriter writer;
  writer.BeginObject();
  WriteTag(writer, id);
  writer.Key("notifications").BeginObject();
  for (const ListFlag& list : kLists) {
    if (!IsTrue(wanted.Find(list.flag))) continue;
    writer.Field(list.flag, true);
    filter.lists.insert(list.kind);
  }
  if (wanted.FindSet("resourceSubscriptions") != nullptr) {
    WriteNames(writer, "resourceSubscriptions", filter.resources);
  }
  if (wanted.FindSet("taskIds") != nullptr) WriteNames(writer, "taskIds", filter.tasks);
  writer.EndObject().EndObject();
  filters_[id] = std::move(filter);
  return rpc::NotificationLine("notifications/subscriptions/acknowledged",
                               std::move(writer).Take());
}

bool Subscriptions::Remove(const rpc::Id& id) { return filters_.erase(id) > 0; }

const char* ListChangedMethod(ListKind kind) {
  return std::ranges::find(kLists, kind, &ListFlag::kind)->method;
}

std::vector<std::string> Subscriptions::Notify(
    const char* method, const std::function<bool(const Filter&)>& wants,
    const std::function<void(JsonWriter&)>& write) const {
  std::vector<std::string> lines;
  for (const auto& [id, filter] : filters_) {
    if (!wants(filter)) continue;
    JsonWriter writer;
    writer.BeginObject();
    WriteTag(writer, id);
    write(writer);
    writer.EndObject();
    lines.push_back(rpc::NotificationLine(method, std::move(writer).Take()));
  }
  return lines;
}

std::vector<std::string> Subscriptions::Changed(ListKind kind) const {
  return Notify(
      ListChangedMethod(kind), [&](const Filter& filter) { return filter.lists.contains(kind); },
      [](JsonWriter&) {});
}

std::vector<std::string> Subscriptions::ResourceUpdated(const std::string& uri) const {
  return Notify(
      kResourceUpdatedMethod, [&](const Filter& filter) { return filter.resources.contains(uri); },
      [&](JsonWriter& writer) { writer.Field("uri", uri); });
}

std::vector<std::string> Subscriptions::TaskChanged(
    const std::string& task, const std::function<void(JsonWriter&)>& write) const {
  return Notify(
      "notifications/tasks", [&](const Filter& filter) { return filter.tasks.contains(task); },
      write);
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
