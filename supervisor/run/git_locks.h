// GitLocks: removes the lock files that a killed git leaves in a repository (`.git/index.lock`,
// ...). While such a file exists, every later git fails.
//
//    const std::optional<HeldRepository> held = HoldRepository(repository);  // before git starts
//    const std::int64_t begun = EarliestFromNow();
//    ... git runs and is killed ...
//    const std::vector<GitRun> runs = {{held->device, held->inode, begun, LatestUntilNow()}};
//    GitLocksFound found = FindGitLocks(*held, runs, head, nullptr);
//    if (found.asks) found = FindGitLocks(*held, runs, head, &at_work);   // GitAtWork
//    ... and the janitor removes found.ours
//
// A lock is removed only if it is a regular file of ours with one of git's names, if it was made
// while a git of ours ran in this repository, if no program has it open, and if no git is at work
// in the repository. Every other lock stays and is reported: while a user writes a commit message
// in an editor, git holds such a lock for hours. The directories are opened before git runs, and no
// symlink is followed. So whatever an agent arranges, nothing is removed except such a name in its
// own repository.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/path_stamp.h"
#include "base/unique_fd.h"
#include "policy/repository.h"

namespace pa {

// One run of a git of ours. The times are comparable with those of files: nanoseconds since 1970.
// Both are inclusive.
struct GitRun {
  std::uint64_t device = 0;  // of the git directory, as in stat(2)
  std::uint64_t inode = 0;
  std::int64_t begun = 0;
  std::int64_t ends = 0;  // at the latest
  bool operator==(const GitRun&) const = default;
};

// The kernel stamps files by a clock that advances once a tick, and since Linux 6.13 also by a
// fine-grained clock, which is ahead of the other one.
std::int64_t EarliestFromNow();  // a file that is made from now on is not older
std::int64_t LatestUntilNow();   // a file that exists now is not newer

// Read and write the file `fd`, which names each git of ours that runs, or that ran when its server
// was killed. A file with a part that cannot be parsed is an error. If the writer is killed, the
// file has its old or its new length and consists of whole lines.
Result<std::vector<GitRun>> ReadGitRuns(int fd);
Result<void> WriteGitRuns(int fd, std::span<const GitRun> runs);

struct HeldRepository {
  UniqueFd git_dir;
  UniqueFd common_dir;
  std::uint64_t device = 0;  // of the git directory
  std::uint64_t inode = 0;
  policy::Repository names;  // for messages
};

// Nothing if a symlink is on the way to the repository by now, or if it cannot be opened.
std::optional<HeldRepository> HoldRepository(const policy::Repository& repository);

// A lock that a git of ours left, and nobody works with now, as far as processes show.
struct GitLock {
  std::string path;  // for messages
  std::string name;  // in one of the two directories
  bool own = false;  // in the git directory; else in the common one
  PathStamp stamp;
};

struct GitLocksFound {
  std::vector<std::string> cleared;  // paths
  std::vector<std::string> kept;     // a sentence each
  bool in_use = false;               // one of them may be in use for a while: call again
  std::vector<GitLock> ours = {};    // to be removed
  bool asks = false;                 // somebody has to look for a git at work, and call again
};

// `runs`: the runs that were killed; runs in other git directories do not count. `head`: the text
// of HEAD in the git directory. `at_work`: what GitAtWork says of the repository; null: nobody has
// asked, which is only necessary if there is a lock. Opens nothing there.
GitLocksFound FindGitLocks(const HeldRepository& repository, std::span<const GitRun> runs,
                           const Result<std::string>& head, const Result<std::string>* at_work);

enum class LockRemoval { kRemoved, kInUse, kNot };
// For a janitor's process. `directory`: the git or the common directory.
LockRemoval RemoveGitLock(int directory, const std::string& name, const PathStamp& stamp);
// Adds what became of it to `found`.
void Note(const GitLock& lock, LockRemoval removal, GitLocksFound& found);

inline constexpr std::size_t kMaxHead = 4096;  // bytes of HEAD

}  // namespace pa
