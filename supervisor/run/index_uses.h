// IndexUses: which commands read the index of a read-only repository, and the refreshes of indexes
// that are under way.
//
// git remembers in its index how each file looked, and takes a file that looks otherwise for one
// that it has to read. It corrects the index when it finds such a file unchanged. To a command with
// a read-only repository it cannot (policy `git.commands`), so our own git does, before and after
// commands that read the index (supervisor/tools/git_refresh.h).
//
//    const bool reads = uses.Expects(command).value_or(guess);
//    IndexUses::Watch watch(uses, "/srv/project/.git/index");
//    ... the command runs ...
//    uses.Learn(command, watch.WasRead());
//
// The kernel tells that a file is opened (inotify(7)), not who opens it: if another program reads
// the index while the command runs, the command counts as one that reads it, until it runs again.
#pragma once

#include <uv.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "supervisor/loop/inotify.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/run/tracked_files.h"

namespace pa {

class IndexUses {
 public:
  // While it lives, the file at `index` is watched. It must not outlive the IndexUses.
  class Watch {
   public:
    Watch(IndexUses& uses, const std::string& index);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    // Whether it was opened since. If it cannot be watched (no such file, no watches left): no.
    bool WasRead();

   private:
    IndexUses& uses_;
    int watch_;
  };

  // A refresh that is to begin or under way.
  struct Refresh {
    std::function<void()> start;                      // null: it has begun
    std::vector<std::function<void()>> waiting = {};  // called once, when it has ended
  };

  explicit IndexUses(uv_loop_t* loop) : loop_(loop), files_(loop) {}
  IndexUses(const IndexUses&) = delete;
  IndexUses& operator=(const IndexUses&) = delete;

  // Whether the command read the index when it ran last; nothing: that is not known.
  std::optional<bool> Expects(const std::string& command) const;
  void Learn(const std::string& command, bool reads);

  // The one of the repository with this git directory, or null.
  std::shared_ptr<Refresh> UnderWay(const std::string& git_dir) const;
  // `start` is called by Start, or when no refresh was planned for a while: a reply does not wait
  // for it, and a command that follows at once needs one of its own, which this one becomes.
  void Plan(const std::string& git_dir, std::function<void()> start);
  void Start(const std::string& git_dir);  // the one that was planned, if it has not begun
  void End(const std::string& git_dir);
  void Close();  // nothing starts any more
  // What need not be refreshed.
  TrackedFiles& files() { return files_; }

 private:
  static constexpr std::size_t kMaxCommands = 1024;  // that are remembered

  struct Watched {
    std::size_t watches = 0;
    bool opened = false;
  };
  void Look();

  uv_loop_t* loop_;
  Inotify inotify_;
  std::map<int, Watched> watched_;  // by inotify's number
  std::unordered_map<std::size_t, bool> commands_;
  TrackedFiles files_;
  std::map<std::string, std::shared_ptr<Refresh>> under_way_;  // by git directory
  std::optional<TimerHandle> quiet_;
  bool closed_ = false;
};

}  // namespace pa
