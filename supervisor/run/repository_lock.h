// RepositoryLock: lets the git commands of several servers of one user take turns in a repository,
// as the calls of one server do. Otherwise git fails at once if another git holds one of its locks.
//
//    Task<RepositoryTurn> task =
//        AwaitRepository(loop, directory, common_dir, [&] { return cancelled; });
//    RepositoryTurn turn = co_await task;  // held while `turn` and the server live
//    ... BeginGit(helpers, turn, repository, limit, give_up) ... git runs ...
//    ... EndGit(helpers, turn, execution, give_up) ...
//
// The lock file names the gits that run, each from before it starts until it has ended in order. So
// if a server gets the lock and finds a git in the file, that git was killed, and the server may
// remove the locks that it left (supervisor/run/git_locks.h).
//
// The lock is an flock(2) on a file in the state directory, whose name is device and inode of the
// repository. It is polled, so the loop never blocks on it. A server that always has another git to
// run would win each poll. So there is a second file: the next server to get the lock holds the
// lock on that one, and all others wait for that.
//
// This is a courtesy, not a protection: if the lock cannot be had, git runs all the same, and the
// log says so. The exception is a lack of descriptors, memory or disk space: that passes, so git
// does not run without its turn.
#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/spawner.h"
#include "supervisor/loop/task.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/git_locks.h"

namespace pa {

std::span<const Chore> GitLockChores();

struct RepositoryTurn {
  bool granted = true;                            // false: cancelled, or `used_up`
  UniqueFd lock;                                  // empty: it cannot be had
  std::optional<Error> used_up = {};              // why it was not granted: a resource is used up
  std::optional<HeldRepository> repository = {};  // from BeginGit to EndGit
  std::vector<GitRun> runs = {};                  // in the lock file; the last one is ours
  std::vector<std::string> cleared = {};          // paths of the git locks that were removed
};

// The lock file of the repository, in `directory`; "" if the repository does not exist.
std::string RepositoryLockPath(const std::string& directory, const std::string& common_dir);

// `directory`: from FindStateDirectory; it is created if it does not exist. `give_up` is polled.
Task<RepositoryTurn> AwaitRepository(uv_loop_t* loop, std::string directory, std::string common_dir,
                                     std::function<bool()> give_up);

// Who does what the server does not do itself. `spawner`: null if there is none.
struct RepositoryHelpers {
  uv_loop_t* loop;
  Janitor& janitor;
  Spawner* spawner;
};

// Removes the locks that killed gits left, and records our git in the lock file. Does nothing if
// there is no lock or no repository. `limit`: the longest time that our command can run. Waits up
// to two seconds for a git that is being killed.
Task<bool> BeginGit(RepositoryHelpers helpers, RepositoryTurn& turn,
                    std::optional<policy::Repository> repository, std::chrono::milliseconds limit,
                    std::function<bool()> give_up);

// Removes the locks of our own git if it was killed. Adds to the warning of `execution` which locks
// were removed, and if our git failed, which locks were in its way.
Task<bool> EndGit(RepositoryHelpers helpers, RepositoryTurn& turn, Execution& execution,
                  std::function<bool()> give_up);

}  // namespace pa
