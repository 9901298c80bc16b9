// Inotify: changes in directories, as inotify(7) tells of them, to whoever reads on the loop.
//
//   Inotify inotify;
//   const int watch = inotify.Add("/srv/project", IN_MOVED_TO | IN_CREATE);   // -1 and errno
//   inotify.ReadSome([](int watch, std::uint32_t mask, std::string_view name) { ... });
//
// A program that renames in a watched directory all the time makes events as fast as anybody can
// read them. Who reads until there are none, as libuv's uv_fs_event does, reads for ever, and the
// loop does nothing else.
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
  // `watch`: -1 with IN_Q_OVERFLOW, after which anything may have happened. `name`: "" where the
  // directory itself is meant.
  using OnEvent = std::function<void(int watch, std::uint32_t mask, std::string_view name)>;

  // The same number for the same directory, by whatever path. ENOENT, ENOTDIR; EMFILE and ENOSPC:
  // there are no more instances or watches to be had.
  int Add(const std::string& path, std::uint32_t mask);
  void Remove(int watch);
  // One buffer of what is queued. How many bytes; 0: there was nothing.
  std::size_t ReadSome(const OnEvent& on_event);
  // What is queued now, 16,384 events at most (/proc/sys/fs/inotify/max_queued_events); not what
  // comes meanwhile. Whether nothing did.
  bool ReadQueued(const OnEvent& on_event);
  int fd() const { return fd_.get(); }  // -1: nothing was watched yet

 private:
  UniqueFd fd_;
};

}  // namespace pa
