// HeldOpens: blocks whoever opens one of these directories to read it, until it is let go
// (fanotify(7)). So a test finds the work of another thread at a certain point, however fast the
// machine is.
//
//    testing::HeldOpens held({root / "a", root / "b"});
//    if (!held) GTEST_SKIP() << held.why_not();                  // only root may do this
//    while (!held.Waits()) uv_run(loop, UV_RUN_NOWAIT);          // until a thread has come
//    held.LetGo();
//
// The thread that owns it must not open these directories: it would wait for itself.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa::testing {

class HeldOpens {
 public:
  explicit HeldOpens(std::initializer_list<std::filesystem::path> directories)
      : fd_(fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_CLOEXEC)) {
    for (const std::filesystem::path& one : directories) {
      constexpr auto kOpens = FAN_OPEN_PERM | FAN_ONDIR;
      const bool held =
          fd_ && fanotify_mark(fd_.get(), FAN_MARK_ADD, kOpens, AT_FDCWD, one.c_str()) == 0;
      if (held) continue;
      why_not_ = Error("fanotify_mark", one, errno).Message();
      fd_.reset();
      return;
    }
  }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  const std::string& why_not() const { return why_not_; }

  bool Waits() const {
    pollfd one{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    return poll(&one, 1, 0) == 1;
  }
  // Lets the open go on that has waited for longest. False: there is none.
  bool LetGo() {
    fanotify_event_metadata event{};
    if (read(fd_.get(), &event, sizeof event) != sizeof event) return false;
    const UniqueFd directory(event.fd);
    const fanotify_response response{.fd = event.fd, .response = FAN_ALLOW};
    return write(fd_.get(), &response, sizeof response) == sizeof response;
  }

 private:
  UniqueFd fd_;
  std::string why_not_;
};

}  // namespace pa::testing
