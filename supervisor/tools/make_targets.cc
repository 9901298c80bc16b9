#include "supervisor/tools/make_targets.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/target_discovery.h"

namespace pa {
namespace {

constexpr Param kMakeTargetsParams[] = {kWorkingDirectoryParam, kResultParam};

constexpr ResultField kTargets[] = {
    {.name = "name", .required = true},
    {.name = "description"},
};

constexpr ResultField kRefused[] = {
    {.name = "name", .required = true},
    {.name = "reason", .required = true},
};

constexpr std::string_view kMakeTargetsItems[] = {"targets", "refused"};

constexpr ResultField kMakeTargetsData[] = {
    {.name = "makefile", .required = true},
    {.name = "targets", .kind = FieldKind::kObjectArray, .required = true, .fields = kTargets},
    {.name = "refused", .kind = FieldKind::kObjectArray, .required = true, .fields = kRefused},
};

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

std::string WhyNoTarget(const TargetList& list) {
  if (!list.refused.empty()) {
    return "all .PHONY targets are refused by name: give each a second name in the Makefile "
           "(`.PHONY: NAME` and `NAME: OLD-NAME`)";
  }
  return fmt::format(
      "{} declares no target as .PHONY, and only those can be called: add `.PHONY: NAME` for each "
      "that should be",
      list.makefile);
}

Task<ToolResult> RunMakeTargets(ToolRequest request, CallContext& call) {
  const auto work = StartWork(request, "", call);
  if (!work) co_return RefusedCall(work.error());
  auto permission = Permit(*work, call, policy::Purpose::kInspect);
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  auto make = Require("make", *work, call);
  if (!make) co_return RefusedCall(std::move(make.error()));
  Task<DiscoveredTargets> discovery = DiscoverTargets(*work, *permission, std::move(*make), call);
  const DiscoveredTargets targets = co_await discovery;
  if (!targets) co_return RefusedCall(targets.error());
  ToolResult result;
  result.data = DataOf(*targets);
  result.text = TextOf(*work, *targets);
  result.decision = permission->rule();
  if (targets->targets.empty()) Warn(result, WhyNoTarget(*targets));
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
    .params = kMakeTargetsParams,
    .data = kMakeTargetsData,
    .items = kMakeTargetsItems,
    .run = RunMakeTargets,
    .purpose = policy::Purpose::kInspect};

}  // namespace pa
