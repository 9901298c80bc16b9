// MakefileWatch: tells when the Makefile of a directory was touched, for clients that listen.
//
//   MakefileWatch watch(loop, [&](const std::string& directory) { ... discover again ... });
//   watch.Watch("/srv/project", {"rules/common.mk"});   // as often as one likes
//
// A hint and no more: truth is the file as it is at the call. The directory is watched, not the
// file, because editors write another file and rename it. Whatever directory comes to have the path
// (`git checkout`, `mv`) is watched from then on; meanwhile the one above it is. Never keeps the
// loop running.
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
  // All that a user watches shares some thousand watches; the ones named least recently are given
  // up.
  static constexpr std::size_t kMaxDirectories = 32;
  // Of those that one Makefile includes. Beyond are what compilers write for each source.
  static constexpr std::size_t kMaxFiles = 16;
  // An editor's save is several events.
  static constexpr std::chrono::milliseconds kSettle{100};

  MakefileWatch(uv_loop_t* loop, std::function<void(const std::string& directory)> on_touched);
  ~MakefileWatch();
  MakefileWatch(const MakefileWatch&) = delete;
  MakefileWatch& operator=(const MakefileWatch&) = delete;

  // `files`: what its Makefile includes, absolute or relative to `directory`; what lies elsewhere
  // is not watched.
  void Watch(const std::string& directory, std::span<const std::string> files);
  // What was unmounted is watched no more, and what was mounted in its place not yet: the same
  // paths anew. What is not told yet will be.
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
  Entries entries_;  // the one named last comes first
};

}  // namespace pa
