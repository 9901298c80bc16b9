#include "supervisor/audit/audit_socket.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/try.h"

namespace pa {
namespace {

using Daemon = policy::AuditPolicy::Daemon;

constexpr int kInfo = 6;
constexpr int kAuthPriv = 10;  // LOG_AUTHPRIV, by its number

// `line` is JSON on one line, so it ends no field.
std::string ForJournal(const std::string& line) {
  return fmt::format(
      "MESSAGE={}\nPRIORITY={}\nSYSLOG_FACILITY={}\nSYSLOG_IDENTIFIER=project-actions\n", line,
      kInfo, kAuthPriv);
}

std::string ForSyslog(const std::string& line) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("<{}>{:%b %e %H:%M:%S} project-actions[{}]: {}", kAuthPriv * 8 + kInfo, local,
                     getpid(), line);
}

}  // namespace

Result<void> AuditSocket::Connect() {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path_.size() >= sizeof address.sun_path) {
    return std::unexpected(Error("connect", path_, ENAMETOOLONG));
  }
  path_.copy(address.sun_path, path_.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return std::unexpected(Error("socket", path_, errno));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how the system wants it
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::unexpected(Error("connect", path_, errno));
  }
  fd_ = std::move(fd);
  return {};
}

Result<void> AuditSocket::Send(const std::string& message) {
  if (!fd_) {
    PA_TRY_VOID(Connect());
  }
  ssize_t sent = -1;
  do {
    sent = send(fd_.get(), message.data(), message.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return std::unexpected(Error("send", path_, errno));
  return {};
}

Result<void> AuditSocket::Append(const LineMaker& make_line) {
  const std::string line = make_line(link_);
  const std::string message = daemon_ == Daemon::kJournal ? ForJournal(line) : ForSyslog(line);
  Result<void> sent = Send(message);
  const bool restarted =
      !sent && (sent.error().sys_errno == ECONNREFUSED || sent.error().sys_errno == ENOTCONN);
  if (restarted) {
    fd_.reset();
    sent = Send(message);
  }
  if (!sent) return sent;
  ++link_.sequence;
  link_.previous = Sha256Of(line);
  return {};
}

}  // namespace pa
