#include "supervisor/tools/make_targets.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/target_discovery.h"

namespace pa {
namespace {

constexpr Param kParams[] = {kWorkingDirectoryParam};

constexpr std::string_view kDataSchema =
    R"({"type":"object","properties":{"makefile":{"type":"string"},)"
    R"("targets":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},)"
    R"("description":{"type":"string"}},"required":["name"]}},)"
    R"("refused":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},)"
    R"("reason":{"type":"string"}},"required":["name","reason"]}}},)"
    R"("required":["makefile","targets","refused"]})";

std::string DataOf(const TargetList& list) {
  JsonWriter writer;
  writer.BeginObject().Field("makefile", list.makefile).Key("targets").BeginArray();
  for (const Target& target : list.targets) {
    writer.BeginObject().Field("name", target.name);
    if (!target.description.empty()) writer.Field("description", target.description);
    writer.EndObject();
  }
  writer.EndArray().Key("refused").BeginArray();
  for (const RefusedTarget& refused : list.refused) {
    writer.BeginObject().Field("name", refused.name).Field("reason", refused.reason).EndObject();
  }
  writer.EndArray().EndObject();
  return std::move(writer).Take();
}

std::string TextOf(const Work& work, const TargetList& list) {
  std::string text = fmt::format("{} .PHONY targets in {}/{}\n", list.targets.size(),
                                 work.directory.path(), list.makefile);
  for (const Target& target : list.targets) {
    text += target.name;
    if (!target.description.empty()) text.append(": ").append(target.description);
    text += '\n';
  }
  for (const RefusedTarget& refused : list.refused) {
    text += fmt::format("refused: {}: {}\n", refused.name, refused.reason);
  }
  return text;
}

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  const auto work = StartWork(request, "", call);
  if (!work) co_return RefusedCall(work.error());
  auto allow = Permit(*work, call, {.purpose = policy::Purpose::kInspect});
  if (!allow) co_return RefusedCall(std::move(allow.error()));
  auto make = Require("make", *work, call);
  if (!make) co_return RefusedCall(std::move(make.error()));
  Task<DiscoveredTargets> discovery = DiscoverTargets(*work, std::move(*make), call);
  const DiscoveredTargets targets = co_await discovery;
  if (!targets) co_return RefusedCall(targets.error());
  ToolResult result;
  result.data = DataOf(*targets);
  result.text = TextOf(*work, *targets);
  result.decision = allow->rule();
  co_return result;
}

}  // namespace

const Tool kMakeTargets = {
    .name = "make_targets",
    .title = "List make targets",
    .description =
        "List the .PHONY targets that make can run here, with their descriptions, and the "
        "targets refused by name. The Makefile is evaluated in a sandbox that cannot "
        "change the project.",
    .annotations = {.read_only = true, .idempotent = true},
    .params = kParams,
    .data_schema = kDataSchema,
    .run = Run,
    .purpose = policy::Purpose::kInspect};

}  // namespace pa
