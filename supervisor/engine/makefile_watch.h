// MakefileWatch: reports when the Makefile of a directory was touched, so that clients can be
// notified.
//
//    MakefileWatch watch(loop, [&](const std::string& directory) { ... discover again ... });
//    watch.Watch("/srv/project", files);   // any number of times
//
// Only a hint: a call always reads the file itself. The directory is watched, not the file, because
// editors write a new file and rename it. If another directory takes over the path (`git checkout`,
// `mv`), it is watched from then on; while there is none, the nearest directory above is. Never
// keeps the loop running.
#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/loop/inotify.h"
#include "supervisor/loop/uv_handles.h"

namespace pa {

class MakefileWatch {
 public:
  // A user has some thousand watches in all. Beyond this number the directories that were named
  // least recently are no longer watched.
  static constexpr std::size_t kMaxDirectories = 32;
  // Of those that one Makefile includes. If there are more, compilers write one for each source.
  static constexpr std::size_t kMaxFiles = 16;
  // How long it must be quiet: when an editor saves a file, that is several events.
  static constexpr std::chrono::milliseconds kSettle{100};

  MakefileWatch(uv_loop_t* loop, std::function<void(const std::string& directory)> on_touched);
  ~MakefileWatch();
  MakefileWatch(const MakefileWatch&) = delete;
  MakefileWatch& operator=(const MakefileWatch&) = delete;

  // `files`: those that its Makefile includes, absolute or relative to `directory`. Files outside
  // `directory` are not watched, nor are *.d files, which compilers write.
  void Watch(const std::string& directory, std::span<const std::string> files);
  // Watches the same paths anew after mounts have changed: an unmounted directory is no longer
  // watched, and one mounted in its place not yet. Changes that are not reported yet still will be.
  void Renew();
  std::size_t watched() const { return entries_.size(); }

 private:
  struct Entry;
  using Entries = std::list<Entry>;
  bool Listen();
  void OnReadable();
  void OnEvent(int watch, std::string_view name);
  void OnSettled(Entry& entry);
  void Tell(Entry& entry);
  bool Start(Entry& entry);
  void Remove(Entries::iterator entry);
  void Release(int watch);
  bool Replace(Entries::iterator entry);
  void ReplaceMoved(Entries::iterator entry);
  void WatchIn(const std::string& directory, const std::string& project,
               std::vector<std::string> names);

  uv_loop_t* loop_;
  std::function<void(const std::string&)> on_touched_;
  Inotify inotify_;
  PollHandle poll_;
  Entries entries_;  // the most recently named first
};

}  // namespace pa
