// RepositoryLock: two servers of one user at work in one repository take turns, as two calls of one
// server do: git's own locks fail at once when they are held.
//
//   Task<RepositoryTurn> task = AwaitRepository(loop, directory, common_dir, [&] {
//     return cancelled;
//   });
//   // held as long as `turn` lives, and no longer than the server
//   RepositoryTurn turn = co_await task;
//   ... BeginGit(loop, turn, repository, limit, give_up) ... git runs ...
//   ... EndGit(loop, turn, execution, give_up) ...
//
// The file says whose git is at work, from before it starts until it has ended in order. So whoever
// gets the flock and finds somebody in it knows that it was killed, and may clear what its git left
// (supervisor/run/git_locks.h).
//
// An flock(2) on a file of the state directory, named by device and inode of the repository; nobody
// waits for it on the loop. It is asked for now and then, so whoever always has another git to run
// would get it each time: a second file is for one who waits, and whoever comes meanwhile waits for
// that. A courtesy, no protection: where it cannot be had, git runs all the same, and the log says
// so; but not where that is want of descriptors, memory or room, which passes.
#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/loop/task.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/git_locks.h"

namespace pa {

inline constexpr const char* kRepositoriesDirectory = "repositories";

struct RepositoryTurn {
  bool granted = true;                            // false: given up
  UniqueFd lock;                                  // empty: there is none to be had
  std::optional<Error> used_up = {};              // not granted, for want of what says errno
  std::optional<HeldRepository> repository = {};  // from BeginGit to EndGit
  std::vector<GitRun> runs = {};                  // in the file; the last is ours
  std::vector<std::string> cleared = {};          // paths of locks
};

// The file in `directory` that stands for the repository; "" if that is not there.
std::string RepositoryLockPath(const std::string& directory, const std::string& common_dir);

// `directory`: of ours (FindStateDirectory), made if it is not there. `give_up` is asked now and
// then.
Task<RepositoryTurn> AwaitRepository(uv_loop_t* loop, std::string directory, std::string common_dir,
                                     std::function<bool()> give_up);

// Clears what those left who were killed, and writes ourselves into the file; where either cannot
// be had, nothing. `limit`: after which a command of ours runs no more. Waits up to two seconds for
// a git that is being killed.
Task<bool> BeginGit(uv_loop_t* loop, RepositoryTurn& turn,
                    std::optional<policy::Repository> repository, std::chrono::milliseconds limit,
                    std::function<bool()> give_up);

// Clears what our own left if it was killed, and tells in the warning of `execution` what was
// cleared, or which locks were in the way of one that failed.
Task<bool> EndGit(uv_loop_t* loop, RepositoryTurn& turn, Execution& execution,
                  std::function<bool()> give_up);

}  // namespace pa
