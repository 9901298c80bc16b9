#include "supervisor/cli/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/finally.h"
#include "base/try.h"
#include "policy/path.h"
#include "sandbox/rings.h"
#include "supervisor/audit/audit_log.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/cli/doors.h"
#include "supervisor/cli/server_reach.h"
#include "supervisor/engine/engine.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/loop.h"
#include "supervisor/loop/service_manager.h"
#include "supervisor/spawner/confine_server.h"
#include "supervisor/spawner/elsewhere.h"
#include "supervisor/spawner/spawner_process.h"
#include "supervisor/state/find_user.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/state/token_file.h"
#include "supervisor/transport/http_server.h"
#include "supervisor/transport/listening_socket.h"

namespace pa {
namespace {

using Kind = ListenAddress::Kind;
using Anchors = std::vector<policy::TrustAnchor>;

constexpr char kChanged[] = "policy read again";
constexpr char kUnchanged[] = "policy not changed: the previous policy stays in force";

std::string TokensOf(const ServeCommand& command, const Environment& environment) {
  return command.tokens ? AbsoluteFromStart(*command.tokens) : TokenPath(StateHome(environment));
}

// An error that is text for people.
Error LinesOf(const std::vector<std::string>& wrong) {
  std::string lines;
  for (const std::string& line : wrong) lines += (lines.empty() ? "" : "\n") + line;
  return {"", std::move(lines), 0};
}

void LogLines(const Error& error) {
  const std::string& lines = error.subject;
  if (!error.op.empty()) return LogError(error.Message());
  for (std::size_t start = 0; start < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', start), lines.size());
    LogError(lines.substr(start, end - start));
    start = end + 1;
  }
}

// The error is one for people. Warnings are logged.
Result<ServerPolicy> ReadPolicy(const ServeCommand& command, const Environment& environment) {
  auto parts = LoadEngineParts(command.common, environment);
  if (!parts) return std::unexpected(LinesOf(parts.error()));
  return ServerPolicy{*parts->policy, parts->worker, parts->tmp_base};
}

Result<Bounds> BoundsOf(const ServeCommand& command, const Environment& environment,
                        const ServerPolicy& server, const std::vector<std::string>& directories) {
  const auto policy = std::make_shared<const policy::Policy>(server.policy);
  const std::string state_home = StateHome(environment);
  Bounds bounds{.ceiling = policy::CeilingOf(*policy, StateOf(state_home)),
                .worker = server.worker,
                .tmp_base = server.tmp_base,
                .elsewhere = FindElsewhere(policy, state_home, directories),
                .own = {TokensOf(command, environment)},
                .sockets = {},
                .directories = WrittenDirectories(*policy, state_home, server.tmp_base),
                .state = StateOf(state_home),
                .identity = policy->git.inherit_identity};
  if (!policy->http.oauth.jwks.empty()) bounds.own.push_back(policy->http.oauth.jwks);
  for (const ListenAddress& address : command.listen) {
    if (address.kind == Kind::kUnix) bounds.sockets.push_back(AbsoluteFromStart(address.path));
  }
  return bounds;
}

// No command may write, or reach, what only this process knows of. The error: as ReadPolicy.
Result<policy::PolicyPtr> WithAnchors(policy::Policy policy, const Anchors& anchors) {
  const policy::JudgedAnchors judged = policy::TakeAnchors(policy, anchors);
  for (const policy::Diagnostic& warning : judged.warned) LogWarning(warning.Format());
  if (judged.refused.empty()) return std::make_shared<const policy::Policy>(std::move(policy));
  std::vector<std::string> wrong;
  for (const policy::Diagnostic& refused : judged.refused) wrong.push_back(refused.Format());
  return std::unexpected(LinesOf(wrong));
}

bool Names(const ServeCommand& command, Kind kind) {
  return std::ranges::any_of(command.listen,
                             [&](const ListenAddress& address) { return address.kind == kind; });
}

// Those of systemd are open already. Of ours there are only the addresses, with absolute paths,
// until it is known that no command can be in the way.
Result<std::vector<ListeningSocket>> SocketsOf(const ServeCommand& command,
                                               const Environment& environment) {
  std::vector<ListeningSocket> sockets;
  if (Names(command, Kind::kSystemd)) {
    PA_TRY(sockets, TakePassedSockets(environment));
  }
  for (ListenAddress address : command.listen) {
    if (address.kind == Kind::kUnix) address.path = AbsoluteFromStart(address.path);
    if (address.kind == Kind::kUnix || address.kind == Kind::kTcp) {
      sockets.push_back({.fd = {}, .address = std::move(address)});
    }
  }
  return sockets;
}

Result<void> OpenThem(std::vector<ListeningSocket>& sockets) {
  for (ListeningSocket& socket : sockets) {
    if (socket.fd) continue;
    PA_TRY(socket, OpenListeningSocket(socket.address));
  }
  return {};
}

std::vector<ListenAddress> AddressesOf(const std::vector<ListeningSocket>& sockets) {
  std::vector<ListenAddress> addresses;
  for (const ListeningSocket& socket : sockets) addresses.push_back(socket.address);
  return addresses;
}

// A server that a client has started may have inherited the socket of the client's own unit.
ServiceManager ManagerOf(const std::vector<ListenAddress>& addresses,
                         const Environment& environment) {
  return ServiceManager(addresses.empty() ? Environment{} : environment);
}

// For whoever starts the server: with port 0 there is no other way to know the port.
void Tell(const std::vector<ListenAddress>& addresses, bool log_json) {
  for (const ListenAddress& address : addresses) {
    const std::string where =
        address.kind == Kind::kUnix
            ? "unix:" + address.path
            : fmt::format("http://{}/mcp", HostAndPortText(address.host, address.port));
    log_json ? LogNotice("listening on " + where)
             : fmt::print(stderr, "project-actions: listening on {}\n", where);
    if (address.kind == Kind::kTcp && !IsLoopbackAddress(address.host)) {
      LogWarning(where +
                 " can be reached by other machines, and tokens travel there in the clear: "
                 "have a proxy speak TLS in front of an address of loopback");
    }
  }
}

// All but the sockets.
Result<Doors::Order> OrderOf(const ServeCommand& command, const Environment& environment) {
  Doors::Order order{.stdio = command.listen.empty() || Names(command, Kind::kStdio),
                     .sockets = {},
                     .token_path = TokensOf(command, environment),
                     .user = UserName(),
                     .front_door = {},
                     .idle_exit = command.idle_exit};
  if (command.front_door) {
    PA_TRY(order.front_door, FindUser(*command.front_door));
  }
  return order;
}

// For good: what it has open stays open. Before there is a thread, and before anything of a client
// is read.
Result<void> Confine(Engine& engine, const std::string& tmp_base) {
  const policy::Policy& policy = *engine.policy();
  if (const std::string log = policy.audit.Directory();
      !log.empty() && policy::IsBeneath(policy.home, log)) {
    LogWarning("the server can write all of " + log +
               ", where the audit log is: name a directory of its own in audit.path");
  }
  PA_TRY(const bool files, ConfineServer(ReachOf(engine, tmp_base)));
  if (!files) LogNotice("this kernel cannot keep the server from files of its user (Landlock)");
  return {};
}

// Tells clients what changes, for as long as both last.
void Begin(Engine& engine, ServerState& state) {
  engine.WhenTargetsChange([&state] {
    state.open.ListChanged(ListKind::kTools);
    state.open.ListChanged(ListKind::kPrompts);
  });
  engine.WhenResultsChange([&state] { state.open.ListChanged(ListKind::kResources); });
  engine.WhenResultGrows([&state](const std::string& uri) { state.open.ResourceUpdated(uri); });
  engine.FollowMounts();
  engine.UndoEdits();
}

// Whoever has connected already hears that there will be no server.
void AnswerNot(const std::vector<ListeningSocket>& sockets) {
  for (const ListeningSocket& socket : sockets) {
    RemoveSocketFile(socket);
    if (!socket.fd) continue;
    AnswerWaiting(socket.fd.get(), PlainAnswer(503, "the server cannot start; its log says why"));
  }
}

// SIGHUP: what bounds the helpers changes with the server's policy, or neither does; calls in
// flight end under the policy under which they began. Only the log says how it went.
class Reloading {
 public:
  Reloading(SpawnerProcess& spawner, ServiceManager& manager, Engine& engine,
            const ServerState& state, const Anchors& anchors)
      : spawner_(spawner), manager_(manager), engine_(engine), state_(state), anchors_(anchors) {}

