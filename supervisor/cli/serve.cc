#include "supervisor/cli/serve.h"

#include <signal.h>
#include <unistd.h>

#include "supervisor/cli/configuration.h"
#include "supervisor/engine/engine.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/loop.h"
#include "supervisor/mcp/session.h"
#include "supervisor/transport/stdio_transport.h"

namespace pa {
namespace {

// SIGHUP: all or nothing; calls in flight end under the policy under which they began.
void Reload(const ServeCommand& command, const Environment& environment, Engine& engine,
            Session& session) {
  policy::LoadedPolicy loaded = policy::LoadPolicy(SourcesOf(command.common, environment));
  if (!loaded.policy) {
    for (const auto& diagnostic : loaded.diagnostics) LogError(diagnostic.Format());
    LogError("policy not changed: the previous policy stays in force");
    return;
  }
  const policy::PolicyPtr before = engine.policy();
  if (const Result<void> replaced = engine.ReplacePolicy(std::move(loaded.policy)); !replaced) {
    LogError(replaced.error().Message() + "; start the server anew");
    LogError("policy not changed: the previous policy stays in force");
    return;
  }
  LogInfo("policy read again");
  session.PolicyChanged(*before);
}

}  // namespace

int RunServe(const ServeCommand& command, const Environment& environment) {
  auto parts = LoadEngineParts(command.common, environment);
  if (!parts) {
    for (const std::string& line : parts.error()) LogError(line);
    return 1;
  }
  // All that is named relative to it was (StartDirectory); to stay would keep somebody from
  // unmounting it.
  if (chdir("/") != 0) LogWarning("cannot leave the start directory");
  Loop loop;
  Engine engine(loop.get(), std::move(*parts), environment);
  StdioTransport transport(loop.get(), STDIN_FILENO, STDOUT_FILENO);
  ServerState state = NewServerState(*engine.policy(), command.text_only);
  Session session(engine.services(), state, transport);
  engine.WhenTargetsChange([&] { session.ListChanged(ListKind::kTools); });
  engine.WhenResultsChange([&] { session.ListChanged(ListKind::kResources); });
  engine.FollowMounts();
  engine.UndoEdits();

  const auto stop = [&] { session.Shutdown(); };
  SignalWatch interrupted(loop.get(), SIGINT, stop);
  SignalWatch terminated(loop.get(), SIGTERM, stop);
  SignalWatch hung_up(loop.get(), SIGHUP, [&] { Reload(command, environment, engine, session); });

  session.WhenEnding([&] { engine.runner().BeginShutdown(); });
  session.WhenEnded([&] {
    // First every tree, then what is queued for the client: the reply to a cancelled call counts
    // too.
    engine.Shutdown([&] { transport.Close([] {}); });
  });
  if (auto started = transport.Start(session); !started) {
    LogError(started.error().Message());
    transport.Close([] {});
    loop.Run();
    return 1;
  }
  loop.Run();
  return 0;
}

}  // namespace pa
