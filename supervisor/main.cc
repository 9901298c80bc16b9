// project-actions: builds what the chosen subcommand needs, and passes it down.

#include <fcntl.h>
#include <nss.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <expected>
#include <memory>
#include <string_view>
#include <utility>

#include "supervisor/cli/audit_command.h"
#include "supervisor/cli/call_command.h"
#include "supervisor/cli/command_line.h"
#include "supervisor/cli/connect_command.h"
#include "supervisor/cli/doctor_command.h"
#include "supervisor/cli/init_command.h"
#include "supervisor/cli/policy_allow.h"
#include "supervisor/cli/policy_command.h"
#include "supervisor/cli/serve.h"
#include "supervisor/cli/tenant_command.h"
#include "supervisor/cli/token_command.h"
#include "supervisor/cli/top_command.h"
#include "supervisor/cli/trash_command.h"
#include "supervisor/janitor/janitor_wire.h"
#include "supervisor/janitor/serve_janitor.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/loop.h"
#include "supervisor/loop/memory_reserve.h"
#include "supervisor/run/run_chores.h"
#include "supervisor/spawner/spawner_process.h"
#include "supervisor/state/user_directories.h"

namespace pa {
namespace {

using SpawnerOr = Result<std::unique_ptr<SpawnerProcess>>;

struct Dispatch {
  const Environment& environment;
  SpawnerOr& spawner;  // of a server

  int operator()(const ServeCommand& command) const {
    StartLog({.verbose = command.common.verbose, .json = command.log_json});
    return RunServe(command, environment, std::move(spawner));
  }
  int operator()(const CallCommand& command) const {
    StartLog({.verbose = command.common.verbose});
    return RunCall(command, environment);
  }
  int operator()(const DoctorCommand& command) const {
    StartLog({.verbose = command.common.verbose});
    return RunDoctor(command, environment);
  }
  int operator()(const PolicyCheckCommand& command) const {
    return RunPolicyCheck(command, environment);
  }
  int operator()(const PolicyShowCommand& command) const {
    StartLog({.verbose = command.common.verbose});
    return RunPolicyShow(command, environment);
  }
  int operator()(const PolicySchemaCommand&) const { return RunPolicySchema(); }
  int operator()(const PolicyExplainCommand& command) const {
    StartLog({.verbose = command.common.verbose});
    return RunPolicyExplain(command, environment);
  }
  int operator()(const PolicyAllowCommand& command) const {
    StartLog({.verbose = command.common.verbose});
    return RunPolicyAllow(command, environment);
  }
  int operator()(const AuditVerifyCommand& command) const {
    return RunAuditVerify(command, environment);
  }
  int operator()(const AuditShowCommand& command) const {
    return RunAuditShow(command, environment);
  }
  int operator()(const TrashListCommand& command) const {
    return RunTrashList(command, environment);
  }
  int operator()(const TrashRestoreCommand& command) const {
    return RunTrashRestore(command, environment);
  }
  int operator()(const InitCommand& command) const {
    StartLog({.verbose = command.common.verbose});
    return RunInit(command, environment);
  }
  int operator()(const ConnectCommand& command) const { return RunConnect(command, environment); }
  int operator()(const TopCommand& command) const { return RunTop(command, environment); }
  int operator()(const TenantAddCommand& command) const {
    StartLog({});
    return RunTenantAdd(command, environment);
  }
  int operator()(const TenantListCommand& command) const { return RunTenantList(command); }
  int operator()(const TenantRemoveCommand& command) const { return RunTenantRemove(command); }
  int operator()(const TokenNewCommand& command) const { return RunTokenNew(command, environment); }
  int operator()(const TokenListCommand& command) const {
    return RunTokenList(command, environment);
  }
  int operator()(const TokenRevokeCommand& command) const {
    return RunTokenRevoke(command, environment);
  }
};

// A descriptor that is closed would be given to the next file that we open, and be written to as if
// it were a stream.
void OpenStandardStreams() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

// As many descriptors as we may have: a call takes some, and what a command may have on its way
// through sockets must stay below what we may (sandbox/rlimits.cc).
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// A static glibc would load the machine's libraries for users that are not in /etc/passwd, which
// are of another glibc.
void LookUpUsersInFilesAlone() {
#ifdef PA_STATIC_SERVER
  __nss_configure_lookup("passwd", "files");
#endif
}

}  // namespace
}  // namespace pa

int main(int argc, char** argv) {
  // As the janitor of a server: before anything of a command line's own is made.
  if (argc == 2 && std::string_view(argv[1]) == pa::kJanitorOption) {
    return pa::ServeJanitor(pa::RunChores());
  }
  pa::OpenStandardStreams();
  pa::SpawnerOr spawner = std::unexpected(pa::Error("spawner", "only `serve` has one", EINVAL));
  // Both before the spawner, which looks up users, and whose helpers have that limit, too.
  pa::RaiseDescriptorLimit();
  pa::LookUpUsersInFilesAlone();
  // Before there is much memory, of which the spawner would keep its own.
  if (argc >= 2 && std::string_view(argv[1]) == "serve") {
    static_cast<void>(pa::StartDirectory());
    // Until the server can read the policy again (RunServe).
    pa::HoldSignal(SIGHUP);
    spawner = pa::SpawnerProcess::Fork(pa::LoadsOfServer(argc, argv));
  }
  pa::KeepMemoryReserve();
  // A client that goes away is an error of write(2), not the end of us: the tree must end first.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  const pa::ParsedCommandLine parsed = pa::ParseCommandLine(argc, argv);
  if (!parsed.command) {
    fputs(parsed.text.c_str(), parsed.exit_status == 0 ? stdout : stderr);
    return parsed.exit_status;
  }
  const pa::Environment environment = pa::ReadEnvironment(environ);
  return std::visit(pa::Dispatch{environment, spawner}, *parsed.command);
}