  void Begin() {
    manager_.Reloading();
    // The files may have changed since they were read.
    again_ = std::exchange(runs_, true);
    if (!again_) Detach(Reload(), [this](bool changed) { End(changed); });
  }

 private:
  Task<bool> Reload() {
    Task<Result<ServerPolicy>> reading = spawner_.ReadPolicy();
    Result<ServerPolicy> read = co_await reading;
    Result<policy::PolicyPtr> policy =
        read ? WithAnchors(std::move(read->policy), anchors_) : std::unexpected(read.error());
    if (!policy) {
      LogLines(policy.error());
      co_return false;
    }
    if (const Result<void> checked = engine_.CheckPolicy(**policy); !checked) {
      LogError(checked.error().Message() + "; start the server anew");
      co_return false;
    }
    Task<Result<bool>> taking = spawner_.TakePolicy();
    const Result<bool> taken = co_await taking;
    if (!taken) {
      LogError(taken.error().Message());
      co_return false;
    }
    const policy::PolicyPtr before = engine_.policy();
    engine_.ReplacePolicy(*std::move(policy));
    LogInfo(kChanged);
    state_.open.PolicyChanged(*before);
    co_return true;
  }

  void End(bool changed) {
    if (!changed) LogError(kUnchanged);
    runs_ = false;
    if (again_) return Begin();
    manager_.Ready(changed ? kChanged : kUnchanged);
  }

