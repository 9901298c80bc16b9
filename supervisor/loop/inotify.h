// Inotify: reports changes in directories (inotify(7)) to a caller on the loop.
//
//    Inotify inotify;
//    const int watch = inotify.Add("/srv/project", IN_MOVED_TO | IN_CREATE);   // -1 and errno
//    inotify.ReadSome([](int watch, std::uint32_t mask, std::string_view name) { ... });
//
// A program that keeps renaming in a watched directory makes events as fast as anybody can read
// them. A reader that reads until there are none, as libuv's uv_fs_event does, reads for ever, and
// the loop does nothing else. So each call reads a bounded number of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace pa {

class Inotify {
 public:
  // `watch`: -1 with IN_Q_OVERFLOW, which means that events were lost. `name`: "" if the event is
  // about the directory itself.
  using OnEvent = std::function<void(int watch, std::uint32_t mask, std::string_view name)>;

  // For watches that somebody else adds to `fd`. False and errno: EMFILE: no more instances are
  // available.
  bool Open();
  // Returns the watch: the same number for the same directory, whatever its path; or -1. ENOENT,
  // ENOTDIR; EMFILE, ENOSPC: no more instances or watches are available.
  int Add(const std::string& path, std::uint32_t mask);
  void Remove(int watch);
  // Reads one buffer of queued events. Returns its size in bytes; 0: there was no event.
  std::size_t ReadSome(const OnEvent& on_event);
  // Reads the events that are queued now, at most 16,384
  // (/proc/sys/fs/inotify/max_queued_events), but not those that come meanwhile. Whether the queue
  // is empty now.
  bool ReadQueued(const OnEvent& on_event);
  int fd() const { return fd_.get(); }  // -1: nothing was watched yet

 private:
  UniqueFd fd_;
};

}  // namespace pa
