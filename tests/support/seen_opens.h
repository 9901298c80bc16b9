// SeenOpens: which files and directories beneath a directory were opened to be read or written, and
// by whom (fanotify(7)). What is opened with O_PATH does not count.
//
//    SeenOpens seen(project.root());
//    if (!seen) GTEST_SKIP() << seen.why_not();      // only root may do this
//    ... the server works ...
//    for (const std::string& path : seen.By(client.pid())) ...
#pragma once

#include <fcntl.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "base/proc_path.h"
#include "base/unique_fd.h"

namespace pa::testing {

class SeenOpens {
 public:
  // Of all processes that see the mount in which `top` lies, as this one does.
  explicit SeenOpens(const std::filesystem::path& top)
      : top_(std::filesystem::canonical(top).string() + "/"),
        fd_(fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE,
                          O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    const bool marked = fd_ && fanotify_mark(fd_.get(), FAN_MARK_ADD | FAN_MARK_MOUNT,
                                             FAN_OPEN | FAN_ONDIR, AT_FDCWD, top_.c_str()) == 0;
    if (marked) return;
    why_not_ = Error("fanotify", top_, errno).Message();
    fd_.reset();
  }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  const std::string& why_not() const { return why_not_; }

  // The paths, `top` as "."; of those that were removed since, where they were.
  std::set<std::string> By(pid_t process) {
    Drain();
    return seen_[process];
  }

 private:
  void Drain() {
    alignas(fanotify_event_metadata) std::array<char, 16384> buffer{};
    for (;;) {
      ssize_t left = read(fd_.get(), buffer.data(), buffer.size());
      if (left <= 0) return;
      auto* event = reinterpret_cast<fanotify_event_metadata*>(buffer.data());
      for (; FAN_EVENT_OK(event, left); event = FAN_EVENT_NEXT(event, left)) {
        const UniqueFd opened(event->fd);
        std::array<char, PATH_MAX> path{};
        const ssize_t size =
            opened ? readlink(ProcPath(opened.get()).c_str(), path.data(), path.size()) : -1;
        if (size <= 0) continue;
        const std::string name(path.data(), static_cast<std::size_t>(size));
        if ((name + "/").starts_with(top_)) {
          seen_[event->pid].insert(name + "/" == top_ ? "." : name.substr(top_.size()));
        }
      }
    }
  }

  std::string top_;
  UniqueFd fd_;
  std::string why_not_;
  std::map<pid_t, std::set<std::string>> seen_;
};

}  // namespace pa::testing
