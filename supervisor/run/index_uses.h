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
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "supervisor/loop/inotify.h"
#include "supervisor/loop/uv_handles.h"

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

  // A refresh that is under way.
  struct Refresh {
    std::uint64_t since;                         // ended() when it began
    std::vector<std::function<void()>> waiting;  // called once, when it has ended
  };

  explicit IndexUses(uv_loop_t* loop) : loop_(loop) {}
  IndexUses(const IndexUses&) = delete;
  IndexUses& operator=(const IndexUses&) = delete;

  // Whether the command read the index when it ran last; nothing: that is not known.
  std::optional<bool> Expects(const std::string& command) const;
  void Learn(const std::string& command, bool reads);
  // How many commands have ended: whatever those changed, a refresh that began since has seen.
  std::uint64_t ended() const { return ended_; }

  // The one of the repository with this git directory, or null.
  std::shared_ptr<Refresh> UnderWay(const std::string& git_dir) const;
  std::shared_ptr<Refresh> Begin(const std::string& git_dir);
  void End(const std::string& git_dir);
  // Calls `start` when what is ready now has been sent: a reply does not wait for it.
  void AfterReply(std::function<void()> start);
  void Close();  // nothing starts any more

 private:
  static constexpr std::size_t kMaxCommands = 1024;  // that are remembered

  struct Watched {
    std::size_t watches = 0;
    bool opened = false;
  };
  void Look();

  uv_loop_t* loop_;
  Inotify inotify_;
  std::uint64_t ended_ = 0;
  std::map<int, Watched> watched_;  // by inotify's number
  std::unordered_map<std::size_t, bool> commands_;
  std::map<std::string, std::shared_ptr<Refresh>> under_way_;  // by git directory
  std::vector<std::function<void()>> starts_;
  std::optional<TimerHandle> soon_;
  bool closed_ = false;
};

}  // namespace pa
