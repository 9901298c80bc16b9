#include "supervisor/tools/git.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/path_stamp.h"
#include "base/try.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/state/trash.h"
#include "supervisor/state/user_directories.h"
#include "supervisor/text/visible_text.h"
#include "supervisor/tools/dry_run.h"
#include "supervisor/tools/git_copy.h"
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

// Whether git finds the hook. One that is not executable it passes over (githooks(5)); of one that
// cannot be looked at nobody knows.
bool HasHook(const std::string& directory, std::string_view name) {
  if (access((directory + "/" + std::string(name)).c_str(), X_OK) == 0) return true;
  return !MeansGone(errno);
}

// core.hooksPath is a path in git's sense, relative to the top of the working tree.
std::string HooksDirectory(const Git& git, const CallContext& call) {
  if (!git.hooks_path) return git.repository->common_dir + "/hooks";
  std::string path = *git.hooks_path;
  if (path.starts_with("~/")) path.replace(0, 1, call.policy->home);
  return path.starts_with('/') ? path : git.repository->top_level + "/" + path;
}

// Whether git would execute something of the project for the command.
bool ExecutesOfProject(const Git& git, const GitCommand& command, const CallContext& call) {
  if (!git.repository || call.policy->git.hooks == policy::Hooks::kSkip) return false;
  if (git.has_hooks || git.foreign_filters) return true;
  // `~user/` and `%(prefix)/` lead somewhere that git alone knows.
  const std::string directory = HooksDirectory(git, call);
  if (git.hooks_path &&
      (git.hooks_path->starts_with("%(") ||
       (git.hooks_path->starts_with('~') && !git.hooks_path->starts_with("~/")))) {
    return true;
  }
  return std::ranges::any_of(command.hooks,
                             [&](std::string_view name) { return HasHook(directory, name); });
}

// git-lfs, and the shell with which git starts a filter that has words. One that is not there git
// itself complains about.
std::vector<sandbox::PathGrant> LfsPrograms(const Work& work, const CallContext& call) {
  std::vector<sandbox::PathGrant> programs;
  for (const char* name : {"git-lfs", "sh"}) {
    if (const auto path = Require(name, work, call)) {
      programs.push_back({*path, sandbox::kReadExecute, "filter git-lfs"});
    }
  }
  return programs;
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

Task<PreparedGit> StartGit(const Work& work, policy::Permission permission, CallContext& call) {
  PA_CO_TRY(auto executable, Require("git", work, call));
  Task<RepositoryFinder::Found> finding = call.runner.FindRepository(call.policy, work.directory);
  RepositoryFinder::Found repository = co_await finding;
  if (!repository) co_return std::unexpected(InvalidDirectory(repository.error()));
  Git git{.permission = std::move(permission),
          .executable = std::move(executable),
          .repository = std::move(*repository)};
  if (git.repository) git.grants = git.repository->grants;
  for (const auto& [key, value] : kOwnSettings)
    git.settings.push_back({std::string(key), std::string(value)});
  co_return git;
}

void MakeAlone(Git& git) {
  if (git.repository) {
    for (const std::string& path : std::set{git.repository->common_dir, git.repository->git_dir}) {
      git.grants.push_back(
          {path, sandbox::kReadWrite, "git repository", sandbox::Symlinks::kRefuse});
    }
  }
  git.settings.push_back({"core.hooksPath", "/dev/null"});
}

Environment GitEnvironment(const Work& work, const Git& git, const CallContext& call) {
  Environment env = BaseEnvironment(work, git, call);
  env["GIT_CONFIG_GLOBAL"] = "/dev/null";
  AddSettings(env, git.settings);
  return env;
}

Task<PreparedGit> PrepareGit(const Work& work, policy::Permission permission, CallContext& call) {
  Task<PreparedGit> starting = StartGit(work, std::move(permission), call);
  PreparedGit started = co_await starting;
  if (!started) co_return std::unexpected(std::move(started.error()));
  Git git = *std::move(started);
  const GitReader reader = ReaderOf(work, git, call);
  Task<ReadSettings> task = ReadUserSettings(work, reader, call);
  ReadSettings user = co_await task;
  if (!user) co_return std::unexpected(std::move(user.error()));
  git.wants_signatures = user->wants_signatures;
  git.umask = UmaskForSharing(user->shared_repository, PresentUmask());
  const std::vector<sandbox::PathGrant> files = GrantUserFiles(call, *user);
  git.grants.insert(git.grants.end(), files.begin(), files.end());
  git.settings.insert(git.settings.end(), user->settings.begin(), user->settings.end());
  git.hooks_path = std::move(user->hooks_path);
  git.has_hooks = user->has_hooks;
  git.filters = std::move(user->filters);
  git.foreign_filters = user->foreign_filters;
  const bool skip = call.policy->git.hooks == policy::Hooks::kSkip;
  if (!git.filters.empty() && !git.foreign_filters && !skip) git.programs = LfsPrograms(work, call);
  co_return std::move(git);
}

namespace {

RunOptions OptionsOf(const Git& git, const std::string& name, CallContext& call) {
  RunOptions options{
      .name = name, .sink = call.sink, .cancel = &call.cancel, .record = &call.record.run};
  // git's own locks fail at once when they are held; in turn, both calls succeed.
  if (git.repository) options.serialise_key = git.repository->common_dir;
  options.repository = git.repository;
  return options;
}

// As git is to run for this purpose.
Git For(policy::Purpose purpose, Git git) {
  if (purpose == policy::Purpose::kGitAlone) MakeAlone(git);
  if (purpose == policy::Purpose::kGitCopy) {
    for (sandbox::PathGrant& grant : git.grants) {
      if (grant.access == sandbox::kReadWrite) grant.access = sandbox::Access::kRead;
    }
  }
  return git;
}

policy::Allow AllowOf(policy::Purpose purpose, const Git& git) {
  policy::Needs needs{.purpose = purpose, .extra = git.grants};
  if (purpose == policy::Purpose::kGitAlone) needs.programs = git.programs;
  return git.permission.For(needs);
}

struct GitRun {
  Execution execution;
  std::vector<Denial> denials;
};

// `copy`: for Purpose::kGitCopy, otherwise null.
Task<GitRun> RunFor(policy::Purpose purpose, const Work& work, const Git& prepared,
                    const GitCommand& command, GitCopy* copy, CallContext& call) {
  const Git git = For(purpose, prepared);
  CommandPlan plan{.executable = git.executable,
                   .argv = command.argv,
                   .env = GitEnvironment(work, git, call),
                   .directory = work.directory,
                   .stdin_data = command.stdin_data,
                   .umask = git.umask};
  std::string no_cache;
  if (purpose != policy::Purpose::kGitAlone) no_cache = OpenCache(work, call, plan.env);
  RunOptions options = OptionsOf(git, command.what, call);
  if (copy != nullptr) {
    plan = copy->Wrap(std::move(plan));
    options.overlay = copy->Overlay();
    options.begins = [copy] { return copy->Begin(); };
    options.ended = [copy, &work](const Execution& run) { return copy->End(run, work); };
  }
  policy::Allow allow = AllowOf(purpose, git);
  const auto confinement = allow.SharedConfinement();
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(allow), call.policy, options);
  GitRun done;
  done.execution = co_await task;
  done.execution.Warn(no_cache);
  Task<std::vector<Denial>> denying =
      FindDenialsOf(done.execution, purpose, *confinement, work, call);
  done.denials = co_await denying;
  co_return done;
}

void TellOfCopy(const GitCopy& copy, ToolResult& result) {
  if (!copy.kept().empty()) {
    Warn(result, fmt::format("git did not end by itself; what hooks or filters had put aside in "
                             "their copy of the repository is kept for {} days in {}",
                             kTrashKeptDays, copy.kept()));
  }
  if (copy.moved()) {
    Warn(result,
         "HEAD moved at the moment when the commit was taken over, so the commit may undo "
         "what another program committed then");
  }
  if (copy.left_behind().empty()) return;
  std::string names;
  for (const std::string& name : copy.left_behind()) {
    names += (names.empty() ? "" : ", ") + VisibleText(name);
  }
  Warn(result,
       "hooks or filters changed more of their copy of the repository than the commit, and "
       "that is not taken over: " +
           names);
}

}  // namespace

