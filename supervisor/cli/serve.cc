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

// SIGHUP: all or nothing; calls in flight end under the policy under which they began. Null: the
// policy in the files cannot be in force, which is logged.
policy::PolicyPtr LoadAgain(const ServeCommand& command, const Environment& environment,
                            const Anchors& anchors, const OpenFile& open, const Engine& engine) {
  policy::PolicySources sources = SourcesOf(command.common, environment);
  sources.open = open;
  sources.opens_nothing = true;
  sources.anchors.insert(sources.anchors.end(), anchors.begin(), anchors.end());
  policy::LoadedPolicy loaded = policy::LoadPolicy(sources);
  if (!loaded.policy) {
    for (const auto& diagnostic : loaded.diagnostics) LogError(diagnostic.Format());
    return nullptr;
  }
  if (const Result<void> checked = engine.CheckPolicy(*loaded.policy); !checked) {
    LogError(checked.error().Message() + "; start the server anew");
    return nullptr;
  }
  return std::move(loaded.policy);
}

void Replace(policy::PolicyPtr policy, Engine& engine, const ServerState& state) {
  const policy::PolicyPtr before = engine.policy();
  engine.ReplacePolicy(std::move(policy));
  LogInfo(kChanged);
  state.open.PolicyChanged(*before);
}

std::string TokensOf(const ServeCommand& command, const Environment& environment) {
  return command.tokens ? AbsoluteFromStart(*command.tokens) : TokenPath(StateHome(environment));
}

std::vector<std::string> OwnFilesOf(const ServeCommand& command, const Environment& environment,
                                    const policy::Policy& policy) {
  const policy::PolicySources sources = SourcesOf(command.common, environment);
  std::vector<std::string> files = {sources.administrator_file,
                                    sources.user_file.value_or(sources.default_user_file),
                                    TokensOf(command, environment)};
  if (!policy.http.oauth.jwks.empty()) files.push_back(policy.http.oauth.jwks);
  return files;
}

// Without the anchors of sockets and tokens, which take nothing from what is granted.
Result<Bounds> BoundsOf(const ServeCommand& command, const Environment& environment,
                        const std::vector<std::string>& directories) {
  policy::PolicySources sources = SourcesOf(command.common, environment);
  sources.opens_nothing = true;
  const policy::LoadedPolicy loaded = policy::LoadPolicy(sources);
  if (!loaded.policy) {
    const bool none = loaded.diagnostics.empty();
    return std::unexpected(
        Error("policy", none ? "it does not load" : loaded.diagnostics.front().Format(), 0));
  }
  Bounds bounds;
  PA_TRY(bounds.worker, FindWorker(command.common.worker));
  PA_TRY(bounds.tmp_base, TemporaryBase(*loaded.policy, environment));
  const std::string state_home = StateHome(environment);
  bounds.ceiling = policy::CeilingOf(*loaded.policy, StateOf(state_home));
  bounds.elsewhere = FindElsewhere(loaded.policy, state_home, directories);
  bounds.own = OwnFilesOf(command, environment, *loaded.policy);
  for (const ListenAddress& address : command.listen) {
    if (address.kind == Kind::kUnix) bounds.sockets.push_back(AbsoluteFromStart(address.path));
  }
  bounds.directories = WrittenDirectories(*loaded.policy, state_home, bounds.tmp_base);
  bounds.state = StateOf(state_home);
  bounds.identity = loaded.policy->git.inherit_identity;
  return bounds;
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

void Failed(const std::string& why, const std::vector<ListeningSocket>& sockets) {
  if (!why.empty()) LogError(why);
  for (const ListeningSocket& socket : sockets) {
    RemoveSocketFile(socket);
    if (!socket.fd) continue;
    AnswerWaiting(socket.fd.get(), PlainAnswer(503, "the server cannot start; its log says why"));
  }
}

// What bounds the helpers changes with the server's policy, or neither does. The outcome is for
// people.
void ReloadBoth(SpawnerProcess& spawner, ServiceManager& manager, policy::PolicyPtr policy,
                std::function<void(policy::PolicyPtr)> replace) {
  manager.Reloading();
  const auto unchanged = [&manager] {
    LogError(kUnchanged);
    manager.Ready(kUnchanged);
  };
  if (policy == nullptr) return unchanged();
  Detach(spawner.Reload(), [&manager, unchanged, policy = std::move(policy),
                            replace = std::move(replace)](const Result<bool>& bounds) {
    if (!bounds) {
      LogError(bounds.error().Message());
      return unchanged();
    }
    replace(policy);
    manager.Ready(kChanged);
  });
}

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
  const auto failed = [&](const std::string& why) -> std::optional<ServerParts> {
    const std::vector<ListeningSocket> none;
    Failed(why, sockets ? *sockets : none);
    return std::nullopt;
  };
  if (!sockets) return failed(sockets.error().Message());
  Anchors anchors = AnchorsOfSockets(*sockets);
  Result<Doors::Order> order = OrderOf(command, environment);
  if (!order) return failed(order.error().Message());
  if (command.tokens) {
    anchors.emplace_back(policy::TrustAnchor::Kind::kTokens, order->token_path);
  }
  if (!spawner) return failed(spawner.error().Message());
  auto parts = LoadEngineParts(command.common, environment, anchors);
  if (!parts) {
    for (const std::string& line : parts.error()) LogError(line);
    return failed("");
  }
  if (const Result<void> bounds = (*spawner)->AwaitBounds(); !bounds) {
    return failed(bounds.error().Message());
  }
  if (const Result<void> opened = OpenThem(*sockets); !opened) {
    return failed(opened.error().Message());
  }
  // All that is named relative to it was (StartDirectory); to stay would keep somebody from
  // unmounting it.
  if (chdir("/") != 0) LogWarning("cannot leave the start directory");
  parts->spawner = spawner->get();
  order->open = [spawner = spawner->get()](const std::string& path) { return spawner->Open(path); };
  order->remove = [spawner = spawner->get()](const ListeningSocket& socket) {
    if (socket.inode != 0) {
      spawner->RemoveSocket({socket.address.path, socket.device, socket.inode});
    }
  };
  return ServerParts{*std::move(sockets), std::move(anchors), *std::move(order), *std::move(parts)};
}

}  // namespace

