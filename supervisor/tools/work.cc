#include "supervisor/tools/work.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <variant>

#include "policy/aliases.h"
#include "policy/caches.h"
#include "policy/path.h"
#include "supervisor/loop/log.h"
#include "supervisor/run/full_file.h"
#include "supervisor/state/project_cache.h"
#include "supervisor/tools/find_executable.h"
#include "supervisor/tools/params.h"

namespace pa {

namespace {

std::expected<Work, ToolError> StartWorkIn(const std::string& requested, const ToolRequest& request,
                                           std::string operation, const CallContext& call) {
  auto directory = policy::ValidateWorkingDirectory(*call.policy, requested);
  if (!directory) return std::unexpected(InvalidDirectory(directory.error()));
  return Work{.tool = &request.tool(),
              .operation = std::move(operation),
              .directory = std::move(*directory),
              .dry_run = request.arguments().Boolean("dry_run"),
              .writes_git = request.arguments().Boolean("git_write")};
}

bool TakesDirectory(const Tool& tool) {
  return std::ranges::any_of(
      tool.params, [](const Param& param) { return param.name == kWorkingDirectoryParam.name; });
}

// As it stands in a message.
std::string CutPath(const std::string& path) {
  constexpr std::size_t kMaxShown = 512;
  return path.size() <= kMaxShown ? path : path.substr(0, kMaxShown) + "...";
}

// ENAMETOOLONG: no file can have that name.
bool IsMissing(int code) {
  return code == ENOENT || code == ENOTDIR || code == ELOOP || code == ENAMETOOLONG;
}

}  // namespace

std::expected<Work, ToolError> StartWork(const ToolRequest& request, std::string operation,
                                         const CallContext& call) {
  const std::string* requested = request.arguments().String("working_directory");
  auto work =
      StartWorkIn(requested == nullptr ? "" : *requested, request, std::move(operation), call);
  const std::string* job = request.arguments().String("job");
  if (work && job != nullptr) work->job = *job;
  return work;
}

std::expected<Work, ToolError> StartWorkAt(const ToolRequest& request, const CallContext& call) {
  const std::string* path = request.arguments().String("path");
  return StartWorkAt(request, call, path == nullptr ? "" : *path);
}

std::expected<Work, ToolError> StartWorkAt(const ToolRequest& request, const CallContext& call,
                                           const std::string& path) {
  const std::string named = policy::ByAlias(call.policy->aliases, path);
  std::string holds;
  for (const std::string& root : call.policy->roots) {
    if (root.size() > holds.size() && policy::IsBeneath(named, root)) holds = root;
  }
  return StartWorkIn(holds, request, "", call);
}

std::expected<policy::FoundBeneath, ToolError> FindInRoot(const Work& work, const CallContext& call,
                                                          const std::string& path,
                                                          std::string_view verb,
                                                          std::string_view advice) {
  const std::string& top = work.directory.path();
  std::string relative = policy::ByAlias(call.policy->aliases, path);
  if (relative == top || relative.starts_with(top + "/")) {
    relative.erase(0, std::min(top.size() + 1, relative.size()));
  }
  const std::string attempt = "cannot " + std::string(verb) + " " + CutPath(relative) + ": ";
  Result<policy::FoundBeneath> found = policy::FindBeneath(work.directory, relative);
  if (!found && found.error().sys_errno == EXDEV) {
    return std::unexpected(
        InvalidPath(CutPath(path), "it leads out of " + top, TakesDirectory(*work.tool)));
  }
  if (!found) {
    const int code = found.error().sys_errno;
    const std::string why = Error(found.error().op, "", code).Message();
    return std::unexpected(IsMissing(code) ? NotFound(attempt + why, std::string(advice))
                                           : FileIo(attempt + why, code));
  }
  // Commands have no way to it, or none that they should take.
  const std::string log = call.policy->audit.Directory();
  if (policy::IsBeneath(log, top) && policy::IsBeneath(found->directory.path(), log)) {
    return std::unexpected(
        NotFound(attempt + "the audit log lies there", "It is not for tools. Pass another path."));
  }
  return *std::move(found);
}

std::string PrefixOf(const Work& work, const CallContext& call, const policy::FoundBeneath& place) {
  const std::string& top = work.directory.path();
  std::string prefix = top == call.policy->roots.front() ? "" : top + "/";
  if (!place.relative.empty()) prefix += place.relative + "/";
  return prefix;
}

std::expected<policy::Permission, ToolError> Permit(const Work& work, CallContext& call,
                                                    policy::Purpose purpose, Object object) {
  policy::ActionRequest request{.tool = std::string(work.tool->name),
                                .target = work.operation,
                                .path = std::move(object.path),
                                .command = std::move(object.command),
                                .directory = &work.directory,
                                .read_only = work.tool->annotations.read_only,
                                .writes_git = work.writes_git};
  policy::Decision decision = policy::Decide(*call.policy, request);
  if (const auto* ask = std::get_if<policy::Ask>(&decision)) {
    Question question{.rule = ask->rule, .reason = ask->reason, .call = ask->call};
    if (!call.approvals.Has(question)) {
      call.approvals.Want(question);
      return std::unexpected(NotApproved(Answer::kUnavailable, {&question, 1}));
    }
    request.approved = question.rule;
    decision = policy::Decide(*call.policy, request);
  }
  if (const auto* deny = std::get_if<policy::Deny>(&decision)) {
    return std::unexpected(Denied(*deny));
  }
  auto permission = std::get<policy::Permission>(std::move(decision));
  if (!call.record.allowed) {  // the first one is the call's, what it needs on its way comes after
    call.record.directory = work.directory.path();
    call.record.allowed = true;
    call.record.rule = permission.rule();
    call.record.relaxations = policy::RelaxationsFor(*call.policy, purpose, work.directory.path(),
                                                     permission.writes_git());
  }
  return permission;
}

std::expected<std::string, ToolError> Require(const std::string& program, const Work& /*work*/,
                                              const CallContext& call) {
  FoundExecutable found = FindExecutable(program, call.ambient, call.policy.get());
  if (!found.path) return std::unexpected(ToolNotFound(program, found.passed_over));
  return std::move(*found.path);
}

Task<std::vector<Denial>> FindDenialsOf(const Execution& run, policy::Purpose purpose,
                                        const sandbox::Confinement& confinement, const Work& work,
                                        CallContext& call, std::string_view script) {
  std::vector<Denial> denials;
  if (run.Succeeded()) co_return denials;  // the usual case pays for none of this
  const Confined confined{.policy = *call.policy,
                          .purpose = purpose,
                          .confinement = confinement,
                          .directory = work.directory.path(),
                          .search_path = WorkEnvironment(call)["PATH"],
                          .script = script};
  Inside inside;
  inside.question.directory = work.directory.path();
  denials = DenialsOf(run, confined, inside);
  if (!inside.IsAsked()) co_return denials;
  JanitorOrder order{.chore = kLookInside, .read = {work.directory.path()}};
  Task<Result<InsideAnswer>> looking =
      Ask<InsideAnswer>(call.runner.janitor(), std::move(order), inside.question);
  Result<InsideAnswer> answer = co_await looking;
  if (!answer) LogWarning(answer.error().Message());
  inside.answer = std::move(answer).value_or(InsideAnswer());
  co_return DenialsOf(run, confined, inside);
}

std::string Offer(const CallContext& call, std::string_view tool, std::string_view advice) {
  return call.policy->ToolEnabled(std::string(tool), false) ? std::string(advice) : "";
}

Task<std::optional<ToolError>> TakeTurn(FileTurn& turn, CallContext& call) {
  const bool patient = call.record.run.queue.patient;
  if (!turn.Enter(call.cancel, patient ? UINT64_MAX : call.policy->limits.queue)) {
    co_return Busy();
  }
  const InQueue waiting(&call.record.run.queue, [&turn] { return turn.Before(); });
  Completion<bool>& granted = turn.granted();
  const bool ours = co_await granted;
  if (!ours) co_return Cancelled("the call");
  co_return std::nullopt;
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

std::string OpenCache(const Work& work, const CallContext& call,
                      std::map<std::string, std::string>& environment) {
  const std::string& directory = work.directory.path();
  const Result<void> made = MakeProjectCache(call.policy->caches, directory);
  if (!made) return "toolchains have no cache to write: " + made.error().Message();
  AddCaches(work, call, environment);
  return "";
}

void AddCaches(const Work& work, const CallContext& call,
               std::map<std::string, std::string>& environment) {
  policy::AddCacheVariables(call.policy->caches, work.directory.path(), environment);
}

}  // namespace pa
