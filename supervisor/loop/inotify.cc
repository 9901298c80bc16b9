#include "supervisor/loop/inotify.h"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace pa {
namespace {

std::size_t Queued(int fd) {
  int bytes = 0;
  return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace

bool Inotify::Open() {
  if (!fd_) fd_.reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  return static_cast<bool>(fd_);
}

int Inotify::Add(const std::string& path, std::uint32_t mask) {
  return Open() ? inotify_add_watch(fd_.get(), path.c_str(), mask) : -1;
}

void Inotify::Remove(int watch) { inotify_rm_watch(fd_.get(), watch); }

std::size_t Inotify::ReadSome(const OnEvent& on_event) {
  constexpr std::size_t kBytes = 16u << 10;
  // Not on the stack, of which a server that waits would keep each page.
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBytes);
  const ssize_t got = read(fd_.get(), buffer.get(), kBytes);
  const std::size_t length = got < 0 ? 0 : static_cast<std::size_t>(got);
  for (std::size_t at = 0; at < length;) {
    inotify_event event;
    std::memcpy(&event, buffer.get() + at, sizeof event);
    const char* name = buffer.get() + at + sizeof event;
    on_event(event.wd, event.mask, {name, strnlen(name, event.len)});
    at += sizeof event + event.len;
  }
  return length;
}

bool Inotify::ReadQueued(const OnEvent& on_event) {
  if (!fd_) return true;
  for (std::size_t left = Queued(fd_.get()); left > 0;) {
    const std::size_t length = ReadSome(on_event);
    if (length == 0) break;
    left -= std::min(left, length);
  }
  return Queued(fd_.get()) == 0;
}

}  // namespace pa
