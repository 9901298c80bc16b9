// AuditSocket: sends lines to journald or to a syslog daemon, through their datagram sockets.
//
//    AuditSocket socket(policy::AuditPolicy::Daemon::kJournal, "/run/systemd/journal/socket");
//    Result<void> kept = socket.Append([&](const ChainLink& link) {
//      return BeginLine(call, link);
//    });
//
// A line counts as written when the daemon's socket has accepted it; what the daemon does with it
// is up to the daemon. Each AuditSocket has a chain of its own, which begins at 1.
//
// Sources: systemd's "Native Journal Protocol"; RFC 3164 as syslog(3) of glibc writes it to
// /dev/log.
#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "policy/policy.h"
#include "supervisor/audit/audit_file.h"

namespace pa {

class AuditSocket {
 public:
  AuditSocket(policy::AuditPolicy::Daemon daemon, std::string path)
      : daemon_(daemon), path_(std::move(path)) {}

  // Sends the whole line, or returns an error and sends nothing. Does not block: EAGAIN while the
  // daemon is busy. Reconnects to a daemon that was restarted.
  Result<void> Append(const LineMaker& make_line);

  policy::AuditPolicy::Daemon daemon() const { return daemon_; }
  const std::string& path() const { return path_; }

 private:
  Result<void> Connect();
  Result<void> Send(const std::string& message);

  policy::AuditPolicy::Daemon daemon_;
  std::string path_;
  UniqueFd fd_;
  ChainLink link_;
};

}  // namespace pa
