#include "supervisor/cli/server_reach.h"

namespace pa {

ServerReach ReachOf(Engine& engine, const std::string& tmp_base) {
  const policy::Policy& policy = *engine.policy();
  ServerReach reach{// Processes and mounts; who the user is, and what time it is.
                    .read = {"/proc", "/sys/devices/system/cpu", "/etc/passwd", "/etc/group",
                             "/etc/nsswitch.conf", "/etc/localtime", "/usr/share/zoneinfo"},
                    .write = engine.GiveUpAllButOwn(),
                    .base = tmp_base,
                    .ports = policy.job_ports};
  // Which files of git's the user has.
  if (!policy.home.empty()) reach.list.push_back(policy.home);
  if (!policy.config_home.empty()) reach.list.push_back(policy.config_home + "/git");
  return reach;
}

}  // namespace pa
