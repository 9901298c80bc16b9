#include "supervisor/mcp/subscriptions.h"

#include <algorithm>
#include <utility>

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
  for (const char* list : {"resourceSubscriptions", "taskIds"}) {
    const JsonValue* value = filter->FindSet(list);
    if (value == nullptr || value->IsArray()) continue;
    return std::string("params.notifications.") + list + " must be an array, not " +
           value->KindName();
  }
  const JsonValue* tasks = filter->FindSet("taskIds");
  const bool strings =
      tasks == nullptr || std::ranges::all_of(tasks->Items(), &JsonValue::IsString);
  return strings ? "" : "params.notifications.taskIds must have only strings";
}

std::set<std::string> TaskIdsIn(const JsonValue& params) {
  std::set<std::string> ids;
  const JsonValue* tasks = params.Find("notifications")->FindSet("taskIds");
  if (tasks == nullptr) return ids;
  for (const JsonValue& id : tasks->Items()) ids.insert(id.AsString());
  return ids;
}

std::string Subscriptions::Add(const rpc::Id& id, const JsonValue& params,
                               std::set<std::string> tasks) {
  const bool tools = IsTrue(params.Find("notifications")->Find("toolsListChanged"));
  const bool resources = IsTrue(params.Find("notifications")->Find("resourcesListChanged"));
  const bool about_tasks = params.Find("notifications")->FindSet("taskIds") != nullptr;
  JsonWriter writer;
  writer.BeginObject();
  WriteTag(writer, id);
  writer.Key("notifications").BeginObject();
  if (tools) writer.Field("toolsListChanged", true);
  if (resources) writer.Field("resourcesListChanged", true);
  if (about_tasks) {
    writer.Key("taskIds").BeginArray();
    for (const std::string& task : tasks) writer.String(task);
    writer.EndArray();
  }
  writer.EndObject().EndObject();
  filters_[id] = {
      .tools_list_changed = tools, .resources_list_changed = resources, .tasks = std::move(tasks)};
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

std::vector<std::string> Subscriptions::TaskChanged(
    const std::string& task, const std::function<void(JsonWriter&)>& write) const {
  std::vector<std::string> lines;
  for (const auto& [id, filter] : filters_) {
    if (!filter.tasks.contains(task)) continue;
    JsonWriter writer;
    writer.BeginObject();
    WriteTag(writer, id);
    write(writer);
    writer.EndObject();
    lines.push_back(rpc::NotificationLine("notifications/tasks", std::move(writer).Take()));
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
