// The front door, beside the tenant's server by itself; and servers that wait. As one user: whose a
// process is makes no difference to what it costs.
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "supervisor/callers/vouch.h"
#include "supervisor/state/tenant_directory.h"
#include "supervisor/state/token_file.h"
#include "tests/bench/http_load.h"
#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/bench/server.h"
#include "tests/support/front_door.h"
#include "tests/support/loopback.h"
#include "tests/support/processes.h"
#include "tests/support/unix_socket.h"

namespace pa::bench {
namespace {

using testing::Json;
using testing::Project;

constexpr uid_t kTenant = 1000;  // a name alone

class Process {
 public:
  explicit Process(testing::Launch launch) : pid_(testing::Spawn(std::move(launch))) {}
  ~Process() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

std::uint16_t FreePort() {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = testing::LoopbackAddress(0);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd.get(), name, size) != 0 || getsockname(fd.get(), name, &size) != 0) GiveUp("bind");
  return ntohs(address.sin_port);
}

// A front door with one tenant, as it is installed but for the users.
class Site {
 public:
  Site() : dir_(project_.outside().string()) {
    const TenantPaths paths = TenantPathsOf(dir_ + "/tenants", kTenant);
    for (const std::string& path :
         {paths.directory, dir_ + "/run", dir_ + "/nginx", dir_ + "/nginx.d"}) {
      std::filesystem::create_directories(path);
    }
    port_ = FreePort();
    testing::WriteText(paths.tokens, FormatTokens({token_.token, expired_.token}));
    // One client stands for many here, so without what one client may ask in a second.
    testing::WriteText(
        dir_ + "/nginx.conf",
        testing::NginxConf(
            testing::WithPlaces(testing::ReadText(testing::BuiltProgram("PA_NGINX_CONF")),
                                {{"rate=200r/s", "rate=1000000r/s"}}),
            dir_, port_));
  }

  std::string SocketOf(uid_t tenant) const {
    return dir_ + "/run/" + std::to_string(tenant) + ".sock";
  }
  testing::Launch Server(std::vector<std::string> listen) const {
    testing::Launch launch{
        .command = {"sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", "sh",
                    testing::BuiltProgram("PA_SERVER"), "serve", "--root", project_.root(),
                    "--enable", "all", "--front-door", std::to_string(geteuid()), "--tokens",
                    TenantPathsOf(dir_ + "/tenants", kTenant).tokens},
        .environment = {"HOME=" + project_.home().string()}};
    launch.command.insert(launch.command.end(), listen.begin(), listen.end());
    return launch;
  }
  testing::Launch Door() const {
    return {.command = {testing::BuiltProgram("PA_DAEMON"), "--listen",
                        "unix:" + dir_ + "/door.sock", "--tenants", dir_ + "/tenants", "--policy",
                        dir_ + "/policy.yaml"}};
  }
  testing::Launch Nginx() const {
    testing::Launch launch{
        .command = {testing::kNginx, "-c", dir_ + "/nginx.conf", "-e", "stderr"}};
    // As root it would start its workers as another user, who reaches nothing here.
    if (geteuid() == 0) launch.command.insert(launch.command.end(), {"-g", "user root;"});
    return launch;
  }
  std::string Fields(std::uint16_t port) const { return FieldsWith(port, token_.text); }
  static std::string FieldsWith(std::uint16_t port, const std::string& token) {
    return "Host: 127.0.0.1:" + std::to_string(port) +
           "\r\nMCP-Protocol-Version: 2026-07-28\r\nAuthorization: Bearer " + token + "\r\n";
  }
  const std::string& expired() const { return expired_.text; }
  // Of the front door.
  std::string Vouched() const {
    return "Host: localhost\r\nMCP-Protocol-Version: 2026-07-28\r\n" + std::string(kVouchField) +
           ": " + FormatVouch({.token_hash = Hex(token_.token.sha256)}, token_.text) + "\r\n";
  }
  std::uint16_t port() const { return port_; }

 private:
  Project project_{".PHONY: noop\nnoop:\n\t@:\n"};
  std::string dir_;
  NewToken token_ =
      MakeToken("bench", std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()),
                std::nullopt);
  NewToken expired_ = MakeToken("expired", TokenTime{}, TokenTime{std::chrono::seconds(1)});
  std::uint16_t port_ = 0;
};

std::string Listing(const std::string& fields) {
  return Post(Json{{"jsonrpc", "2.0"},
                   {"id", 1},
                   {"method", "tools/list"},
                   {"params", {{"_meta", testing::ModernMeta()}}}},
              fields + "Mcp-Method: tools/list\r\n");
}

