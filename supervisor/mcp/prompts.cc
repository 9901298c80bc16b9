#include "supervisor/mcp/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/json_writer.h"
#include "base/try.h"
#include "supervisor/mcp/params.h"

namespace pa {
namespace {

// A menu is no place for more; `make` takes the name of any target.
constexpr std::size_t kMostPrompts = 100;

constexpr std::string_view kMakePrompt = "make";
constexpr std::string_view kTargetArgument = "target";
constexpr std::string_view kDirectoryArgument = "working_directory";
constexpr std::string_view kPrefix = "make-";

struct NamedTarget {
  std::string name, description;
};

// The targets in the data of make_targets.
std::expected<std::vector<NamedTarget>, rpc::Failure> TargetsIn(const ToolResult& result) {
  if (result.error) {
    const bool asked_wrongly = result.error->code == ErrorCode::kInvalidArgument;
    return FailedWith(asked_wrongly ? rpc::kInvalidParams : rpc::kInternalError,
                      fmt::format("{}: {}. {}", CodeText(result.error->code), result.error->message,
                                  result.error->ai_message));
  }
  const Result<JsonValue> data = ParseJson(result.data);
  const JsonValue* listed = data ? data->Find("targets") : nullptr;
  if (listed == nullptr || !listed->IsArray()) {
    return FailedWith(rpc::kInternalError, "make_targets has listed no targets");
  }
  std::vector<NamedTarget> targets;
  for (const JsonValue& one : listed->Items()) {
    const JsonValue* description = one.Find("description");
    targets.push_back({.name = one.Find("name")->AsString(),
                       .description = description != nullptr ? description->AsString() : ""});
  }
  return targets;
}

bool MakeIsOn(const PromptClient& client) { return client.policy.ToolEnabled("make", false); }

AnswerOfCall CallOfTargets(
    const std::string& directory,
    std::function<std::expected<std::string, rpc::Failure>(const ToolResult&)> answer) {
  std::vector<JsonValue::Member> arguments;
  if (!directory.empty()) {
    arguments.emplace_back(kDirectoryArgument, JsonValue::String(directory));
  }
  return {.tool = "make_targets",
          .arguments = JsonValue::Object(std::move(arguments)),
          .answer = std::move(answer)};
}

Prompt MakePrompt() {
  return {.name = std::string(kMakePrompt),
          .title = "Run a make target",
          .description = "Runs one of the project's make targets in the sandbox.",
          .arguments = {{.name = std::string(kTargetArgument),
                         .description = "the target's name",
                         .required = true},
                        {.name = std::string(kDirectoryArgument),
                         .description = "a directory beneath a root; left out, the first root"}}};
}

std::string MessagesFor(const std::string& target, const std::string& directory) {
  JsonWriter arguments;
  arguments.BeginObject().Field("target", target);
  if (!directory.empty()) arguments.Field(kDirectoryArgument, directory);
  const std::string call = std::move(arguments.EndObject()).Take();
  JsonWriter writer;
  writer.BeginArray().BeginObject().Field("role", "user").Key("content").BeginObject();
  writer.Field("type", "text");
  writer.Field("text", fmt::format("Call the tool make of {} with {}. Then say how it ended. If it "
                                   "failed, name the cause that its output shows.",
                                   kServerName, call));
  return std::move(writer.EndObject().EndObject().EndArray()).Take();
}

std::string TextOf(const JsonValue* arguments, std::string_view name) {
  const JsonValue* value = arguments == nullptr ? nullptr : arguments->FindSet(name);
  return value == nullptr ? "" : value->AsString();
}

class MakePrompts final : public PromptSource {
 public:
  Prepared List(const PromptClient& client) const override {
    if (!MakeIsOn(client)) return ListPromptsResult(client.revision, client.identity, {});
    return CallOfTargets(
        "", [revision = client.revision, &identity = client.identity](const ToolResult& result) {
          return ListOf(result, revision, identity);
        });
  }

