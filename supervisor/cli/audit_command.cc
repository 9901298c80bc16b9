#include "supervisor/cli/audit_command.h"

#include <fmt/format.h>

#include "policy/load.h"
#include "supervisor/audit/audit_file.h"
#include "supervisor/cli/configuration.h"

namespace pa {
namespace {

constexpr int kUnreadable = 2;

// The files that were named, else the one of the policy in force.
std::vector<std::string> PathsOf(const AuditVerifyCommand& command,
                                 const Environment& environment) {
  if (!command.files.empty()) return command.files;
  const policy::LoadedPolicy loaded =
      policy::LoadPolicy(SourcesOf({.policy_file = command.policy_file}, environment));
  for (const auto& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}\n", diagnostic.Format());
  }
  if (!loaded.policy) return {};
  if (loaded.policy->audit.daemon != policy::AuditPolicy::Daemon::kNone) {
    fmt::print(stderr,
               "the policy's audit log is not in a file but at {}; name files that hold its lines, "
               "each of one server\n",
               loaded.policy->audit.socket);
    return {};
  }
  if (loaded.policy->audit.path.empty()) {
    fmt::print(stderr, "the policy keeps no audit log (audit: {{to: none}})\n");
    return {};
  }
  return {loaded.policy->audit.path};
}

}  // namespace

int RunAuditVerify(const AuditVerifyCommand& command, const Environment& environment) {
  const std::vector<std::string> paths = PathsOf(command, environment);
  if (paths.empty()) return kUnreadable;
  const Result<ChainReport> report = CheckChain(paths);
  if (!report) {
    fmt::print(stderr, "{}\n", report.error().Message());
    return kUnreadable;
  }
  for (const std::string& problem : report->problems) fmt::print("{}\n", problem);
  if (report->problem_count > report->problems.size()) {
    fmt::print("and {} more\n", report->problem_count - report->problems.size());
  }
  const bool whole = report->problem_count == 0;
  fmt::print("{}: {} lines, {}\n", fmt::join(paths, ", "), report->lines,
             whole ? "no gap" : "NOT intact");
  if (report->first && report->first->sequence != 1) {
    fmt::print("the first line is number {}: lines before it are in another file, or gone\n",
               report->first->sequence);
  }
  return whole ? 0 : 1;
}

}  // namespace pa
