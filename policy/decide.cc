#include "policy/decide.h"

#include <algorithm>
#include <cassert>

#include "policy/grants.h"
#include "policy/path.h"
#include "policy/rules.h"

namespace pa::policy {

struct PermissionMaker {
  static Permission Make(const Policy& policy, const ActionRequest& request, std::string rule) {
    Permission permission;
    permission.policy_ = &policy;
    permission.directory_ = request.directory == nullptr ? "" : request.directory->path();
    permission.writes_git_ = request.writes_git || policy.git.commands == GitCommands::kWrite;
    permission.rule_ = std::move(rule);
    return permission;
  }
};

namespace {

RuleQuestion QuestionOf(const ActionRequest& request) {
  const std::string root = request.directory == nullptr ? "" : request.directory->root();
  return {.tool = request.tool,
          .target = request.target,
          .path = RelativeTo(root, request.path),
          .absolute = request.path,
          .command = request.command};
}

std::string CallOf(const ActionRequest& request) {
  std::string call = request.tool;
  for (const std::string& what : {request.target, request.path, request.command}) {
    if (!what.empty()) call += " " + what;
  }
  return call;
}

Deny Refused(const ActionRequest& request, const Rule& rule) {
  return {"policy refuses '" + CallOf(request) + "': " + rule.reason + " - by " + rule.where,
          "Do not retry this call. The rule " + rule.where +
              " refuses it; the user can change that rule and reload the policy."};
}

sandbox::ResourceLimits LimitsFor(const Policy& policy, const Needs& needs) {
  using std::chrono::milliseconds;
  const Limits& limits = policy.limits;
  milliseconds wall = limits.wall_time;
  if (needs.timeout) wall = std::min(wall, std::max(*needs.timeout, milliseconds(1)));
  sandbox::ResourceLimits out;
  out.cpu_seconds =
      static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(limits.cpu_time).count());
  out.memory_bytes = limits.memory;
  out.processes = limits.processes;
  out.cpus = limits.cpus == kAllCpus ? 0 : limits.cpus;
  out.open_files = limits.open_files;
  out.file_bytes = limits.file_size;
  out.wall_time_ms = static_cast<std::uint64_t>(wall.count());
  return out;
}

const sandbox::SeccompProgram& ProgramFor(const Programs& programs,
                                          const sandbox::Confinement& confinement) {
  if (confinement.seccomp == sandbox::SeccompProfile::kInspect) return programs.inspect;
  if (confinement.seccomp == sandbox::SeccompProfile::kSearch) return programs.search;
  if (confinement.seccomp == sandbox::SeccompProfile::kFiles) return programs.files;
  if (confinement.seccomp == sandbox::SeccompProfile::kFileChanges) return programs.changes;
  return confinement.network == sandbox::Network::kNone ? programs.no_network : programs.build;
}

}  // namespace

Allow Permission::For(const Needs& needs) const {
  // Only the user's git configuration is read from no directory in particular.
  assert(!directory_.empty() || needs.purpose == Purpose::kGitIdentity);
  const Policy& policy = *policy_;
  Allow allow;
  allow.purpose_ = needs.purpose;
  sandbox::Confinement confinement;
  confinement.paths = GrantsFor(policy, needs.purpose, directory_);
  for (sandbox::PathGrant& extra : ForPurpose(needs.purpose, needs.extra)) {
    confinement.paths.push_back(std::move(extra));
  }
  for (const sandbox::PathGrant& program : needs.programs) confinement.paths.push_back(program);
  confinement.network = NetworkFor(policy, needs.purpose);
  allow.limits_ = LimitsFor(policy, needs);
  confinement.namespaces = policy.namespaces;
  if (needs.purpose == Purpose::kInspect) {
    confinement.seccomp = sandbox::SeccompProfile::kInspect;
  }
  if (needs.purpose == Purpose::kSearch) {
    confinement.seccomp = sandbox::SeccompProfile::kSearch;
  }
  // No program runs that namespaces could keep anything from, and nobody is started who could be
  // counted.
  if (needs.purpose == Purpose::kReadFile || needs.purpose == Purpose::kWriteFile) {
    confinement.seccomp = needs.purpose == Purpose::kReadFile
                              ? sandbox::SeccompProfile::kFiles
                              : sandbox::SeccompProfile::kFileChanges;
    confinement.namespaces = sandbox::Namespaces::kOff;
    allow.limits_.processes = 0;
  }
  allow.seccomp_ = ProgramFor(policy.programs, confinement);
  allow.view_seccomp_ = ProgramFor(policy.view_programs, confinement);
  allow.confinement_ = std::make_shared<const sandbox::Confinement>(std::move(confinement));
  allow.writes_git_ =
      needs.purpose == Purpose::kBuild ? writes_git_ : needs.purpose != Purpose::kGitCopy;
  allow.rule_ = rule_;
  allow.relaxations_ = RelaxationsFor(policy, needs.purpose, directory_, allow.writes_git_);
  return allow;
}

