// The command line of project-actionsd.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "policy/load.h"
#include "supervisor/state/tenant_directory.h"
#include "supervisor/transport/listen_address.h"

namespace pa {

struct DaemonOptions {
  ListenAddress listen = {.kind = ListenAddress::Kind::kSystemd};  // or kUnix
  std::string tenants = kTenantDirectory;
  std::string policy = policy::kAdministratorPolicy;
  std::optional<std::string> web_server;  // a user, by name or number
  bool verbose = false;
  bool log_json = false;
};

// What is to be printed, and the exit status, in place of running.
struct DaemonText {
  std::string text;
  int exit_status = 0;
};
std::expected<DaemonOptions, DaemonText> ParseDaemonOptions(int argc, char** argv);

}  // namespace pa
