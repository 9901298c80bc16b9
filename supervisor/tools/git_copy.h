// GitCopy: a copy of the repository for one `git commit` or `git add` that executes hooks or
// filters of the project, and the way back from it.
//
//    Result<GitCopy> copy = GitCopy::Make(work, git, true, call);
//    plan = copy->Wrap(std::move(plan));
//    options.overlay = copy->Overlay();
//    options.begins = [&] { return copy->Begin(); };
//    options.ended = [&](const Execution& run) { return copy->End(run, work); };
//    ... the command runs ...
//    if (copy->error()) ...        // nothing could be taken over
//
// The command sees and changes an overlay over the repository's common directory; the repository
// itself stays as it is (sandbox/values.h, MountKind::kOverlay). Afterwards a git that executes
// nothing takes over the new objects, as a pack that the command has left, with git's own checks
// (`git unpack-objects --strict`), and new objects of git-lfs, whose names are the hashes of their
// content. Then, of `git add`, the entries of the index that are other than before (`git
// update-index`); they have no times of files, so that the next git looks at these files. Of `git
// commit`
//
// 1. the tree, as the index (`git reset`);
// 2. the commit (`git commit -C`), with its message, author, committer and dates. So git itself
//    moves the branch, writes the reflog and ends a merge, and the commit has the same hash.
//
// Whatever else the command changed in its copy is gone: other references, configuration, what a
// hook that refuses the commit has staged. The result of the call names it. If HEAD or the index
// has changed meanwhile, or the hooks made more than one commit, nothing is taken over. If the
// command did not end by itself, the copy is kept for kTrashKeptDays, because hooks like
// lint-staged put changes of the user there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/path_stamp.h"
#include "base/unique_fd.h"
#include "supervisor/run/command_plan.h"
#include "supervisor/run/execution.h"
#include "supervisor/tools/copy_directory.h"
#include "supervisor/tools/git.h"

namespace pa {

class GitCopy {
 public:
  // `git`, with a repository, and `call` must outlive it. An error: there is no place for a copy,
  // or no shell.
  // `commits`: for `git commit`, otherwise for `git --literal-pathspecs add -- PATHS`.
  static Result<GitCopy> Make(const Work& work, const Git& git, bool commits, CallContext& call);
  // The plan of the same command, by a shell that leaves behind what End takes over.
  CommandPlan Wrap(CommandPlan plan) const;
  sandbox::Mount Overlay() const;
  Task<bool> Begin();
  // `work` must outlive the task.
  Task<bool> End(const Execution& run, const Work& work);

  const std::optional<ToolError>& error() const { return error_; }
  // A filter of `git add` changed more of the repository than can be taken over (left_behind), so
  // nothing was: it needs the repository itself.
  bool needs_repository() const { return needs_repository_; }
  // HEAD moved in the few milliseconds before the commit was taken over.
  bool moved() const { return moved_; }
  // Where it is kept; "": it is not.
  const std::string& kept() const { return kept_; }
  // What else was changed in the copy, as names in the git directory.
  const std::vector<std::string>& left_behind() const { return left_behind_; }

 private:
  GitCopy(const Git& git, bool commits, CallContext& call, std::string shell,
          CopyDirectory directory)
      : git_(&git),
        commits_(commits),
        call_(&call),
        shell_(std::move(shell)),
        directory_(std::move(directory)) {}
  bool Refuse(std::string_view why);  // false
  Git Alone() const;
  Task<bool> TakeCommit(const Work& work);
  Task<bool> TakeEntries(const Work& work);
  Task<std::vector<std::string>> FindOtherChanges(std::string commit) const;
  Task<std::optional<ToolError>> TakeObjects(const Work& work, const Git& alone);
  // Whether the same is staged as when the command began.
  Task<bool> SameIndex(const Work& work, const Git& alone);

  const Git* git_;
  bool commits_;
  CallContext* call_;
  std::string shell_;
  CopyDirectory directory_;
  std::string kept_;
  bool needs_repository_ = false;
  bool moved_ = false;
  std::vector<std::string> left_behind_ = {};
  // The index as it was when the command began.
  PathStamp index_ = {};
  std::shared_ptr<const UniqueFd> old_index_ = {};
  std::optional<ToolError> error_ = {};
};

}  // namespace pa
