// TrackedFiles: whether files that git tracks may have changed since git's index was refreshed. If
// none has, a command that reads the index need not wait for another refresh.
//
//    // From now on changes are noticed.
//    Task<bool> watching = files.Watch(janitor, directory, repository);
//    [[maybe_unused]] const bool watched = co_await watching;
//    ... git refreshes the index ...
//    files.Refreshed(repository.git_dir);
//    ...
//    if (files.AreFresh(repository.git_dir)) ...
//
// The kernel tells of changes in each directory that holds files of the index (inotify(7)). Which
// these are, the janitor reads from the index, and it adds the watches to our descriptor: a symlink
// that a command puts in the place of a directory is not followed, so nothing is to be learned of
// places that the command cannot read.
//
// Unnoticed stay a file that a living process has mapped and writes, and one that is written by
// another of its names in another directory. Where a directory is on a file system that another
// machine may write (all but an allow-list), or files are in more than kMaxDirectories directories,
// nothing is watched: each command that reads the index waits.
#pragma once

#include <uv.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "base/path_stamp.h"
#include "policy/repository.h"
#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/inotify.h"
#include "supervisor/loop/task.h"

namespace pa {

std::span<const Chore> TrackedFilesChores();

class TrackedFiles {
 public:
  // A user has some 10,000 watches on a small machine (fs.inotify.max_user_watches), and an editor
  // needs them too.
  static constexpr std::size_t kMaxDirectories = 4096;
  static constexpr std::size_t kMaxRepositories = 4;

  explicit TrackedFiles(uv_loop_t* loop) : loop_(loop) {}
  TrackedFiles(const TrackedFiles&) = delete;
  TrackedFiles& operator=(const TrackedFiles&) = delete;

  // False: they are not watched. If that may be otherwise later, the next call tries it again.
  // `directory`: the working directory that has the repository. `janitor` must outlive the task.
  Task<bool> Watch(Janitor& janitor, std::string directory, policy::Repository repository);
  // After git has refreshed the index, which nobody else wrote meanwhile.
  void Refreshed(const std::string& git_dir);
  // False: also where nothing is known.
  bool AreFresh(const std::string& git_dir);

 private:
  struct Watched {
    enum class State {
      kNever,    // it cannot be watched
      kWatched,  // each directory is
      kLost,     // perhaps not each
    };
    State state = State::kLost;
    Inotify events = {};
    int times = 0;  // that `events` was given watches
    bool changed = false;
    PathStamp index = {};  // when it had been refreshed
  };
  static void Look(Watched& watched);
  Watched& Take(const std::string& git_dir);
  void Close(Inotify& events) const;

  uv_loop_t* loop_;
  std::map<std::string, Watched> watched_;  // by git directory
};

}  // namespace pa