sandbox::ResourceLimits MostLimits(const Policy& policy) { return LimitsFor(policy, {}); }

Deny ToolDisabled(const std::string& tool) {
  return {"the tool '" + tool + "' is not enabled: start the server with `--enable " + tool +
              "`, set ENABLE_ADDITIONAL_TOOLS=" + tool + ", or add " + tool +
              " to tools.enable in the policy file",
          "Ask the user to enable '" + tool + "' with `--enable " + tool +
              "`, ENABLE_ADDITIONAL_TOOLS=" + tool +
              " or tools.enable in the policy; "
              "calling it again before that cannot succeed.",
          true};
}

std::optional<Deny> WhyNoPorts(const Policy& policy) {
  const bool loopback = policy.network == sandbox::Network::kLoopback;
  if (policy.job_ports && loopback) return std::nullopt;
  if (policy.network == sandbox::Network::kFull) {
    return Deny{"with network: full a job listens on this machine itself, so no port is served",
                "Leave ports out: the user reaches the server where it listens."};
  }
  const std::string line =
      loopback ? "`jobs: {ports: loopback}`" : "`network: loopback` and `jobs: {ports: loopback}`";
  return Deny{"the policy lets nobody reach the ports of a job: jobs.ports",
              "Leave ports out and use the argument job of make or bash to reach the server, or "
              "tell the user that " +
                  line + " in the policy let this user's programs reach them on 127.0.0.1."};
}

// The line names all tools: where the policy has no such key, it replaces the default.
Deny NotFromWithin(const Policy& policy, const std::string& tool) {
  std::string names;
  for (const std::string& name : policy.inner_tools) names += name + ", ";
  const std::string line = "`pipeline: {tools: [" + names + tool + "]}`";
  return {"the policy does not let a pipeline or batch call '" + tool + "': write " + line +
              " in the policy file, or call " + tool + " by itself",
          "Call '" + tool + "' by itself, or tell the user that " + line +
              " in the policy allows it; "
              "calling it from a pipeline or batch before that cannot succeed."};
}

Deny RepositoryIsReadOnly() {
  return {
      "the policy lets no call of make or bash change the repository: git.commands is read",
      "Leave git_write out: git_add stages and git_commit commits. For more, tell the user that "
      "`git: {commands: ask}` in the policy lets them approve such a call."};
}

Decision Decide(const Policy& policy, const ActionRequest& request) {
  if (!policy.ToolEnabled(request.tool, request.read_only)) return ToolDisabled(request.tool);
  const Ruling ruling = Judge(policy.permissions, QuestionOf(request));
  if (ruling.verdict == Verdict::kDeny) return Refused(request, *ruling.rule);
  if (request.writes_git && policy.git.commands == GitCommands::kRead) {
    return RepositoryIsReadOnly();
  }
  // One question, whoever asks it.
  const bool asks_for_git = request.writes_git && policy.git.commands == GitCommands::kAsk;
  std::string rule = ruling.rule == nullptr ? "" : ruling.rule->where;
  if (asks_for_git) rule += rule.empty() ? "git.commands" : " and git.commands";
  if ((ruling.verdict == Verdict::kAsk || asks_for_git) && request.approved != rule) {
    std::string reason = ruling.verdict == Verdict::kAsk ? ruling.rule->reason : "";
    if (asks_for_git) {
      reason += reason.empty() ? "" : "; ";
      reason += "the command may change the repository (.git)";
    }
    return Ask{std::move(rule), std::move(reason), CallOf(request)};
  }
  return PermissionMaker::Make(policy, request, std::move(rule));
}

bool Policy::ToolEnabled(const std::string& tool, bool read_only) const {
  return read_only || enable_all || enabled_tools.contains(tool);
}

bool Policy::EverAsks() const { return git.commands == GitCommands::kAsk || EverAsk(permissions); }

bool Policy::InnerCallAllowed(const std::string& tool, bool read_only) const {
  return read_only || MakesCalls(tool) || inner_tools.contains(tool);
}

}  // namespace pa::policy
