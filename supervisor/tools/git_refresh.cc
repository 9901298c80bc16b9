#include "supervisor/tools/git_refresh.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "base/finally.h"
#include "policy/path.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/loop/within_memory.h"
#include "supervisor/tools/git_porcelain.h"
#include "supervisor/tools/git_reader.h"

namespace pa {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Longer than a repository of 80,000 files needs. The command starts then, and the refresh goes on.
constexpr milliseconds kPatience{2000};
constexpr milliseconds kLimit{60000};

// What `bash` runs; "": it is none of its commands, or is given values.
std::string_view ScriptOf(const std::vector<std::string>& argv) {
  return argv.front() == "bash" && argv.size() == 4 ? std::string_view(argv.back()) : "";
}

// A make target may run it, and a shell command, or a value that it is given, names it.
bool MayRunGit(const std::vector<std::string>& argv) {
  const auto names_git = [](const std::string& one) { return one.contains("git"); };
  return argv.front() == "make" || std::ranges::any_of(argv, names_git);
}

std::string NameOfCommand(const Work& work, const std::vector<std::string>& argv) {
  std::string name = work.directory.path();
  for (const std::string& argument : argv) name += '\0' + argument;
  return name;
}

// `git status` writes an index that has to be corrected and nothing else, and nothing at all while
// another git holds the index (git-status(1), BACKGROUND REFRESH). It looks at no untracked file.
std::vector<std::string> Argv() {
  return {"git",
          "status",
          "--porcelain",
          "--untracked-files=no",
          "--ignore-submodules=all",
          "--no-renames",
          "--no-ahead-behind"};
}

struct Started {
  CommandPlan plan;
  policy::Allow allow;
  policy::PolicyPtr policy;
  RunOptions options;  // with the repository
};

Task<bool> Run(Runner& runner, Started started) {
  TrackedFiles& files = runner.index_uses().files();
  const std::string git_dir = started.options.repository->git_dir;
  Task<bool> watching =
      files.Watch(runner.janitor(), started.plan.directory.path(), *started.options.repository);
  [[maybe_unused]] const bool watched = co_await watching;
  Task<Execution> task = runner.Run(std::move(started.plan), std::move(started.allow),
                                    std::move(started.policy), std::move(started.options));
  const Execution run = co_await task;
  if (run.Succeeded()) files.Refreshed(git_dir);
  co_return run.Succeeded();
}

// Wakes up one coroutine, once, whoever is first.
struct Awakening {
  Completion<bool> done;
  bool set = false;
  void Set(bool value) {
    if (!std::exchange(set, true)) done.Set(value);
  }
};

}  // namespace

GitRefresh::GitRefresh(const Work& work, const policy::Permission& permission,
                       const policy::Allow& allow, const std::vector<std::string>& argv,
                       CallContext& call)
    : work_(work),
      permission_(permission),
      allow_(allow),
      call_(call),
      uses_(call.runner.index_uses()),
      command_(NameOfCommand(work, argv)),
      expected_(uses_.Expects(command_).value_or(MayRunGit(argv))) {
  const std::string_view script = ScriptOf(argv);
  if (!script.empty() && LooksForItself(script)) expected_ = false;
}

Task<bool> GitRefresh::Find() {
  if (allow_.writes_git() || !call_.runner.UsesNamespaces(allow_)) co_return false;
  Task<PreparedGit> starting = StartGit(work_, permission_, call_);
  PreparedGit git = co_await starting;
  if (!git || !git->repository) co_return false;
  const std::string& git_dir = git->repository->git_dir;
  const bool visible = std::ranges::any_of(
      allow_.confinement().paths,
      [&](const sandbox::PathGrant& grant) { return policy::IsBeneath(git_dir, grant.path); });
  if (!visible) co_return false;  // as that of a directory above
  git_ = *std::move(git);
  co_return true;
}

Task<bool> GitRefresh::Before() {
  Task<bool> finding = Find();
  const bool found = co_await finding;
  if (!found || !expected_) co_return true;
  const std::string& git_dir = git_->repository->git_dir;
  const auto until = steady_clock::now() + kPatience;
  bool fresh = true;
  // One that has begun already may have seen files as they were before they changed.
  const std::shared_ptr<IndexUses::Refresh> earlier = uses_.UnderWay(git_dir);
  if (earlier && earlier->start == nullptr) {
    Task<bool> waiting = Await(*earlier, until);
    fresh = co_await waiting;
  }
  if (!fresh) co_return false;
  if (uses_.files().AreFresh(git_dir)) co_return true;
  Plan();
  uses_.Start(git_dir);
  const std::shared_ptr<IndexUses::Refresh> refresh = uses_.UnderWay(git_dir);
  if (refresh) {
    Task<bool> waiting = Await(*refresh, until);
    fresh = co_await waiting;
  }
  co_return fresh;
}

Task<bool> GitRefresh::Await(IndexUses::Refresh& refresh, steady_clock::time_point until) {
  const auto patience = duration_cast<milliseconds>(until - steady_clock::now());
  const auto awakening = std::make_shared<Awakening>();
  refresh.waiting.emplace_back([awakening] { awakening->Set(true); });
  TimerHandle timer(call_.runner.loop());
  timer.Start(std::max(patience, milliseconds(0)), [awakening] { awakening->Set(false); });
  call_.cancel.OnCancel([awakening] { awakening->Set(false); });
  const Finally forget([&] { call_.cancel.Forget(); });
  Completion<bool>& done = awakening->done;
  const bool ended = co_await done;
  co_return ended;
}

std::string GitRefresh::index() const { return git_ ? git_->repository->git_dir + "/index" : ""; }

void GitRefresh::After(const Execution& run) {
  if (!git_) return;
  uses_.Learn(command_, run.read_index);
  const bool read = run.read_index && run.namespaces;
  if (read && !uses_.files().AreFresh(git_->repository->git_dir)) Plan();
}

// One at a time.
void GitRefresh::Plan() {
  const policy::Repository& repository = *git_->repository;
  if (uses_.UnderWay(repository.git_dir)) return;
  const GitReader reader = ReaderOf(work_, *git_, call_);
  std::vector<sandbox::PathGrant> grants = RepositoryGrants(work_, reader);
  grants.push_back(
      {repository.git_dir, sandbox::kReadWrite, "git's index", sandbox::Symlinks::kRefuse});
  Started started{
      .plan = {.executable = git_->executable,
               .argv = Argv(),
               .env = GitEnvironment(work_, *git_, call_),
               .directory = work_.directory},
      .allow = git_->permission.For({.purpose = policy::Purpose::kGitIdentity,
                                     .extra = std::move(grants),
                                     .timeout = kLimit}),
      .policy = call_.policy,
      .options = {
          .serialise_key = repository.common_dir, .repository = repository, .capture = false}};
  started.plan.env["GIT_OPTIONAL_LOCKS"] = "1";
  uses_.Plan(repository.git_dir, [&runner = call_.runner, git_dir = repository.git_dir,
                                  shared = std::make_shared<Started>(std::move(started))] {
    Detach(WithinMemory(Run(runner, std::move(*shared)), [] { return false; }),
           [&runner, git_dir](bool) { runner.index_uses().End(git_dir); });
  });
}

}  // namespace pa
