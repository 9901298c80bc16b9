#include "supervisor/cli/top_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.h"
#include "base/unique_fd.h"
#include "base/words.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/cli/systemctl.h"
#include "supervisor/cli/top_view.h"
#include "supervisor/state/tenant_directory.h"
#include "supervisor/text/wrap.h"
#include "supervisor/transport/listening_socket.h"

namespace pa {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = ListenAddress::Kind;

// Of all servers together: the process behind a tenant's socket is the tenant's.
constexpr std::chrono::milliseconds kPatience{1000};
// Of one that accepts no connection: they are connected to one after the other.
constexpr std::chrono::milliseconds kLocalPatience{50};
// Then an answer is taken if it has come whole. More is for one that sends a byte at a time.
constexpr int kLateReads = 64;
constexpr std::size_t kMaxAnswer = kMaxStatusBytes + (16U << 10);
constexpr char kFrontDoorSocket[] = "/run/project-actionsd.sock";
constexpr TopSize kScreen{.width = 80, .height = 24};
constexpr std::size_t kUncut = 4096;  // where it is no terminal

struct Place {
  std::string name;
  ListenAddress address;
};

int NotShown(const std::string& why) {
  fmt::print(stderr, "project-actions: {}\n", why);
  return 1;
}

// False: a full disk, a pipe without a reader, a terminal that has gone.
bool WriteOut(const std::string& text) {
  return fputs(text.c_str(), stdout) >= 0 && fflush(stdout) == 0;
}

// What is being asked.
class Question {
 public:
  Question(const ListenAddress& address, const std::string& token, Clock::time_point end)
      : end_(end) {
    const bool is_unix = address.kind == Kind::kUnix;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    Result<UniqueFd> connected = ConnectTo(
        address,
        std::clamp(left, std::chrono::milliseconds(1), is_unix ? kLocalPatience : kPatience));
    if (!connected) {
      problem_ = connected.error().Message();
      return;
    }
    fd_ = *std::move(connected);
    std::string request = fmt::format(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\nConnection: close\r\n",
        is_unix ? "localhost" : HostAndPortText(address.host, address.port));
    if (!is_unix && !token.empty()) request += fmt::format("Authorization: Bearer {}\r\n", token);
    request += "\r\n";
    if (send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      problem_ = "takes no request";
    }
  }

  Result<std::string> Body() {
    int late = 0;
    while (problem_.empty() && answer_.size() < kMaxAnswer) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now());
      pollfd waits{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      const bool comes = poll(&waits, 1, std::max(0, static_cast<int>(left.count()))) > 0;
      if (!comes || (left.count() <= 0 && ++late > kLateReads)) {
        problem_ = "does not answer";
        break;
      }
      char chunk[16384];
      const ssize_t got = recv(fd_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
      if (got <= 0) break;
      answer_.append(chunk, static_cast<std::size_t>(got));
    }
    constexpr std::string_view kOk = "HTTP/1.1 200 ";
    constexpr std::string_view kHeadEnd = "\r\n\r\n";
    const std::size_t head = answer_.find(kHeadEnd);
    if (problem_.empty() && (!answer_.starts_with(kOk) || head == std::string::npos)) {
      const std::string status = answer_.substr(0, std::min<std::size_t>(answer_.find('\r'), 80));
      problem_ = answer_.empty() ? "ends the connection" : "answers: " + status;
    }
    if (!problem_.empty()) return std::unexpected(Error(problem_, "", 0));
    return answer_.substr(head + kHeadEnd.size());
  }

 private:
  Clock::time_point end_;
  UniqueFd fd_;
  std::string answer_;
  std::string problem_;
};

// The tenants whose servers run. Their sockets are systemd's: to connect to another starts it.
Result<std::set<std::string>> RunningUnits() {
  PA_TRY(const std::string all,
         SystemctlOutput({"list-units", "--plain", "--no-legend", "--state=active,reloading",
                          "project-actions@*.service"}));
  std::set<std::string> units;
  for (const std::string_view line : SplitWords(all, "\n")) {
    units.emplace(line.substr(0, line.find(' ')));
  }
  return units;
}

class Watch {
 public:
  Watch(const TopCommand& command, std::string token)
      : command_(command), token_(std::move(token)) {}

  Result<TopSnapshot> Look() const {
    TopSnapshot snapshot{.at = std::chrono::system_clock::now(), .servers = {}, .front_door = {}};
    std::vector<Place> places;
    if (command_.addresses.empty()) {
      PA_TRY(places, RunningTenants(snapshot.servers));
      snapshot.front_door = FrontDoor();
    }
    for (const ListenAddress& address : command_.addresses) {
      places.push_back(
          {address.kind == Kind::kUnix ? address.path : HostAndPortText(address.host, address.port),
           address});
    }
    std::vector<Question> questions;
    const auto end = Clock::now() + kPatience;
    for (const Place& place : places) questions.emplace_back(place.address, token_, end);
    for (std::size_t i = 0; i < places.size(); ++i) {
      snapshot.servers.push_back(Seen(places[i].name, questions[i].Body()));
    }
    std::ranges::sort(snapshot.servers, {}, &WatchedServer::name);
    return snapshot;
  }

 private:
  static WatchedServer Seen(const std::string& name, const Result<std::string>& body) {
    if (!body) return {.name = name, .status = {}, .problem = body.error().op};
    Result<ServerStatus> status = ParseStatus(*body);
    if (!status) return {.name = name, .status = {}, .problem = "gives no status of a server"};
    return {.name = name, .status = *std::move(status)};
  }

