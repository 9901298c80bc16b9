// CopyDirectory: where the changes lie that a command makes in its copy of a directory, and of
// which the objects of git-lfs are taken over.
//
//    Result<CopyDirectory> copy = CopyDirectory::Make(*call.policy, call.runner);
//    options.overlay = copy->Over("/srv/project/.git");
//    ... the command runs ...
//    Task<std::optional<ToolError>> task = TakeLfsObjects(*copy, "/lfs", work, git, call);
//
// It lies in the state directory, on a disk: a tmpfs would lose it with the machine, and hooks like
// lint-staged put changes of the user there. A server that is killed while the command runs leaves
// it, too.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "supervisor/run/runner.h"
#include "supervisor/tools/git.h"

namespace pa {

class CopyDirectory {
 public:
  // An error: there is no state directory, or commands can write there. It also removes those that
  // have expired (kTrashKeptDays).
  static Result<CopyDirectory> Make(const policy::Policy& policy, Runner& runner);
  CopyDirectory(CopyDirectory&& other) noexcept
      : runner_(other.runner_), path_(std::exchange(other.path_, "")) {}
  ~CopyDirectory();  // removes it

  const std::string& path() const { return path_; }
  std::string Upper() const { return path_ + "/upper"; }
  sandbox::Mount Over(const std::string& directory) const;
  // It stays for kTrashKeptDays. Its path.
  std::string Keep() && { return std::exchange(path_, ""); }

 private:
  CopyDirectory(Runner& runner, std::string path) : runner_(&runner), path_(std::move(path)) {}

  Runner* runner_;
  std::string path_;  // "": moved from, or kept
};

// Copies new objects of git-lfs to the repository of `git`, by a cp that nothing of the project can
// reach; `lfs` is the name of .git/lfs in the upper directory, "" if that is it. Call it when
// everything that could write there has ended. An object that is there already stays. `copy`,
// `work` and `git` must outlive the task.
Task<std::optional<ToolError>> TakeLfsObjects(const CopyDirectory& copy, std::string lfs,
                                              const Work& work, const Git& git, CallContext& call,
                                              bool in_turn);

// Tries whether commands can have copies: afterwards Runner::Kernel tells. "", or why there is no
// place for one, so that it could not be tried.
Task<std::string> TryCopy(Runner& runner, policy::WorkingDirectory directory, policy::Allow allow,
                          policy::PolicyPtr policy);

}  // namespace pa
