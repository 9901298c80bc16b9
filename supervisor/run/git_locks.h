// GitLocks: what git leaves in a repository when it is killed (`.git/index.lock`, ...), at which
// every later git fails until somebody removes it.
//
//   const std::optional<HeldRepository> held = HoldRepository(repository);  // before git starts
//   const std::int64_t begun = EarliestFromNow();
//   ...
//   const GitLocksFound found = ClearGitLocks(*held, {{held->device, held->inode, begun,
//       LatestUntilNow()}});
//
// Removed is a regular file of ours with one of git's names that was made while a git of ours ran
// there, that no program has open, and in whose repository no git is at work. All else stays and is
// told: an editor that writes a commit message keeps such a lock for hours. The directories are
// held since before git ran, and no symlink is followed: whatever an agent arranges, nothing but
// such a name in its own repository is removed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "policy/repository.h"

namespace pa {

// A git of ours at work. Times as files have them, in nanoseconds since 1970, both included.
struct GitRun {
  std::uint64_t device = 0;  // of the git directory, as stat(2) has it
  std::uint64_t inode = 0;
  std::int64_t begun = 0;
  std::int64_t ends = 0;  // at the latest
  bool operator==(const GitRun&) const = default;
};

// The times of files come from a clock that ticks, since Linux 6.13 also from one that does not,
// which is ahead of it.
std::int64_t EarliestFromNow();  // no file that is made from now on is older
std::int64_t LatestUntilNow();   // no file that is there is newer

// The record of who is, or was when it was killed, at work: all that `fd` holds. What cannot be
// read as a whole is an error. The file is as long as it was or as it becomes, and whole lines,
// whenever the writer is killed.
Result<std::vector<GitRun>> ReadGitRuns(int fd);
Result<void> WriteGitRuns(int fd, std::span<const GitRun> runs);

struct HeldRepository {
  UniqueFd git_dir;
  UniqueFd common_dir;
  std::uint64_t device = 0;  // of the git directory
  std::uint64_t inode = 0;
  policy::Repository names;  // for people, and to know a git that is at work
};

// Nothing where a symlink leads to it now, or where it is not to be had.
std::optional<HeldRepository> HoldRepository(const policy::Repository& repository);

struct GitLocksFound {
  std::vector<std::string> cleared;  // paths
  std::vector<std::string> kept;     // a sentence each
  bool in_use = false;               // one of them by somebody who may end: look again
};

// `runs`: those that were killed; those of other git directories do not count.
GitLocksFound ClearGitLocks(const HeldRepository& repository, std::span<const GitRun> runs);

}  // namespace pa
