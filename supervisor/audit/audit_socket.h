// AuditSocket: lines to journald or to a syslog daemon, by their datagram sockets.
//
//   AuditSocket socket(policy::AuditPolicy::Daemon::kJournal, "/run/systemd/journal/socket");
//   Result<void> kept = socket.Append([&](const ChainLink& link) {
//     return EventLine(event, link);
//   });
//
// A line is kept when the daemon's socket has taken it; what the daemon does with it is the
// daemon's. The chain is that of this process: it begins at 1 with each.
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

  // The whole line or an error and no line. Waits for nobody: EAGAIN while the daemon is busy.
  // Connects again to one that was started anew.
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
