#include "supervisor/repository_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "supervisor/state_directory.h"
#include "supervisor/uv_handles.h"

namespace pa {
namespace {

// A lock has nobody whom it wakes; git takes longer than this.
constexpr std::chrono::milliseconds kLookAgain{20};

}  // namespace

std::string RepositoryLockPath(const std::string& directory, const std::string& common_dir) {
  struct stat info{};
  if (stat(common_dir.c_str(), &info) != 0) return "";
  return directory + "/" + std::to_string(info.st_dev) + "-" + std::to_string(info.st_ino);
}

Task<RepositoryTurn> AwaitRepository(uv_loop_t* loop, std::string directory, std::string common_dir,
                                     std::function<bool()> give_up) {
  const std::string path = RepositoryLockPath(directory, common_dir);
  RepositoryTurn turn;
  if (path.empty() || !MakeStateDirectory(directory)) co_return std::move(turn);
  UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  while (lock && flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) co_return std::move(turn);
    turn.granted = !give_up();
    if (!turn.granted) co_return std::move(turn);
    Completion<bool> later;
    TimerHandle timer(loop);
    timer.Start(kLookAgain, [&later] { later.Set(true); });
    [[maybe_unused]] const bool woken = co_await later;
  }
  turn.lock = std::move(lock);
  co_return std::move(turn);
}

}  // namespace pa