  Prepared Get(const std::string& name, const JsonValue* arguments,
               const PromptClient& client) const override {
    const bool generic = name == kMakePrompt;
    if (!MakeIsOn(client) || (!generic && !name.starts_with(kPrefix))) return UnknownPrompt(name);
    const std::string target =
        generic ? TextOf(arguments, kTargetArgument) : name.substr(kPrefix.size());
    if (target.empty()) return InvalidParams("params.arguments.target is missing");
    const std::string directory = generic ? TextOf(arguments, kDirectoryArgument) : "";
    const auto answer =
        [revision = client.revision, &identity = client.identity, target,
         directory](const ToolResult& result) -> std::expected<std::string, rpc::Failure> {
      PA_TRY(const auto targets, TargetsIn(result));
      const auto found = std::ranges::find(targets, target, &NamedTarget::name);
      if (found == targets.end()) {
        return InvalidParams(
            fmt::format("there is no target '{}'; completion/complete of the "
                        "argument target names those that there are",
                        target));
      }
      return GetPromptResult(revision, identity, "make " + target, MessagesFor(target, directory));
    };
    return CallOfTargets(directory, answer);
  }

  Prepared Complete(const CompletionOrder& order, const PromptClient& client) const override {
    if (!MakeIsOn(client)) return UnknownPrompt(order.name);
    if (order.name != kMakePrompt) {
      if (!order.name.starts_with(kPrefix)) return UnknownPrompt(order.name);
      return CompleteResult(client.revision, client.identity, {}, "");  // it has no arguments
    }
    if (order.argument == kDirectoryArgument) {
      return CompleteResult(client.revision, client.identity, client.policy.roots, order.value);
    }
    if (order.argument != kTargetArgument) {
      return InvalidParams(
          fmt::format("the prompt {} has no argument '{}'", order.name, order.argument));
    }
    const auto answer = [revision = client.revision, &identity = client.identity,
                         value = order.value](
                            const ToolResult& result) -> std::expected<std::string, rpc::Failure> {
      PA_TRY(const auto targets, TargetsIn(result));
      std::vector<std::string> names;
      for (const NamedTarget& target : targets) names.push_back(target.name);
      return CompleteResult(revision, identity, names, value);
    };
    return CallOfTargets(order.Known(kDirectoryArgument), answer);
  }

 private:
  static std::expected<std::string, rpc::Failure> ListOf(const ToolResult& result,
                                                         Revision revision,
                                                         const Identity& identity) {
    std::vector<Prompt> prompts{MakePrompt()};
    // A project without a Makefile has no targets; its user may yet write one.
    const bool no_makefile = result.error && result.error->code == ErrorCode::kNotFound;
    if (!no_makefile) {
      PA_TRY(auto targets, TargetsIn(result));
      targets.resize(std::min(targets.size(), kMostPrompts));
      for (const NamedTarget& target : targets) {
        prompts.push_back({.name = std::string(kPrefix) + target.name,
                           .title = "make " + target.name,
                           .description = target.description.empty() ? "Runs make " + target.name
                                                                     : target.description});
      }
    }
    return ListPromptsResult(revision, identity, prompts);
  }
};

}  // namespace

const PromptSource& TargetPrompts() {
  static const MakePrompts prompts;
  return prompts;
}

std::string ListPromptsResult(Revision revision, const Identity& identity,
                              std::span<const Prompt> prompts) {
  JsonWriter writer;
  writer.BeginObject().Key("prompts").BeginArray();
  for (const Prompt& prompt : prompts) {
    writer.BeginObject().Field("name", prompt.name);
    if (HasStructuredContent(revision)) writer.Field("title", prompt.title);
    writer.Field("description", prompt.description);
    if (!prompt.arguments.empty()) {
      writer.Key("arguments").BeginArray();
      for (const PromptArgument& argument : prompt.arguments) {
        writer.BeginObject().Field("name", argument.name);
        writer.Field("description", argument.description);
        writer.Field("required", argument.required).EndObject();
      }
      writer.EndArray();
    }
    writer.EndObject();
  }
  writer.EndArray();
  WriteCacheableFrame(writer, revision, identity);
  return std::move(writer.EndObject()).Take();
}

std::string GetPromptResult(Revision revision, const Identity& identity,
                            std::string_view description, std::string_view messages) {
  JsonWriter writer;
  writer.BeginObject().Field("description", description).Key("messages").Raw(messages);
  WriteResultFrame(writer, revision, identity);
  return std::move(writer.EndObject()).Take();
}

std::unexpected<rpc::Failure> UnknownPrompt(std::string_view name) {
  return InvalidParams(
      fmt::format("there is no prompt '{}'; prompts/list names those that there are", name));
}

}  // namespace pa
