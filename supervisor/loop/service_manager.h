// ServiceManager: tells systemd how a service is (sd_notify(3)), if systemd has started it and
// wants to know.
//
//    ServiceManager manager(environment);
//    ...
//    manager.Ready("12 tenants");
//    const Watchdog watchdog(manager, loop);
//
// https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
#pragma once

#include <uv.h>

#include <chrono>
#include <map>
#include <string>

#include "base/unique_fd.h"
#include "supervisor/loop/uv_handles.h"

namespace pa {

class ServiceManager {
 public:
  // Looks at NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and connects: later, the process may be
  // confined. A socket to which there is no connection is logged.
  explicit ServiceManager(const std::map<std::string, std::string>& environment);

  // `status`: one line for people, which `systemctl status` shows.
  void Ready(const std::string& status);
  // Between the two, it reads its configuration anew.
  void Reloading();
  void Stopping();

 private:
  friend class Watchdog;
  bool Tell(const std::string& message, int flags = 0);

  UniqueFd socket_;                        // not open: nobody listens
  std::chrono::milliseconds watchdog_{0};  // 0: there is none
};

// Tells from the loop that it turns, as often as the unit's WatchdogSec= needs. A loop that does
// not is killed by systemd. Keeps no loop running, and must end before the loop does, as each
// handle.
class Watchdog {
 public:
  Watchdog(ServiceManager& manager, uv_loop_t* loop);

 private:
  void Tick();

  ServiceManager& manager_;
  TimerHandle timer_;
};

}  // namespace pa
