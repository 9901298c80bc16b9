#include "tests/support/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace pa::testing {

Terminal::Terminal(unsigned short columns) {
  keyboard_.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  const bool made = keyboard_ && grantpt(keyboard_.get()) == 0 && unlockpt(keyboard_.get()) == 0;
  if (!made) std::abort();
  name_ = ptsname(keyboard_.get());
  terminal_.reset(open(name_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  const winsize size{.ws_row = 25, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (!terminal_ || ioctl(terminal_.get(), TIOCSWINSZ, &size) != 0) std::abort();
}

Launch Terminal::Of(Launch launch) const {
  launch.in = launch.out = launch.err = terminal_.get();
  launch.terminal = name_;
  return launch;
}

void Terminal::Type(std::string_view text) {
  const bool typed =
      write(keyboard_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!typed) std::abort();
}

std::string Terminal::ReadUntil(std::string_view text) {
  std::string shown;
  while (!shown.contains(text) && ReadMore(shown)) continue;
  return shown;
}

// We hold the other side ourselves, so what is shown has no end; the program has.
int Terminal::Wait(pid_t pid, std::string& shown) {
  int status = 0;
  fcntl(keyboard_.get(), F_SETFL, O_NONBLOCK);
  while (waitpid(pid, &status, WNOHANG) == 0) {
    pollfd more{.fd = keyboard_.get(), .events = POLLIN, .revents = 0};
    poll(&more, 1, 10);
    ReadMore(shown);
  }
  while (ReadMore(shown)) continue;
  fcntl(keyboard_.get(), F_SETFL, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool Terminal::ReadMore(std::string& shown) {
  char buffer[4096];
  const ssize_t got = read(keyboard_.get(), buffer, sizeof buffer);
  if (got > 0) shown.append(buffer, static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace pa::testing
