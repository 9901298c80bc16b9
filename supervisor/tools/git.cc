#include "supervisor/tools/git.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/try.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/state/user_directories.h"
#include "supervisor/tools/dry_run.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

// Nothing may wait for somebody who is not there, and nothing stays behind: `gc --auto` and the
// daemon that watches files would go on when the command is done.
constexpr std::pair<std::string_view, std::string_view> kOwnSettings[] = {
    {"commit.gpgSign", "false"},
    {"gc.auto", "0"},
    {"maintenance.auto", "false"},
    {"core.fsmonitor", "false"}};

Environment BaseEnvironment(const Work& work, const Git& git, const CallContext& call) {
  Environment env = WorkEnvironment(call);
  const Environment& set = call.policy->environment_set;
  std::erase_if(env, [&](const auto& entry) {
    return entry.first.starts_with("GIT_") && !set.contains(entry.first);
  });
  env["GIT_TERMINAL_PROMPT"] = "0";
  env["GIT_CONFIG_NOSYSTEM"] = "1";
  for (const char* name : {"GIT_PAGER", "PAGER"}) env[name] = "cat";
  for (const char* name : {"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL"})
    env[name] = ":";
  for (const char* name : {"GIT_ASKPASS", "SSH_ASKPASS"}) env[name] = "/bin/false";
  // What we did not accept as this directory's repository git must not find either.
  const std::string& top = git.repository ? git.repository->top_level : work.directory.path();
  env["GIT_CEILING_DIRECTORIES"] = top.substr(0, std::max<std::size_t>(top.rfind('/'), 1));
  return env;
}

void AddSettings(Environment& env, const std::vector<GitSetting>& settings) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    env[fmt::format("GIT_CONFIG_KEY_{}", i)] = settings[i].key;
    env[fmt::format("GIT_CONFIG_VALUE_{}", i)] = settings[i].value;
  }
  env["GIT_CONFIG_COUNT"] = std::to_string(settings.size());
}

std::vector<sandbox::PathGrant> ReadOnly(std::vector<sandbox::PathGrant> grants) {
  for (sandbox::PathGrant& grant : grants) grant.access = sandbox::Access::kRead;
  return grants;
}

// `hooks: skip`: what the repository holds is read, never executed.
std::vector<sandbox::PathGrant> WithoutExecute(std::vector<sandbox::PathGrant> grants) {
  for (sandbox::PathGrant& grant : grants) {
    if (grant.access == sandbox::kReadExecute) grant.access = sandbox::Access::kRead;
  }
  return grants;
}

// It can only be read by setting it; there is one thread.
mode_t PresentUmask() {
  const mode_t present = umask(0);
  umask(present);
  return present;
}

}  // namespace

GitReader ReaderOf(const Work& work, const Git& git, const CallContext& call) {
  GitReader reader{.permission = git.permission,
                   .executable = git.executable,
                   .environment = BaseEnvironment(work, git, call)};
  if (git.repository) {
    reader.repository = ReadOnly(git.repository->grants);
    reader.top_level = git.repository->top_level;
  }
  return reader;
}

PreparedGit StartGit(const Work& work, policy::Permission permission, const CallContext& call) {
  PA_TRY(auto executable, Require("git", work, call));
  auto repository = policy::FindRepository(*call.policy, work.directory);
  if (!repository) return std::unexpected(InvalidDirectory(repository.error()));
  Git git{.permission = std::move(permission),
          .executable = std::move(executable),
          .repository = std::move(*repository)};
  const bool skip = call.policy->git.hooks == policy::Hooks::kSkip;
  if (git.repository) {
    git.grants = skip ? WithoutExecute(git.repository->grants) : git.repository->grants;
  }
  for (const auto& [key, value] : kOwnSettings)
    git.settings.push_back({std::string(key), std::string(value)});
  if (skip) git.settings.push_back({"core.hooksPath", "/dev/null"});
  return git;
}

Environment GitEnvironment(const Work& work, const Git& git, const CallContext& call) {
  Environment env = BaseEnvironment(work, git, call);
  env["GIT_CONFIG_GLOBAL"] = "/dev/null";
  AddSettings(env, git.settings);
  return env;
}

Task<PreparedGit> PrepareGit(const Work& work, policy::Permission permission, CallContext& call) {
  PA_CO_TRY(Git git, StartGit(work, std::move(permission), call));
  const GitReader reader = ReaderOf(work, git, call);
  Task<ReadSettings> task = ReadUserSettings(work, reader, call);
  ReadSettings user = co_await task;
  if (!user) co_return std::unexpected(std::move(user.error()));
  git.wants_signatures = user->wants_signatures;
  git.umask = UmaskForSharing(user->shared_repository, PresentUmask());
  const std::vector<sandbox::PathGrant> files = GrantUserFiles(call, *user);
  git.grants.insert(git.grants.end(), files.begin(), files.end());
  git.settings.insert(git.settings.end(), user->settings.begin(), user->settings.end());
  co_return std::move(git);
}

Task<ToolResult> RunGit(const Work& work, Git git, GitCommand command, CallContext& call) {
  const GitReader reader = ReaderOf(work, git, call);
  policy::Allow allow =
      git.permission.For({.purpose = policy::Purpose::kGit, .extra = std::move(git.grants)});
  CommandReport report{.what = command.what,
                       .argv = command.argv,
                       .working_dir = work.directory.path(),
                       .decision = allow.rule(),
                       .git = true,
                       .in_repository = git.repository.has_value()};
  if (work.dry_run) co_return RenderDryRun(report, allow, call.runner.Kernel(), std::nullopt);
  RunOptions options{
      .name = report.what, .sink = call.sink, .cancel = &call.cancel, .record = &call.record.run};
  if (call.begins) call.begins(report.what);
  // git's own locks fail at once when they are held; in turn, both calls succeed.
  if (git.repository) options.serialise_key = git.repository->common_dir;
  options.repository = git.repository;
  CommandPlan plan{.executable = git.executable,
                   .argv = std::move(command.argv),
                   .env = GitEnvironment(work, git, call),
                   .directory = work.directory,
                   .stdin_data = std::move(command.stdin_data),
                   .umask = git.umask};
  const auto confinement = allow.SharedConfinement();
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(allow), call.policy, options);
  const Execution run = co_await task;
  ToolResult result =
      RenderCommand(report, run, DenialsOf(run, policy::Purpose::kGit, *confinement, work, call));
  if (result.error) co_return result;
  Task<ToolResult> telling = command.tell(work, reader, std::move(result), call);
  ToolResult told = co_await telling;
  co_return told;
}

}  // namespace pa