  SpawnerProcess& spawner_;
  ServiceManager& manager_;
  Engine& engine_;
  const ServerState& state_;
  const Anchors& anchors_;
  bool runs_ = false;
  bool again_ = false;
};

int RunUntilEnd(Loop& loop, ServiceManager& manager) {
  manager.Ready("serving");
  const Watchdog watchdog(manager, loop.get());
  loop.Run();
  return 0;
}

// What a server is made of, before there is a loop.
struct ServerParts {
  std::vector<ListeningSocket> sockets;
  Anchors anchors;
  Doors::Order order;
  EngineParts parts;
};

// Nothing: it cannot start, and has said why.
std::optional<ServerParts> PrepareServer(const ServeCommand& command,
                                         const Environment& environment,
                                         Result<std::unique_ptr<SpawnerProcess>>& spawner) {
  Result<std::vector<ListeningSocket>> sockets = SocketsOf(command, environment);
  const auto failed = [&](const Error& why) -> std::optional<ServerParts> {
    const std::vector<ListeningSocket> none;
    LogLines(why);
    AnswerNot(sockets ? *sockets : none);
    return std::nullopt;
  };
  if (!sockets) return failed(sockets.error());
  Anchors anchors = AnchorsOfSockets(*sockets);
  if (command.tokens) {
    anchors.emplace_back(policy::TrustAnchor::Kind::kTokens, TokensOf(command, environment));
  }
  if (!spawner) return failed(spawner.error());
  Result<Doors::Order> order = OrderOf(command, environment);
  if (!order) return failed(order.error());
  Result<ServerPolicy> read = (*spawner)->AwaitPolicy();
  if (!read) return failed(read.error());
  Result<policy::PolicyPtr> policy = WithAnchors(std::move(read->policy), anchors);
  if (!policy) return failed(policy.error());
  if (const Result<void> opened = OpenThem(*sockets); !opened) return failed(opened.error());
  // All that is named relative to it was (StartDirectory); to stay would keep somebody from
  // unmounting it.
  if (chdir("/") != 0) LogWarning("cannot leave the start directory");
  // The loop would have one, which the server's list of system calls refuses later.
  if (const Result<void> refused = sandbox::RefuseRings(); !refused) return failed(refused.error());
  order->open = [spawner = spawner->get()](const std::string& path) { return spawner->Open(path); };
  order->remove = [spawner = spawner->get()](const ListeningSocket& socket) {
    if (socket.inode != 0) {
      spawner->RemoveSocket({socket.address.path, socket.device, socket.inode});
    }
  };
  EngineParts parts{.policy = *std::move(policy),
                    .worker = std::move(read->worker),
                    .tmp_base = std::move(read->tmp_base),
                    .state_home = StateHome(environment),
                    .spawner = spawner->get()};
  return ServerParts{*std::move(sockets), std::move(anchors), *std::move(order), std::move(parts)};
}

}  // namespace

SpawnerLoads LoadsOfServer(int argc, char** argv) {
  // Once for each process that reads.
  const auto parsed = std::make_shared<ParsedCommandLine>();
  const auto command = [argc, argv, parsed]() -> const ServeCommand* {
    if (!parsed->command) *parsed = ParseCommandLine(argc, argv);
    const auto* serve = parsed->command ? std::get_if<ServeCommand>(&*parsed->command) : nullptr;
    if (serve) StartLog({.verbose = serve->common.verbose, .json = serve->log_json});
    return serve;
  };
  const Error none("", "this is no server's command line", 0);
  return {.policy = [=]() -> Result<ServerPolicy> {
            const ServeCommand* const serve = command();
            if (serve == nullptr) return std::unexpected(none);
            return ReadPolicy(*serve, ReadEnvironment(environ));
          },
          .bounds = [=](const ServerPolicy& policy,
                        const std::vector<std::string>& directories) -> Result<Bounds> {
            const ServeCommand* const serve = command();
            if (serve == nullptr) return std::unexpected(none);
            return BoundsOf(*serve, ReadEnvironment(environ), policy, directories);
          }};
}

int RunServe(const ServeCommand& command, const Environment& environment,
             Result<std::unique_ptr<SpawnerProcess>> spawner) {
  std::optional<ServerParts> made = PrepareServer(command, environment, spawner);
  if (!made) return 1;
  const std::vector<ListenAddress> addresses = AddressesOf(made->sockets);
  const std::string tmp_base = made->parts.tmp_base;
  Loop loop;
  Engine engine(loop.get(), std::move(made->parts), environment);
  engine.Follow();
  ServerState state = NewServerState(*engine.policy(), command.text_only);
  if (const Result<void> confined = Confine(engine, tmp_base); !confined) {
    for (const ListeningSocket& socket : made->sockets) made->order.remove(socket);
    LogError(confined.error().Message());
    AnswerNot(made->sockets);
    return 1;
  }
  made->order.sockets = std::move(made->sockets);
  Doors doors(engine.services(), state, std::move(made->order));
  Begin(engine, state);
  ServiceManager manager = ManagerOf(addresses, environment);
  const auto stop = [&] { doors.Shutdown(); };
  SignalWatch interrupted(loop.get(), SIGINT, stop);
  SignalWatch terminated(loop.get(), SIGTERM, stop);
  Reloading reloading(**spawner, manager, engine, state, made->anchors);
  SignalWatch hung_up(loop.get(), SIGHUP, [&] { reloading.Begin(); });
  ReleaseSignal(SIGHUP);
  (*spawner)->FollowOn(loop.get(), [&] {
    LogError("the process that starts commands has ended, so the server ends");
    stop();
  });
  // Before all that a reload uses is gone.
  const Finally unfollowed([&] { (*spawner)->Close(); });

  doors.WhenEnding([&] {
    manager.Stopping();
    engine.runner().BeginShutdown();
  });
  doors.WhenEnded([&] {
    // First every tree, then what is queued for the client: the reply to a cancelled call counts
    // too.
    engine.Shutdown([&] { doors.Close(); });
  });
  if (const Result<void> opened = doors.Open(); !opened) {
    LogError(opened.error().Message());
    doors.Close();
    loop.Run();
    return 1;
  }
  Tell(addresses, command.log_json);
  return RunUntilEnd(loop, manager);
}

}  // namespace pa
