// LfsCopy: lets git-lfs work in commands that have the repository read-only.
//
//    LfsCopy lfs(work, refresh.git(), call);
//    options.overlay = lfs.Overlay();
//    ... the command runs ...
//    Task<std::string> task = lfs.TakeOver();      // "", or what to warn of
//
// Its filters write .git/lfs, also for `git status` and `git diff` of a file that was touched. So
// the command changes a copy of that directory, and new objects are taken over from it: files that
// have the hash of their content as their name, and nothing else. A project without .git/lfs has
// nothing of this.
#pragma once

#include <optional>
#include <string>

#include "supervisor/tools/copy_directory.h"
#include "supervisor/tools/git.h"
#include "supervisor/tools/work.h"

namespace pa {

class LfsCopy {
 public:
  // `git`: the repository that the command sees and cannot write, or null. All must outlive it.
  LfsCopy(const Work& work, const Git* git, CallContext& call);
  LfsCopy(const LfsCopy&) = delete;
  LfsCopy& operator=(const LfsCopy&) = delete;

  std::optional<sandbox::Mount> Overlay() const;
  // Call it when the command has ended.
  Task<std::string> TakeOver();

 private:
  const Work& work_;
  const Git* git_;
  CallContext& call_;
  std::string lfs_;  // .git/lfs
  std::optional<CopyDirectory> copy_;
};

}  // namespace pa