void Hop(Report& report, const Site& site) {
  if (access(testing::kNginx, X_OK) != 0) return report.Skip("the hop", "there is no nginx");
  const Process door(site.Door());
  testing::Launch launch =
      site.Server({"--listen", "unix:" + site.SocketOf(kTenant), "--listen", "http://127.0.0.1:0"});
  Listening server(std::move(launch), true);
  const std::uint16_t own_port = server.Port("127.0.0.1:");
  const Process nginx(site.Nginx());
  if (!testing::Eventually(
          [&] { return static_cast<bool>(testing::ConnectLoopback(site.port())); }))
    GiveUp("nginx does not listen");
  const std::string own = Listing(site.Fields(own_port));
  const std::string through = Listing(site.Fields(site.port()));
  std::vector<Samples> added(1);
  const auto rate = [&](std::uint16_t port, const std::string& request) {
    return Action([&, port] { return Load(port, request, 3000, 64).calls_a_second; });
  };
  const auto one = [&](std::uint16_t port, const std::string& request) {
    return Action([&, port] { return Median(Load(port, request, 1000, 1).latencies); });
  };
  const std::vector<Samples> rates =
      Interleave(7, {rate(site.port(), through), rate(own_port, own)}, 1);
  const std::vector<Samples> latencies =
      Interleave(7, {one(site.port(), through), one(own_port, own)}, 1);
  report.Add({.name = "tools/list through the front door, p50",
              .unit = "ms",
              .ours = Median(latencies[0]),
              .reference = Median(latencies[1]),
              .against = "the tenant's server",
              .ratio = MedianRatio(latencies[0], latencies[1])});
  report.Add({.name = "added by the front door",
              .unit = "ms",
              .ours = Median(latencies[0]) - Median(latencies[1]),
              .goal = OursAtMost(0.15)});
  report.Add({.name = "tools/list, 64 connections",
              .unit = "requests/s",
              .ours = Median(rates[0]),
              .reference = Median(rates[1]),
              .against = "the tenant's server",
              .ratio = MedianRatio(rates[0], rates[1]),
              .goal = OursAtLeast(10'000)});
  report.Add({.name = "project-actionsd, memory",
              .unit = "MB",
              .ours = ProcKib(door.pid(), "smaps_rollup", "Pss") / kKibPerMb});
}

// The time of a refusal tells nobody whether there was such a token, and so whose.
void Refusals(Report& report, const Site& site) {
  if (access(testing::kNginx, X_OK) != 0) return report.Skip("refusals", "there is no nginx");
  const Process door(site.Door());
  const Process nginx(site.Nginx());
  if (!testing::Eventually(
          [&] { return static_cast<bool>(testing::ConnectLoopback(site.port())); }))
    GiveUp("nginx does not listen");
  const auto refused = [&](const std::string& token) {
    return Action([&site, request = Listing(site.FieldsWith(site.port(), token))] {
      return Median(Load(site.port(), request, 1000, 1, "401").latencies);
    });
  };
  const std::string unknown = "pa_" + std::string(64, '0');
  const std::vector<Samples> times = Interleave(15, {refused(site.expired()), refused(unknown)}, 1);
  // A refusal that comes sooner tells as much.
  const double ratio = MedianRatio(times[0], times[1]);
  report.Add({.name = "refusal of an expired token, p50",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "that of one that never was",
              .ratio = std::max(ratio, 1 / ratio),
              .goal = AtMost(1.05)});
}

double PssOf(pid_t server) {
  double all = ProcKib(server, "smaps_rollup", "Pss");
  for (const pid_t child : testing::ChildrenOf(server))
    all += ProcKib(child, "smaps_rollup", "Pss");
  return all / kKibPerMb;
}

// The request waits in the socket until the server has been started, as with systemd.
void Cold(Report& report, const Site& site) {
  const std::string request = Listing(site.Vouched() + "Connection: close\r\n");
  std::vector<std::unique_ptr<Process>> servers;
  std::vector<UniqueFd> sockets;
  Samples first;
  for (uid_t tenant = 2000; tenant < 2010; ++tenant) {
    sockets.push_back(testing::ListenUnix(site.SocketOf(tenant)));
    const UniqueFd client = testing::ConnectUnix(site.SocketOf(tenant));
    if (!sockets.back() || !client) GiveUp("no socket at " + site.SocketOf(tenant));
    const auto begun = Clock::now();
    if (send(client.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) GiveUp("send");
    testing::Launch launch = site.Server({"--listen", "systemd"});
    launch.inherit = {{sockets.back().get(), 3}};
    servers.push_back(std::make_unique<Process>(std::move(launch)));
    char status[12];  // HTTP/1.1 200
    const ssize_t got = recv(client.get(), status, sizeof status, MSG_WAITALL);
    if (got != sizeof status || !std::string_view(status, sizeof status).ends_with(" 200"))
      GiveUp("no answer, or not 200");
    first.push_back(MillisecondsSince(begun));
  }
  report.Add({.name = "first answer of a server that was not started",
              .unit = "ms",
              .ours = Median(first),
              .goal = OursAtMost(50)});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  double all = 0;
  for (const auto& server : servers) all += PssOf(server->pid());
  report.Add({.name = "ten servers that wait, memory (PSS)",
              .unit = "MB",
              .ours = all,
              .goal = OursAtMost(15)});
}

}  // namespace

void Tenants(Report& report) {
  report.Section("many tenants");
  const Site site;
  Hop(report, site);
  Refusals(report, site);
  Cold(report, site);
}

}  // namespace pa::bench
