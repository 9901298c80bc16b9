#include "supervisor/cli/doctor_command.h"

#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "policy/decide.h"
#include "policy/path.h"
#include "policy/working_directory.h"
#include "supervisor/audit/audit_log.h"
#include "supervisor/callers/access_tokens.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/engine/engine.h"
#include "supervisor/loop/loop.h"
#include "supervisor/spawner/confine_server.h"
#include "supervisor/state/edit_journal.h"
#include "supervisor/state/instance_dir.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/text/visible_text.h"
#include "supervisor/text/wrap.h"
#include "supervisor/tools/copy_directory.h"
#include "supervisor/tools/find_executable.h"
#include "worker/probe.h"

namespace pa {
namespace {

policy::PolicyPtr DefaultPolicy(const Environment& environment, const std::string& root) {
  policy::PolicySources sources = SourcesOf({}, environment);
  sources.administrator_file.clear();
  sources.user_file.reset();
  sources.default_user_file.clear();
  sources.env_enable.reset();
  sources.env_commit_size.reset();
  sources.roots = {root};
  sources.enable = {"all"};
  return policy::LoadPolicy(sources).policy;
}

void TakeProbeResult(const Execution& execution, DoctorReport* report) {
  if (execution.outcome != Outcome::kExited) {
    report->probe_error =
        execution.failure.empty() ? OutcomeName(execution.outcome) : execution.failure;
    return;
  }
  for (unsigned n = 0; n < worker::kProbeCount; ++n) {
    if ((execution.probe_tried >> n & 1) == 0) continue;
    const bool denied = (execution.probe_denied >> n & 1) != 0;
    (denied ? report->probe_denied : report->probe_allowed).push_back(worker::kProbeNames[n]);
  }
}

struct Tried {
  Execution probe;
  std::string
      no_place;  // for a copy of a repository; "": the runner knows whether there can be one
};

Task<Tried> TryAll(Runner& runner, policy::WorkingDirectory directory, policy::Allow allow,
                   policy::PolicyPtr policy) {
  Tried tried;
  Task<Execution> probing = runner.Probe(directory, allow, policy);
  tried.probe = co_await probing;
  Task<std::string> copying = TryCopy(runner, std::move(directory), std::move(allow), policy);
  tried.no_place = co_await copying;
  co_return tried;
}

// The confinement of `make` in an empty project, described and then tried.
void ExamineSandbox(const Environment& environment, DoctorReport* report) {
  report->enforcement = sandbox::Assess({}, {}, sandbox::DetectKernel());
  if (const Result<void> proc = CheckProc(); !proc) {
    report->probe_error = report->worker_error = proc.error().Message();
    report->worker.clear();
    return;
  }
  // A project of our own, so that doctor works wherever it is called.
  std::error_code failed;
  const auto project = InstanceDir::Create(std::filesystem::temp_directory_path(failed).string());
  if (!project) {
    report->probe_error = project.error().Message();
    return;
  }
  const policy::PolicyPtr policy = DefaultPolicy(environment, project->path());
  if (!policy) {
    report->probe_error = "the default policy does not load";
    return;
  }
  auto directory = policy::ValidateWorkingDirectory(*policy, "");
  if (!directory) {
    report->probe_error = directory.error().message;
    return;
  }
  const auto decision = policy::Decide(*policy, {.tool = "make", .directory = &*directory});
  const auto* permission = std::get_if<policy::Permission>(&decision);
  if (permission == nullptr) {
    report->probe_error = std::get<policy::Deny>(decision).message;
    return;
  }
  const policy::Allow allow = permission->For({.purpose = policy::Purpose::kBuild});
  report->enforcement =
      sandbox::Assess(allow.confinement(), allow.limits(), sandbox::DetectKernel());
  if (report->worker.empty()) {
    report->probe_error = report->worker_error;
    return;
  }
  Loop loop;
  Engine engine(loop.get(), PartsOf(policy, report->worker, environment), environment);
  Detach(TryAll(engine.runner(), *directory, allow, policy), [&](const Tried& tried) {
    TakeProbeResult(tried.probe, report);
    sandbox::KernelFeatures kernel = engine.runner().Kernel();
    if (!tried.no_place.empty()) {
      kernel.overlay = sandbox::KernelFeatures::Granted::kNo;
      kernel.no_overlay = tried.no_place;
    }
    report->enforcement = sandbox::Assess(allow.confinement(), allow.limits(), kernel);
    engine.runner().Shutdown([] {});
  });
  loop.Run();
}

// As `serve` confines itself under this policy.
void ExamineServer(bool ports, DoctorReport* report) {
  const ServerTrial trial = TryConfinement(ports);
  report->server_error = trial.error;
  if (!trial.error.empty()) return;
  report->server_can.emplace();
  if (trial.opens_others) report->server_can->emplace_back("open other files of its user");
  if (trial.makes_process) report->server_can->emplace_back("start programs");
  if (trial.makes_socket) report->server_can->emplace_back("connect to the Internet");
}

// Issuers exchange their keys; a file that nobody refreshes shuts its users out then.
void ExamineIssuer(const policy::OAuthPolicy& oauth, DoctorReport* report) {
  if (!oauth.IsOn()) return;
  constexpr std::chrono::days kOld{7};
  AccessTokens tokens(ServedUser(UserName()));
  if (const std::string why = tokens.WhyNobody(oauth); !why.empty()) {
    report->policy_warnings.push_back("access tokens: " + VisibleText(why));
    return;
  }
  const std::chrono::nanoseconds written(tokens.keys().modified_ns);
  const auto age = std::chrono::floor<std::chrono::days>(
      std::chrono::system_clock::now().time_since_epoch() - written);
  if (age < kOld) return;
  report->policy_warnings.push_back(
      fmt::format("access tokens: {} is {} days old; is it refreshed? (docs/http.md)",
                  VisibleText(oauth.jwks), age.count()));
}

// As a call would find it. Without a policy, of which the report says why, there are no calls.
FoundProgram Look(const char* name, const Environment& environment, const policy::Policy* policy,
                  const char* advice) {
  return {.name = name,
          .path = FindExecutable(name, environment, policy).path.value_or(""),
          .advice = advice};
}

}  // namespace

DoctorReport Examine(const CommonOptions& options, const Environment& environment) {
  DoctorReport report;
  const Result<std::string> worker = FindWorker(options.worker);
  if (worker) report.worker = *worker;
  if (!worker) report.worker_error = worker.error().Message();
  const policy::LoadedPolicy loaded = policy::LoadPolicy(SourcesOf(options, environment));
  const policy::Policy* policy = loaded.policy.get();
  report.programs = {
      Look("make", environment, policy, "install make: make_targets and make need it"),
      Look("git", environment, policy, "install git: git_add and git_commit need it"),
      Look("rg", environment, policy, "install ripgrep: glob and grep need it"),
      Look("bash", environment, policy, "install bash: the tool bash needs it"),
  };
  if (loaded.policy) {
    report.policy_files = loaded.policy->sources;
    report.relaxations = loaded.policy->relaxations;
    const policy::AuditPolicy& audit = loaded.policy->audit;
    report.audit_log = audit.path.empty() ? audit.socket : audit.path;
    const auto edits = FindStateDirectory(*loaded.policy, StateHome(environment), kEditsDirectory);
    if (edits) {
      Result<std::vector<std::string>> kept = KeptEdits(*edits, [&](const std::string& root) {
        return std::ranges::any_of(
            policy->roots, [&](const std::string& ours) { return policy::IsBeneath(root, ours); });
      });
      if (kept) report.kept_edits = std::move(*kept);
      if (!kept) report.policy_warnings.push_back("unfinished edits: " + kept.error().Message());
    }
    ExamineIssuer(loaded.policy->http.oauth, &report);
    LogSources(*loaded.policy);
  }
  for (const auto& diagnostic : loaded.diagnostics) {
    report.policy_errors.push_back(diagnostic.Format());
  }
  for (const auto& warning : loaded.warnings)
    report.policy_warnings.push_back(VisibleText(warning.Format()));
  ExamineServer(policy != nullptr && policy->job_ports, &report);
  ExamineSandbox(environment, &report);
  return report;
}

int RunDoctor(const DoctorCommand& command, const Environment& environment) {
  const DoctorReport report = Examine(command.common, environment);
  const bool colours = isatty(STDOUT_FILENO) == 1 && !environment.contains("NO_COLOR");
  const DoctorLook look{.colours = colours, .width = TerminalWidth(STDOUT_FILENO)};
  const std::string text =
      command.json ? FormatDoctorJson(report) + "\n" : FormatDoctorText(report, look);
  fputs(text.c_str(), stdout);
  return report.Complete() ? 0 : 1;
}

}  // namespace pa
