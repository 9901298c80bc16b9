// GitRefresh: keeps git's index up to date for commands with a read-only repository, which cannot
// do that themselves (supervisor/run/index_uses.h).
//
//    GitRefresh refresh(work, permission, allow, plan.argv, call);
//    Task<bool> before = refresh.Before();       // waits for it, two seconds at most
//    [[maybe_unused]] const bool fresh = co_await before;
//    ... the command runs, with RunOptions::watch_index = refresh.index() ...
//    refresh.After(execution);                   // waits for nothing
//
// Before a command that reads the index, or may: one that did when it ran last; a make target that
// runs for the first time; a shell command that has never run and has "git" in it. Not before a
// shell command that is right without (git_porcelain.h). After a command that read it. Nowhere as
// long as no tracked file has changed since the last one (supervisor/run/tracked_files.h). Only the
// index of the repository in which the command works is refreshed, not those of submodules and of
// repositories below.
//
// That git executes nothing but git: no hook, no filter. If a touched file has to go through a
// filter (filter.NAME.required), the index stays as it is. It is not part of a call, so the audit
// log does not have it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "policy/decide.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/index_uses.h"
#include "supervisor/tools/git.h"
#include "supervisor/tools/work.h"

namespace pa {

class GitRefresh {
 public:
  // `work`, `permission`, `allow` and `call` must outlive Before. `argv`: of the command of make or
  // bash.
  GitRefresh(const Work& work, const policy::Permission& permission, const policy::Allow& allow,
             const std::vector<std::string>& argv, CallContext& call);
  GitRefresh(const GitRefresh&) = delete;
  GitRefresh& operator=(const GitRefresh&) = delete;

  // Right before the command. Whether the index is up to date now, as far as it has to be.
  Task<bool> Before();
  // What shows that the command reads the index; "": nothing is to be known.
  std::string index() const;
  void After(const Execution& run);
  // After Before: the repository that the command sees and cannot write, or null.
  const Git* git() const { return git_ ? &*git_ : nullptr; }

 private:
  void Plan();
  Task<bool> Find();
  // False: it lasts longer, or the call was cancelled.
  Task<bool> Await(IndexUses::Refresh& refresh, std::chrono::steady_clock::time_point until);

  const Work& work_;
  const policy::Permission& permission_;
  const policy::Allow& allow_;
  CallContext& call_;
  IndexUses& uses_;
  std::string command_;     // how it is remembered
  bool expected_ = false;   // that the command reads the index
  std::optional<Git> git_;  // nothing: there is no index that the command cannot write
};

}  // namespace pa
