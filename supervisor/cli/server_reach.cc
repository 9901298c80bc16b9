#include "supervisor/cli/server_reach.h"

#include "sandbox/confinement.h"

namespace pa {

ServerReach ReachOf(Engine& engine, const std::string& tmp_base) {
  const policy::Policy& policy = *engine.policy();
  ServerReach reach{.read = {"/proc", "/sys/devices/system/cpu", "/dev/urandom"},
                    .write = engine.GiveUpAllButOwn(),
                    .list = {},
                    .base = tmp_base,
                    .ports = policy.job_ports};
  // A policy is compiled again at SIGHUP: names of users, and which toolchains there are.
  for (const auto* grants : {&policy.system, &policy.system_network}) {
    for (const sandbox::PathGrant& grant : *grants) {
      if (!sandbox::Has(grant.access, sandbox::Access::kDevice)) reach.read.push_back(grant.path);
    }
  }
  // The names alone: which files of git's the user has.
  if (!policy.home.empty()) reach.list.push_back(policy.home);
  if (!policy.config_home.empty()) reach.list.push_back(policy.config_home + "/git");
  return reach;
}

}  // namespace pa
