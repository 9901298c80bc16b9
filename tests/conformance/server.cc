// conformance-server PORT WORKER: serves the fixtures at http://127.0.0.1:PORT/mcp to whoever asks,
// without a token: the suite has none. Only a test starts it.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "supervisor/cli/configuration.h"
#include "supervisor/engine/engine.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/loop.h"
#include "supervisor/mcp/http_endpoint.h"
#include "supervisor/text/loopback_host.h"
#include "supervisor/transport/listening_socket.h"
#include "tests/conformance/fixtures.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

int Complain(const std::string& why) {
  fprintf(stderr, "conformance-server: %s\n", why.c_str());
  return 1;
}

int Serve(const std::string& port, const std::string& worker, const Environment& environment) {
  const auto address = ParseListenAddress("http://127.0.0.1:" + port);
  if (!address) return Complain(address.error());
  Result<ListeningSocket> socket = OpenListeningSocket(*address);
  if (!socket) return Complain(socket.error().Message());
  CommonOptions options;
  options.worker = worker;
  // Not the current directory: a checkout, which holds this program.
  const testing::TempDir project;
  options.roots = {project.path().string()};
  auto parts = LoadEngineParts(options, environment);
  if (!parts) return Complain(parts.error().front());
  auto policy = std::make_shared<policy::Policy>(*parts->policy);
  policy->limits.detach_after = conformance::kUntilTask;
  parts->policy = std::move(policy);
  const std::uint16_t bound = socket->address.port;

  Loop loop;
  Engine engine(loop.get(), std::move(*parts), environment);
  ServerState state = NewServerState(*engine.policy());
  Services services = engine.services();
  services.tools = conformance::Tools(loop.get(), state);
  state.prompts = &conformance::Prompts();
  state.resources = &conformance::Resources();
  HttpEndpoint endpoint(
      services, state,
      {.host_allowed = [&](std::string_view host) { return IsLoopbackHost(host, bound); },
       .origin_allowed =
           [&](std::string_view origin) {
             return origin.starts_with("http://") && IsLoopbackHost(origin.substr(7), bound);
           },
       .identify = [](const HttpHead&, HttpPeer&) -> std::optional<HttpAnswer> { return {}; },
       .on_lines = [](UniqueFd, const HttpPeer&) {}});
  HttpServer server(loop.get(), endpoint);
  if (const auto listens = server.Listen(std::move(socket->fd)); !listens) {
    return Complain(listens.error().Message());
  }
  engine.UndoEdits();
  SignalWatch terminated(loop.get(), SIGTERM, [&] {
    server.Close([] {});
    endpoint.WhenEnded([&] { engine.Shutdown([] {}); });
    endpoint.Shutdown();
  });
  fprintf(stderr, "listening on http://127.0.0.1:%d/mcp\n", int{bound});
  loop.Run();
  return 0;
}

}  // namespace
}  // namespace pa

int main(int argc, char** argv) {
  if (argc != 3)
    return pa::Complain("expected two arguments: the port, and the path of the worker");
  signal(SIGPIPE, SIG_IGN);
  pa::StartLog({});
  const pa::Environment environment = pa::ReadEnvironment(environ);
  return pa::Serve(argv[1], argv[2], environment);
}
