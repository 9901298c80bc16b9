// project-actionsd: says whose a request is to the web server in front of the tenants' servers.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <utility>

#include "base/try.h"
#include "policy/http_policy.h"
#include "policy/path.h"
#include "sandbox/rings.h"
#include "supervisor/daemon/confine_daemon.h"
#include "supervisor/daemon/daemon_options.h"
#include "supervisor/daemon/front_door.h"
#include "supervisor/daemon/tenant_table.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/loop.h"
#include "supervisor/loop/service_manager.h"
#include "supervisor/state/find_user.h"
#include "supervisor/state/user_directories.h"
#include "supervisor/transport/http_server.h"
#include "supervisor/transport/listening_socket.h"

namespace pa {
namespace {

FrontDoor::HttpPolicyPtr LoadPolicyFrom(const std::string& file) {
  auto http = policy::LoadHttpPolicy(file);
  if (http) return std::make_shared<const policy::HttpPolicy>(*std::move(http));
  for (const policy::Diagnostic& diagnostic : http.error()) LogError(diagnostic.Format());
  return nullptr;
}

Result<std::vector<ListeningSocket>> SocketsFor(const ListenAddress& address) {
  if (address.kind == ListenAddress::Kind::kSystemd) {
    return TakePassedSockets(ReadEnvironment(environ));
  }
  std::vector<ListeningSocket> sockets(1);
  PA_TRY(sockets[0], OpenListeningSocket(address));
  return sockets;
}

std::vector<std::string> Needed(const DaemonOptions& options, const policy::HttpPolicy& http) {
  std::vector<std::string> needed = {options.tenants};
  // Files that are replaced by others of the same name.
  for (const std::string& file : {options.policy, http.oauth.jwks}) {
    if (!file.empty()) needed.push_back(std::filesystem::path(file).parent_path());
  }
  return needed;
}

// Nothing can be granted that is not there.
std::vector<std::string> Readable(const DaemonOptions& options, const policy::HttpPolicy& http) {
  std::vector<std::string> readable = Needed(options, http);
  std::erase_if(readable, std::not_fn(policy::IsDirectory));
  return readable;
}

// A process cannot widen what it gave up: keys in another directory need another process.
FrontDoor::HttpPolicyPtr ReplacementFor(const DaemonOptions& options,
                                        const std::vector<std::string>& readable) {
  FrontDoor::HttpPolicyPtr policy = LoadPolicyFrom(options.policy);
  if (!policy) return nullptr;
  for (const std::string& directory : Needed(options, *policy)) {
    if (std::ranges::any_of(readable, std::bind_front(policy::IsBeneath, directory))) continue;
    LogError(fmt::format(
        "the directory {} was not there, or nothing named it, when project-actionsd began, "
        "so it may not read there: restart it (systemctl restart project-actionsd)",
        directory));
    return nullptr;
  }
  return policy;
}

// Takes the sockets once nothing can fail any more.
Result<int> Serve(const DaemonOptions& options, std::vector<ListeningSocket>& sockets) {
  ServiceManager manager(ReadEnvironment(environ));
  FrontDoor::HttpPolicyPtr policy = LoadPolicyFrom(options.policy);
  if (!policy) return 1;
  HttpServerLimits limits;
  if (options.web_server) {
    PA_TRY(limits.front_door, FindUser(*options.web_server));
  }
  TenantTable tenants(options.tenants);
  // Tenants whose tokens cannot be read are no reason not to serve the others.
  PA_TRY_VOID(tenants.HasAny({}));
  PA_TRY_VOID(sandbox::RefuseRings());
  Loop loop;
  FrontDoor door(tenants, policy);
  HttpServer server(loop.get(), door, limits);
  const auto stop = [&] {
    manager.Stopping();
    server.Close([] {});
  };
  const auto ready = [&](const std::string& how) {
    const bool known = tenants.Check().has_value();
    manager.Ready(fmt::format("{} tenants{}{}", tenants.size(),
                              known ? "" : ", not all of whose tokens can be read", how));
  };
  const std::vector<std::string> readable = Readable(options, *policy);
  const SignalWatch interrupted(loop.get(), SIGINT, stop);
  const SignalWatch terminated(loop.get(), SIGTERM, stop);
  const SignalWatch hung_up(loop.get(), SIGHUP, [&] {
    manager.Reloading();
    tenants.Forget();
    if (auto replaced = ReplacementFor(options, readable)) {
      door.ReplacePolicy(std::move(replaced));
      LogInfo("policy and tenants read again");
      ready("; policy read again");
    } else {
      LogError("policy not changed: the previous policy stays in force");
      ready("; policy not changed: the previous policy stays in force");
    }
  });
  PA_TRY_VOID(ConfineDaemon(readable));
  for (ListeningSocket& socket : sockets) {
    PA_TRY_VOID(server.Listen(std::move(socket.fd)));
  }
  LogInfo(fmt::format("{} tenants", tenants.size()));
  ready("");
  const Watchdog watchdog(manager, loop.get());
  loop.Run();
  return 0;
}

Result<int> Run(const DaemonOptions& options) {
  PA_TRY(std::vector<ListeningSocket> sockets, SocketsFor(options.listen));
  Result<int> status = Serve(options, sockets);
  for (const ListeningSocket& socket : sockets) {
    RemoveSocketFile(socket);
    if (socket.fd)
      AnswerWaiting(socket.fd.get(), PlainAnswer(503, "project-actionsd cannot start"));
  }
  return status;
}

}  // namespace
}  // namespace pa

int main(int argc, char** argv) {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  const auto options = pa::ParseDaemonOptions(argc, argv);
  if (!options) {
    fputs(options.error().text.c_str(), options.error().exit_status == 0 ? stdout : stderr);
    return options.error().exit_status;
  }
  pa::StartLog(
      {.verbose = options->verbose, .json = options->log_json, .program = "project-actionsd"});
  const pa::Result<int> status = pa::Run(*options);
  if (!status) pa::LogError(status.error().Message());
  return status.value_or(1);
}
