#include "supervisor/tools/work.h"

#include <variant>

#include "policy/caches.h"
#include "supervisor/tools/find_executable.h"

namespace pa {

std::expected<Work, ToolError> StartWork(const ToolRequest& request, std::string operation,
                                         const CallContext& call) {
  const Arguments& arguments = request.arguments();
  const std::string* requested = arguments.String("working_directory");
  auto directory =
      policy::ValidateWorkingDirectory(*call.policy, requested == nullptr ? "" : *requested);
  if (!directory) return std::unexpected(InvalidDirectory(directory.error()));
  return Work{.tool = &request.tool(),
              .operation = std::move(operation),
              .directory = std::move(*directory),
              .dry_run = arguments.Boolean("dry_run")};
}

std::expected<policy::Allow, ToolError> Permit(const Work& work, const CallContext& call,
                                               Permission permission) {
  const policy::ActionRequest request{.tool = std::string(work.tool->name),
                                      .target = work.operation,
                                      .directory = &work.directory,
                                      .purpose = permission.purpose,
                                      .extra = std::move(permission.extra),
                                      .timeout = permission.timeout,
                                      .read_only = work.tool->annotations.read_only};
  policy::Decision decision = policy::Decide(*call.policy, request);
  if (const auto* deny = std::get_if<policy::Deny>(&decision)) {
    return std::unexpected(Denied(*deny));
  }
  return std::get<policy::Allow>(std::move(decision));
}

std::expected<std::string, ToolError> Require(const std::string& program, const Work& work,
                                              const CallContext& call) {
  std::optional<std::string> path = FindExecutable(program, call.ambient, work.directory.path());
  if (!path) return std::unexpected(ToolNotFound(program));
  return std::move(*path);
}

std::vector<Denial> DenialsOf(const Execution& run, policy::Purpose purpose,
                              const sandbox::Confinement& confinement, const Work& work,
                              const CallContext& call) {
  if (run.Succeeded()) return {};  // the usual case pays for none of this
  return DenialsOf(run, {.policy = *call.policy,
                         .purpose = purpose,
                         .confinement = confinement,
                         .directory = work.directory.path(),
                         .search_path = WorkEnvironment(call)["PATH"]});
}

std::map<std::string, std::string> WorkEnvironment(const CallContext& call) {
  return policy::CommandEnvironment(*call.policy, call.ambient);
}

std::map<std::string, std::string> MakeEnvironment(const CallContext& call) {
  std::map<std::string, std::string> env = WorkEnvironment(call);
  env["GIT_CONFIG_GLOBAL"] = "/dev/null";
  env["GIT_CONFIG_NOSYSTEM"] = "1";
  return env;
}

void AddCaches(const Work& work, const CallContext& call,
               std::map<std::string, std::string>& environment) {
  policy::AddCacheVariables(call.policy->caches, work.directory.path(), environment);
}

}  // namespace pa
