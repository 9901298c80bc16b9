// RepositoryLock: two servers of one user at work in one repository take turns, as two calls of one server
// do: git's own locks fail at once when they are held.
//
//   Task<RepositoryTurn> task = AwaitRepository(loop, directory, common_dir, [&] { return cancelled; });
//   RepositoryTurn turn = co_await task;      // held as long as `turn` lives, and no longer than the server
//
// An flock(2) on a file of the state directory, named by device and inode of the repository; nobody
// waits for it on the loop. A courtesy, no protection: where it cannot be had, git runs all the same.
#pragma once

#include <uv.h>

#include <functional>
#include <string>

#include "base/unique_fd.h"
#include "supervisor/task.h"

namespace pa {

inline constexpr const char* kRepositoriesDirectory = "repositories";

struct RepositoryTurn {
  bool granted = true;  // false: given up
  UniqueFd lock;        // empty: there is none to be had
};

// The file in `directory` that stands for the repository; "" if that is not there.
std::string RepositoryLockPath(const std::string& directory, const std::string& common_dir);

// `directory`: of ours (FindStateDirectory), made if it is not there. `give_up` is asked now and then.
Task<RepositoryTurn> AwaitRepository(uv_loop_t* loop, std::string directory, std::string common_dir,
                                     std::function<bool()> give_up);

}  // namespace pa