Task<ToolResult> RunGit(const Work& work, Git git, GitCommand command, CallContext& call) {
  using policy::Purpose;
  const GitReader reader = ReaderOf(work, git, call);
  Purpose purpose = Purpose::kGitAlone;
  if (ExecutesOfProject(git, command, call)) purpose = Purpose::kGitCopy;
  const CommandReport report{.what = command.what,
                             .argv = command.argv,
                             .working_dir = work.directory.path(),
                             .decision = git.permission.rule(),
                             .git = true,
                             .in_repository = git.repository.has_value()};
  if (work.dry_run) {
    const policy::Allow allow = AllowOf(purpose, For(purpose, git));
    co_return RenderDryRun(report, allow, call.runner.Kernel(), std::nullopt);
  }
  if (call.begins) call.begins(report.what);
  std::optional<GitCopy> copy;
  if (purpose == Purpose::kGitCopy) {
    Result<GitCopy> made = GitCopy::Make(work, git, command.commits, call);
    // A full disk, which a command can bring about, is no reason to do without.
    if (!made && MeansUsedUp(made.error().sys_errno)) {
      co_return RefusedCall(FileIo(made.error().Message(), made.error().sys_errno));
    }
    if (made) {
      copy.emplace(*std::move(made));
    } else {
      purpose = Purpose::kGit;
    }
  }
  Task<GitRun> task = RunFor(purpose, work, git, command, copy ? &*copy : nullptr, call);
  GitRun run = co_await task;
  // A filter decides what it needs, and the agent can write filters: so the policy decides whether
  // it gets that.
  const bool give = copy && copy->needs_repository() && git.permission.writes_git();
  if (copy && (give || HasNoOverlay(run.execution))) {
    copy.reset();
    Task<GitRun> again = RunFor(Purpose::kGit, work, git, command, nullptr, call);
    run = co_await again;
  }
  ToolResult result = RenderCommand(report, run.execution, run.denials);
  if (copy && copy->error()) {
    result.error = copy->error();
    if (copy->needs_repository()) {
      result.error->ai_message +=
          " The line `git: {commands: write}` in the policy lets such filters "
          "change the repository itself; tell the user.";
      result.allow_with.emplace_back("git: {commands: write}");
    }
    result.text += fmt::format("{}\n{}: {}\n", result.error->message, CodeText(result.error->code),
                               result.error->ai_message);
  }
  if (copy) TellOfCopy(*copy, result);
  if (result.error) co_return result;
  Task<ToolResult> telling = command.tell(work, reader, std::move(result), call);
  ToolResult told = co_await telling;
  co_return told;
}

}  // namespace pa