LoadBounds BoundsOfServer(int argc, char** argv) {
  return [argc, argv](const std::vector<std::string>& directories) -> Result<Bounds> {
    const ParsedCommandLine parsed = ParseCommandLine(argc, argv);
    const auto* command = parsed.command ? std::get_if<ServeCommand>(&*parsed.command) : nullptr;
    if (command == nullptr) return std::unexpected(Error("command line", "it is no server's", 0));
    StartLog({.verbose = false, .json = command->log_json});
    return BoundsOf(*command, ReadEnvironment(environ), directories);
  };
}

int RunServe(const ServeCommand& command, const Environment& environment,
             Result<std::unique_ptr<SpawnerProcess>> spawner) {
  std::optional<ServerParts> made = PrepareServer(command, environment, spawner);
  if (!made) return 1;
  const Anchors& anchors = made->anchors;
  const std::vector<ListenAddress> addresses = AddressesOf(made->sockets);
  const OpenFile open = made->order.open;
  const std::string tmp_base = made->parts.tmp_base;
  Loop loop;
  Engine engine(loop.get(), std::move(made->parts), environment);
  engine.Follow();
  ServerState state = NewServerState(*engine.policy(), command.text_only);
  if (const Result<void> confined = Confine(engine, tmp_base); !confined) {
    for (const ListeningSocket& socket : made->sockets) made->order.remove(socket);
    Failed(confined.error().Message(), made->sockets);
    return 1;
  }
  made->order.sockets = std::move(made->sockets);
  Doors doors(engine.services(), state, std::move(made->order));
  Begin(engine, state);
  ServiceManager manager = ManagerOf(addresses, environment);
  const auto stop = [&] { doors.Shutdown(); };
  SignalWatch interrupted(loop.get(), SIGINT, stop);
  SignalWatch terminated(loop.get(), SIGTERM, stop);
  SignalWatch hung_up(loop.get(), SIGHUP, [&] {
    ReloadBoth(**spawner, manager, LoadAgain(command, environment, anchors, open, engine),
               [&](policy::PolicyPtr policy) { Replace(std::move(policy), engine, state); });
  });
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
