#include "supervisor/cli/policy_command.h"

#include <fmt/format.h>
#include <stdio.h>

#include <filesystem>

#include "policy/explain.h"
#include "policy/load.h"
#include "supervisor/call/tool.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/engine/engine.h"
#include "supervisor/run/view_cache.h"
#include "supervisor/text/visible_text.h"
#include "supervisor/tools/registry.h"

namespace pa {
namespace {

void Print(const std::string& text) {
  fputs(text.c_str(), stdout);
  if (!text.ends_with('\n')) fputc('\n', stdout);
}

int PrintDiagnostics(const policy::LoadedPolicy& loaded) {
  for (const auto& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}\n", VisibleText(diagnostic.Format()));
  }
  for (const auto& warning : loaded.warnings) {
    fmt::print(stderr, "warning: {}\n", VisibleText(warning.Format()));
  }
  return loaded.policy ? 0 : 1;
}

}  // namespace

// Checked as the user's file, alone: what the administrator allows on this machine may change, and
// `policy show` tells what comes of both.
int RunPolicyCheck(const PolicyCheckCommand& command, const Environment& environment) {
  policy::PolicySources sources = SourcesElsewhere(command.file, environment);
  sources.administrator_file.clear();
  const policy::LoadedPolicy loaded = policy::LoadPolicy(sources);
  const int status = PrintDiagnostics(loaded);
  if (status != 0) return status;
  fmt::print("{}: no errors\n", command.file);
  for (const policy::Relaxation& relaxation : loaded.policy->relaxations) {
    Print("relaxed: " + relaxation.Format());
  }
  return status;
}

int RunPolicyShow(const PolicyShowCommand& command, const Environment& environment) {
  const auto loaded = policy::LoadPolicy(SourcesOf(command.common, environment));
  if (!loaded.policy) return PrintDiagnostics(loaded);
  LogSources(*loaded.policy);
  Print(policy::ShowPolicy(*loaded.policy, command.json));
  return 0;
}

int RunPolicySchema() {
  Print(policy::PolicySchema());
  return 0;
}

namespace {

// Nothing where commands have no namespaces, and where none can run at all.
std::shared_ptr<const sandbox::View> ViewOfCommands(const policy::PolicyPtr& policy,
                                                    const CommonOptions& options,
                                                    const Environment& environment) {
  const Result<std::string> worker = FindWorker(options.worker);
  if (!worker) return nullptr;
  const sandbox::KernelFeatures kernel =
      ObserveKernel(PartsOf(policy, *worker, environment), environment);
  if (kernel.namespaces != sandbox::KernelFeatures::Granted::kYes) return nullptr;
  return ViewCache().For(policy);
}

}  // namespace

int RunPolicyExplain(const PolicyExplainCommand& command, const Environment& environment) {
  const auto loaded = policy::LoadPolicy(SourcesOf(command.common, environment));
  if (!loaded.policy) return PrintDiagnostics(loaded);
  LogSources(*loaded.policy);
  const Tool* tool = FindTool(command.subject);
  const auto explain_path = [&] {
    const auto view = ViewOfCommands(loaded.policy, command.common, environment);
    return policy::ExplainPath(*loaded.policy, command.subject, view.get());
  };
  // A file of the project may be called `a:1`.
  std::error_code failed;
  const bool is_file = std::filesystem::exists(
      std::filesystem::path(loaded.policy->roots.front()) / command.subject, failed);
  const auto peer = is_file ? std::nullopt : policy::ReadHost(command.subject);
  const auto explain = [&] {
    if (tool != nullptr) {
      return policy::ExplainTool(*loaded.policy, command.subject, tool->annotations.read_only);
    }
    if (!peer) return explain_path();
    const auto view = ViewOfCommands(loaded.policy, command.common, environment);
    return policy::ExplainHost(*loaded.policy, *peer, view != nullptr);
  };
  const policy::Explanation explanation = explain();
  Print(command.json ? explanation.json : explanation.text);
  return 0;
}

}  // namespace pa