  // The others go into `waiting`.
  Result<std::vector<Place>> RunningTenants(std::vector<WatchedServer>& waiting) const {
    PA_TRY(const std::vector<TenantName> tenants, ListTenants(command_.tenants));
    const bool systemd = SystemdRuns();
    std::set<std::string> running;
    if (systemd) {
      PA_TRY(running, RunningUnits());
    }
    std::vector<Place> places;
    for (const TenantName& tenant : tenants) {
      std::string name = tenant.name.empty() ? std::to_string(tenant.id) : tenant.name;
      if (!systemd || running.contains(fmt::format("project-actions@{}.service", tenant.id))) {
        places.push_back({std::move(name),
                          {.kind = Kind::kUnix,
                           .path = fmt::format("/run/project-actions/{}.sock", tenant.id)}});
      } else {
        waiting.push_back({.name = std::move(name), .status = {}});
      }
    }
    return places;
  }

  // Nothing: there is none, or it does not answer.
  static std::optional<FrontDoorStatus> FrontDoor() {
    Question question({.kind = Kind::kUnix, .path = kFrontDoorSocket}, "",
                      Clock::now() + kPatience);
    const Result<std::string> body = question.Body();
    if (!body) return std::nullopt;
    Result<FrontDoorStatus> status = ParseFrontDoorStatus(*body);
    return status ? std::optional(*std::move(status)) : std::nullopt;
  }

  const TopCommand& command_;
  std::string token_;
};

// The whole terminal, and keys without Enter, until the end of this.
class Screen {
 public:
  Screen() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    ended_.reset(signalfd(-1, &signals, SFD_CLOEXEC));
    keys_ = tcgetattr(STDIN_FILENO, &before_) == 0;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    if (keys_) tcsetattr(STDIN_FILENO, TCSANOW, &now);
    WriteOut("\x1b[?1049h\x1b[?25l");
  }
  ~Screen() {
    WriteOut("\x1b[?25h\x1b[?1049l");
    if (keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Each line ends what was there before. After the last there is no further one, which would move
  // the first away.
  static bool Show(std::string frame) {
    frame.pop_back();
    std::string text = "\x1b[H";
    for (const char c : frame) c == '\n' ? text += "\x1b[K\r\n" : text += c;
    return WriteOut(text + "\x1b[K\x1b[J");
  }
  // False: the user has enough.
  bool Wait(std::chrono::milliseconds time) const {
    pollfd waits[] = {{.fd = keys_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0},
                      {.fd = ended_.get(), .events = POLLIN, .revents = 0}};
    if (poll(waits, 2, static_cast<int>(time.count())) <= 0) return true;
    if (waits[1].revents != 0) return false;
    char pressed = 'q';
    const ssize_t got = read(STDIN_FILENO, &pressed, 1);
    return got == 1 && pressed != 'q' && pressed != 'Q';
  }

 private:
  UniqueFd ended_;  // by a signal
  termios before_{};
  bool keys_ = false;
};

std::string Metrics(const TopSnapshot& snapshot) {
  std::vector<LabelledStatus> all;
  for (const WatchedServer& server : snapshot.servers) {
    if (server.status) all.push_back({{{"server", server.name}}, *server.status});
  }
  OpenMetrics metrics;
  metrics.Begin("project_actions_server_up", OpenMetrics::Type::kGauge,
                "1: the server runs and answers; 0: it does not, or waits for a request.");
  for (const WatchedServer& server : snapshot.servers) {
    metrics.Sample("", {{"server", server.name}}, server.status ? 1 : 0);
  }
  if (snapshot.front_door) AddMetrics(metrics, *snapshot.front_door);
  AddMetrics(metrics, all);
  return std::move(metrics).Take();
}

int ShowOnce(const TopCommand& command, const TopSnapshot& snapshot) {
  const std::size_t width = TerminalWidth(STDOUT_FILENO);
  const TopSize size{.width = width == 0 ? kUncut : width};
  if (!WriteOut(command.open_metrics ? Metrics(snapshot) : TopFrame(snapshot, nullptr, size))) {
    return NotShown(std::string("the output cannot be written: ") + std::strerror(errno));
  }
  const bool none = std::ranges::all_of(
      snapshot.servers, [](const WatchedServer& server) { return !server.problem.empty(); });
  return !snapshot.servers.empty() && none ? 1 : 0;
}

// Until the user has enough.
Result<void> ShowAgain(const TopCommand& command, const Watch& watch, TopSnapshot now) {
  std::optional<TopSnapshot> before;
  const Screen screen;
  while (true) {
    TopSize size{.width = TerminalWidth(STDOUT_FILENO), .height = TerminalHeight(STDOUT_FILENO)};
    if (size.width == 0 || size.height == 0) size = kScreen;
    if (!Screen::Show(TopFrame(now, before ? &*before : nullptr, size))) return {};
    if (!screen.Wait(command.interval)) return {};
    before = std::move(now);
    PA_TRY(now, watch.Look());
  }
}

}  // namespace

int RunTop(const TopCommand& command, const Environment& environment) {
  if (command.addresses.empty() && geteuid() != 0) {
    return NotShown(
        "only root can look at all tenants; name the server that you may ask, such as "
        "http://127.0.0.1:8787 with its token in PROJECT_ACTIONS_TOKEN, or unix:PATH");
  }
  const Result<std::string> token = ClientToken(environment);
  if (!token) return NotShown(token.error().Message());
  const Watch watch(command, *token);
  Result<TopSnapshot> now = watch.Look();
  if (!now) {
    return NotShown(now.error().Message() +
                    "; a server of your own is shown if you name its address");
  }
  if (command.once || command.open_metrics || isatty(STDOUT_FILENO) == 0) {
    return ShowOnce(command, *now);
  }
  const Result<void> shown = ShowAgain(command, watch, *std::move(now));
  return shown ? 0 : NotShown(shown.error().Message());
}

}  // namespace pa
