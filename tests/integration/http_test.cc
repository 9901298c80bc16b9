// A server that listens: Unix sockets, TCP with tokens, clients that connect by a program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <thread>

#include "base/unique_fd.h"
#include "tests/support/http_client.h"
#include "tests/support/issuer.h"
#include "tests/support/launch.h"
#include "tests/support/loopback.h"
#include "tests/support/notify_socket.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/sanitizers.h"
#include "tests/support/terminal.h"
#include "tests/support/unix_socket.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kListMakefile =
    ".PHONY: hello wait pause\nhello:\n\t@echo hi\nwait:\n\t@touch started; exec sleep 100\n"
    "pause:\n\t@touch paused; until test -e go; do sleep 0.05; done; echo went on\n";

class Http : public ::testing::Test {
 protected:
  ~Http() override {
    if (server_ > 0) Stop();
  }

  std::string SocketPath() const { return (run_ / "agent.sock").string(); }
  std::vector<std::string> Environment() const { return {"HOME=" + project_.home().string()}; }
  ProgramResult Run(std::vector<std::string> arguments, std::string_view input = {},
                    std::vector<std::string> environment = {}) const {
    arguments.insert(arguments.begin(), BuiltProgram("PA_SERVER"));
    environment.push_back(Environment()[0]);
    return RunProgram({.command = std::move(arguments),
                       .environment = std::move(environment),
                       .directory = project_.root()},
                      input);
  }
  std::string NewToken(const std::string& name, const std::string& expires = "1h") const {
    const ProgramResult made = Run({"token", "new", name, "--expires", expires});
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    return made.output.substr(0, made.output.find('\n'));
  }

  // Until it says where it listens, or has ended.
  void Start(std::vector<std::string> addresses, std::vector<std::string> more = {}) {
    fs::create_directories(run_);
    std::vector<std::string> command = {
        BuiltProgram("PA_SERVER"), "serve", "--enable", "all", "--root", project_.root()};
    for (std::string& address : addresses) command.insert(command.end(), {"--listen", address});
    command.insert(command.end(), more.begin(), more.end());
    const UniqueFd errors(open(errors_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    std::vector<std::string> environment = Environment();
    if (!notify_.empty()) environment.push_back("NOTIFY_SOCKET=" + notify_);
    server_ = Spawn({.command = std::move(command),
                     .environment = std::move(environment),
                     .directory = project_.root(),
                     .err = errors.get()});
    EXPECT_TRUE(Eventually([&] { return Listens(addresses.size()) || !Runs(); }));
    const std::string said = ReadText(errors_);
    const std::size_t port = said.find("http://127.0.0.1:");
    if (port != std::string::npos) {
      port_ = static_cast<std::uint16_t>(std::stoi(said.substr(port + 17)));
    }
  }
  bool Listens(std::size_t places) const {
    const std::string said = ReadText(errors_);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = said.find("listening on", at)) != std::string::npos; ++at)
      ++count;
    return count >= places;
  }
  bool Runs() {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(server_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }
  int Stop(int signal = SIGTERM) {
    kill(server_, signal);
    EXPECT_TRUE(Eventually([&] { return !Runs(); }));
    int status = 0;
    waitpid(server_, &status, 0);
    server_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  UniqueFd ConnectUnix() const { return testing::ConnectUnix(SocketPath()); }
  // The structuredContent of one call by TCP, or the status if it is not 200.
  Json Call(const std::string& token, const std::string& more = "") const {
    const UniqueFd fd = ConnectLoopback(port_);
    std::string fields = "Host: 127.0.0.1:" + std::to_string(port_) + "\r\nConnection: close\r\n";
    if (!token.empty()) fields += "Authorization: Bearer " + token + "\r\n";
    const std::string request = ModernPost("make", {{"target", "hello"}}, fields + more);
    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    const std::string answer = Hear(fd.get());
    if (answer.substr(9, 3) != "200") return answer.substr(9, 3);
    const Json body = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4), nullptr, false);
    return body.is_object() ? body["result"]["structuredContent"] : Json(answer);
  }
  // The conversation of a client that starts `connect`.
  ServerOptions Connect(const std::string& address, const std::string& token = "") const {
    ServerOptions options{.arguments = {},
                          .home = project_.home(),
                          .command = {BuiltProgram("PA_SERVER"), "connect", address}};
    if (!token.empty()) options.environment.push_back("PROJECT_ACTIONS_TOKEN=" + token);
    return options;
  }

  Project project_{kListMakefile};
  fs::path run_ = project_.outside() / "run";
  fs::path errors_ = project_.outside() / "errors";
  std::string notify_ = {};  // where systemd hears of the server
  pid_t server_ = -1;
  std::uint16_t port_ = 0;
};

TEST_F(Http, WithoutATokenNobodyListens) {
  Start({"http://127.0.0.1:0"});
  EXPECT_EQ(Stop(0), 1);
  const std::string said = ReadText(errors_);
  EXPECT_NE(said.find("project-actions token new NAME"), std::string::npos) << said;
  EXPECT_EQ(said.find("listening"), std::string::npos);
  // The advice helps.
  NewToken("laptop");
  Start({"http://127.0.0.1:0"});
  EXPECT_TRUE(Runs()) << ReadText(errors_);
}

TEST_F(Http, ATokenIsNeededAndNamesItsClientInTheLog) {
  const std::string token = NewToken("laptop");
  Start({"http://127.0.0.1:0"});
  EXPECT_EQ(Call(""), "401");
  EXPECT_EQ(Call("pa_" + std::string(64, '0')), "401");
  const Json result =
      Call(token, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  EXPECT_EQ(result["data"]["stdout"], "hi\n") << result;
  const std::vector<Json> ends = project_.EndsInTheLog();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0]["actor"]["session"]["credential_uid"], "laptop");
  EXPECT_EQ(ends[0]["src_endpoint"]["name"], "http");
  EXPECT_NE(ends[0].dump().find("0af7651916cd43dd8448eb211c80319c"), std::string::npos);
  // No token in what the server writes.
  const std::string digits = token.substr(3);
  EXPECT_EQ(ReadText(errors_).find(digits), std::string::npos);
  for (const auto& file : fs::recursive_directory_iterator(project_.home())) {
    if (!file.is_regular_file()) continue;
    EXPECT_EQ(ReadText(file.path()).find(digits), std::string::npos) << file.path();
  }
}

TEST_F(Http, ARevokedTokenEndsAtOnceAndANewOneNeedsNoRestart) {
  const std::string first = NewToken("first");
  Start({"http://127.0.0.1:0"});
  const std::string address = "http://127.0.0.1:" + std::to_string(port_);
  McpClient lines(Connect(address, first));
  lines.Initialize();
  EXPECT_TRUE(lines.CallTool("make", {{"target", "hello"}})["success"]);
  const std::string second = NewToken("second");
  EXPECT_TRUE(Call(second)["success"]);
  EXPECT_EQ(Run({"token", "revoke", "first"}).exit_code, 0);
  EXPECT_EQ(Call(first), "401");
  EXPECT_TRUE(lines.WaitForExit()) << "what it had open ends, too";
  EXPECT_TRUE(Call(second)["success"]);
}

TEST_F(Http, NoNameOfAPageLeadsHere) {
  const std::string token = NewToken("laptop");
  Start({"http://127.0.0.1:0"});
  const auto status = [&](const std::string& fields) {
    const UniqueFd fd = ConnectLoopback(port_);
    const std::string request =
        ModernPost("make", {{"target", "hello"}},
                   "Connection: close\r\nAuthorization: Bearer " + token + "\r\n" + fields);
    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    return Hear(fd.get()).substr(9, 3);
  };
  const std::string host = "Host: localhost:" + std::to_string(port_) + "\r\n";
  EXPECT_EQ(status(host), "200");
  EXPECT_EQ(status("Host: evil.example:" + std::to_string(port_) + "\r\n"), "403");
  EXPECT_EQ(status(host + "Origin: http://evil.example\r\n"), "403");
  // Those that the policy names, from the next reload on.
  const std::string named = "Host: Agents.example.org\r\n";
  const std::string page = "Origin: https://app.example.org\r\n";
  EXPECT_EQ(status(named), "403");
  EXPECT_EQ(status(host + page), "403");
  WriteText(project_.home() / ".config/project-actions/policy.yaml",
            "version: 1\nhttp: {public_url: \"https://agents.example.org/mcp\", origins: "
            "[\"https://app.example.org\"]}\n");
  kill(server_, SIGHUP);
  EXPECT_TRUE(Eventually([&] { return status(named) == "200"; }));
  EXPECT_EQ(status(named + page), "200");
  EXPECT_EQ(status("Host: evil.example\r\n"), "403");
  EXPECT_EQ(status(host + "Origin: https://app.example.org.evil.example\r\n"), "403");
}

TEST_F(Http, AUnixSocketServesItsUserAlone) {
  Start({"unix:" + SocketPath()});
  struct stat status{};
  ASSERT_EQ(stat(SocketPath().c_str(), &status), 0) << ReadText(errors_);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  McpClient client(Connect("unix:" + SocketPath()));
  client.Initialize();
  EXPECT_TRUE(client.CallTool("make", {{"target", "hello"}})["success"]);
  EXPECT_EQ(project_.EndsInTheLog()[0]["src_endpoint"]["name"], "unix");
  // Another user, whom the mode of the file would let in.
  if (geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  chmod(SocketPath().c_str(), 0666);
  for (fs::path at = run_; at != at.root_path() && at != "/tmp"; at = at.parent_path()) {
    chmod(at.c_str(), 0755);
  }
  const pid_t other = fork();
  if (other == 0) {
    const bool became = setgid(65534) == 0 && setuid(65534) == 0;
    const UniqueFd fd = became ? ConnectUnix() : UniqueFd();
    constexpr std::string_view kAsk = "GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n";
    if (fd) send(fd.get(), kAsk.data(), kAsk.size(), MSG_NOSIGNAL);
    _exit(!fd ? 1 : Hear(fd.get()).empty() ? 0 : 2);
  }
  int ended = 0;
  waitpid(other, &ended, 0);
  EXPECT_TRUE(WIFEXITED(ended));
  EXPECT_EQ(WEXITSTATUS(ended), 0) << "1: it could not connect; 2: it was answered";
}

TEST_F(Http, NoCommandMayTakeTheSocketsPlace) {
  run_ = project_.root() / "run";
  Start({"unix:" + SocketPath()});
  EXPECT_EQ(Stop(0), 1);
  const std::string said = ReadText(errors_);
  EXPECT_NE(said.find("commands can write a socket of this server"), std::string::npos) << said;
  EXPECT_NE(said.find("let it listen where no command can write"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(SocketPath()));
}

TEST_F(Http, NoCommandMayWriteTokens) {
  NewToken("laptop");
  const ProgramResult shown = Run({"policy", "show", "--root", project_.home()});
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_NE(shown.errors.find("commands can write the tokens"), std::string::npos) << shown.errors;
  const ProgramResult explained =
      Run({"policy", "explain", project_.home() / ".local/state/project-actions/tokens", "--root",
           project_.root()});
  EXPECT_NE(explained.output.find("no command can reach the server's own sockets and tokens"),
            std::string::npos)
      << explained.output << explained.errors;
}

// A server that has begun before there was a token, in the whole home: with the first one it ends
// its work, because commands could make another.
TEST_F(Http, TheFirstTokenCountsForServersThatRun) {
  const fs::path inner = project_.home() / "inner";
  WriteText(inner / "Makefile", ".PHONY: hello\nhello:\n\t@echo hi\n");
  McpClient whole(
      {.arguments = {"--root", project_.home(), "--enable", "all"}, .home = project_.home()});
  whole.Initialize();
  McpClient reads(project_.Server({"--policy", [&] {
                                     const fs::path file = project_.outside() / "reads.yaml";
                                     WriteText(file, "version: 1\nfilesystem: {read: [\"" +
                                                         (project_.home() / ".local").string() +
                                                         "\"]}\n");
                                     return file.string();
                                   }()}));
  reads.Initialize();
  const Json hello = {{"target", "hello"}, {"working_directory", inner}};
  EXPECT_TRUE(whole.CallTool("make", hello)["success"]);
  NewToken("first");
  const Json refused = whole.CallTool("make", hello);
  EXPECT_FALSE(refused["success"].get<bool>()) << refused;
  EXPECT_NE(refused.dump().find("start the server with roots that do not hold"), std::string::npos)
      << refused;
  const std::string file = project_.home() / ".local/state/project-actions/tokens/tokens.json";
  const Json read = reads.CallTool("bash", {{"command", "cat " + file}});
  EXPECT_FALSE(read["success"].get<bool>()) << read;
  EXPECT_EQ(read.dump().find("sha256"), std::string::npos) << read;
}

TEST_F(Http, SeveralPlacesAtOnce) {
  const std::string token = NewToken("laptop");
  Start({"unix:" + SocketPath(), "http://127.0.0.1:0"});
  EXPECT_TRUE(Call(token)["success"]);
  McpClient one(Connect("unix:" + SocketPath()));
  one.Initialize();
  McpClient two(Connect("http://127.0.0.1:" + std::to_string(port_), token));
  two.Initialize();
  EXPECT_TRUE(two.CallTool("make", {{"target", "hello"}})["success"]);
  EXPECT_TRUE(one.CallTool("make", {{"target", "hello"}})["success"]);
}

// Each as a client of its own: the end of one is nothing to the other.
TEST_F(Http, AClientThatGoesEndsItsOwnCalls) {
  Start({"unix:" + SocketPath()});
  McpClient stays(Connect("unix:" + SocketPath()));
  stays.Initialize();
  {
    McpClient goes(Connect("unix:" + SocketPath()));
    goes.Initialize();
    goes.StartTool("make", {{"target", "wait"}});
    EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "started"); }));
    goes.CloseInput();
    EXPECT_TRUE(goes.WaitForExit());
  }
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(project_.root()).empty(); }));
  EXPECT_TRUE(stays.CallTool("make", {{"target", "hello"}})["success"]);
  EXPECT_TRUE(Runs());
}

// Connections that say nothing, that have had their answer, or that do not read it. In KiB.
TEST_F(Http, ConnectionsCostLittle) {
  if (kAddressSanitizer) GTEST_SKIP() << "AddressSanitizer keeps what was freed";
  const std::string token = NewToken("laptop");
  Start({"http://127.0.0.1:0"});
  const Json list = {{"jsonrpc", "2.0"},
                     {"id", 1},
                     {"method", "tools/list"},
                     {"params", {{"_meta", ModernMeta()}}}};
  const std::string request =
      PostOf(list,
             "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n"
             "Authorization: Bearer " +
                 token + "\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n");
  const auto ask = [&](const UniqueFd& fd) {
    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    EXPECT_NE(HearAnswer(fd.get()).find("\"make\""), std::string::npos);
  };
  const auto memory = [&] {
    std::istringstream lines(ReadText("/proc/" + std::to_string(server_) + "/smaps_rollup"));
    for (std::string word; lines >> word;) {
      long kib = 0;
      if (word == "Private_Dirty:" && lines >> kib) return kib;
    }
    return -1L;
  };
  {
    const UniqueFd warm = ConnectLoopback(port_);
    for (int i = 0; i < 50; ++i) ask(warm);
  }
  const long before = memory();
  ASSERT_GT(before, 0);
  {
    std::vector<UniqueFd> stalled;
    for (int i = 0; i < 50; ++i) {
      UniqueFd fd = ConnectLoopback(port_);
      constexpr int kSmall = 4096;
      setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kSmall, sizeof kSmall);
      fcntl(fd.get(), F_SETFL, O_NONBLOCK);
      for (int sent = 0; sent < 200; ++sent) {
        if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) break;
      }
      stalled.push_back(std::move(fd));
    }
    // Others are served as ever.
    ask(ConnectLoopback(port_));
    EXPECT_LT(memory() - before, 4 << 10);
  }
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 500; ++i) idle.push_back(ConnectLoopback(port_));
  ask(idle.back());
  EXPECT_LT(memory() - before, 5 << 10);
  for (const UniqueFd& fd : idle) ask(fd);
  EXPECT_LT(memory() - before, 5 << 10);
  // Nothing of them is left.
  const auto descriptors = [&] {
    const fs::directory_iterator all("/proc/" + std::to_string(server_) + "/fd");
    return std::distance(begin(all), end(all));
  };
  EXPECT_GT(descriptors(), 500);
  idle.clear();
  EXPECT_TRUE(Eventually([&] { return descriptors() < 100; }));
}

// jobs.keep
TEST_F(Http, AJobEndsWithItsSessionUnlessThePolicyKeepsIt) {
  const fs::path policy = project_.home() / ".config/project-actions/policy.yaml";
  for (const char* keep : {"session", "server"}) {
    WriteText(policy, std::string("version: 1\njobs: {keep: ") + keep + "}\n");
    fs::remove(project_.root() / "started");
    Start({"unix:" + SocketPath()});
    std::string id;
    {
      McpClient goes(Connect("unix:" + SocketPath()));
      goes.Initialize();
      const Json begun = goes.CallTool("make", {{"target", "wait"}, {"background", true}});
      id = begun["data"]["job"]["id"].get<std::string>();
      EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "started"); }));
    }
    McpClient next(Connect("unix:" + SocketPath()));
    next.Initialize();
    const bool kept = std::string_view(keep) == "server";
    const auto state = [&] {
      const Json listed = next.CallTool("job", {{"action", "list"}});
      return listed["data"]["jobs"][0]["state"].get<std::string>();
    };
    EXPECT_TRUE(Eventually([&] { return state() == (kept ? "running" : "cancelled"); }));
    EXPECT_EQ(ProcessesIn(project_.root()).empty(), !kept);
    EXPECT_EQ(Stop(), 0);
    EXPECT_TRUE(ProcessesIn(project_.root()).empty()) << "nothing outlives the server";
  }
}

TEST_F(Http, AtItsEndTheServerLeavesNothing) {
  Start({"unix:" + SocketPath()});
  McpClient client(Connect("unix:" + SocketPath()));
  client.Initialize();
  const int id = client.StartTool("make", {{"target", "wait"}});
  EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "started"); }));
  EXPECT_EQ(Stop(), 0);
  EXPECT_EQ(client.Await(id)["result"]["structuredContent"]["error"]["code"], "CANCELLED");
  EXPECT_TRUE(client.WaitForExit());
  EXPECT_TRUE(ProcessesIn(project_.root()).empty());
  EXPECT_FALSE(fs::exists(SocketPath()));
}

// Of what keeps it, each in turn: a connection, a session, a job.
TEST_F(Http, ItEndsWhenItIsIdle) {
  Start({"unix:" + SocketPath()}, {"--idle-exit", "1s"});
  {
    const UniqueFd connection = ConnectUnix();
    std::this_thread::sleep_for(std::chrono::milliseconds(1600));
    EXPECT_TRUE(Runs());
  }
  {
    McpClient lines(Connect("unix:" + SocketPath()));
    lines.Initialize();
    std::this_thread::sleep_for(std::chrono::milliseconds(1600));
    EXPECT_TRUE(Runs());
  }
  const UniqueFd fd = ConnectUnix();
  const std::string request =
      ModernPost("make", {{"target", "wait"}, {"background", true}}, "Host: localhost\r\n");
  send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  const std::string answer = HearAnswer(fd.get());
  EXPECT_TRUE(answer.contains("\"job\"")) << answer;
  shutdown(fd.get(), SHUT_RDWR);
  std::this_thread::sleep_for(std::chrono::milliseconds(1600));
  ASSERT_TRUE(Runs()) << ReadText(errors_);
  for (const pid_t process : ProcessesIn(project_.root())) kill(process, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return !Runs(); }));
  EXPECT_EQ(Stop(0), 0);
}

// It looks every ten seconds whether it is idle.
TEST_F(Http, ToldToEndItEndsBeforeItLooksAgain) {
  Start({"unix:" + SocketPath()}, {"--idle-exit", "1h"});
  kill(server_, SIGTERM);
  EXPECT_TRUE(Eventually([&] { return !Runs(); }, std::chrono::seconds(8)));
  EXPECT_EQ(Stop(0), 0);
}

// The next server takes the place of one that was killed, but not of one that runs.
TEST_F(Http, AServerThatWasKilledIsFollowed) {
  Start({"unix:" + SocketPath()});
  const ProgramResult second =
      Run({"serve", "--listen", "unix:" + SocketPath(), "--root", project_.root()});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.errors.find("another server is there"), std::string::npos) << second.errors;
  Stop(SIGKILL);
  EXPECT_TRUE(fs::exists(SocketPath()));
  Start({"unix:" + SocketPath()});
  EXPECT_TRUE(ConnectUnix());
}

TEST_F(Http, TheEndOfStandardInputEndsTheServer) {
  fs::create_directories(run_);
  McpClient parent(project_.Server({"--listen", "stdio", "--listen", "unix:" + SocketPath()}));
  parent.Initialize();
  McpClient other(Connect("unix:" + SocketPath()));
  other.Initialize();
  EXPECT_TRUE(other.CallTool("make", {{"target", "hello"}})["success"]);
  parent.CloseInput();
  EXPECT_TRUE(parent.WaitForExit());
  EXPECT_TRUE(other.WaitForExit());
  EXPECT_FALSE(fs::exists(SocketPath()));
}

TEST_F(Http, ConnectSaysWhyItCannot) {
  fs::create_directories(run_);
  const ProgramResult absent = Run({"connect", "unix:" + SocketPath()});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_NE(absent.errors.find("No such file"), std::string::npos) << absent.errors;
  const std::string token = NewToken("laptop");
  Start({"http://127.0.0.1:0"});
  const std::string address = "http://127.0.0.1:" + std::to_string(port_);
  const ProgramResult unknown = Run({"connect", address});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.errors.find("401 Unauthorized: a token is needed"), std::string::npos)
      << unknown.errors;
  EXPECT_EQ(unknown.output, "");
  const ProgramResult wrong = Run({"connect", address}, {}, {"PROJECT_ACTIONS_TOKEN=a\r\nX: y"});
  EXPECT_NE(wrong.errors.find("holds more than a token"), std::string::npos) << wrong.errors;
  const ProgramResult known = Run({"connect", address}, {}, {"PROJECT_ACTIONS_TOKEN=" + token});
  EXPECT_EQ(known.exit_code, 0) << known.errors;
}

// Live on a terminal, once elsewhere. What answers may be anything: as of a tenant's process.
TEST_F(Http, TopShowsWhoAnswers) {
  Start({"unix:" + SocketPath()});
  const std::string own = "unix:" + SocketPath();
  const std::string full = (run_ / "full").string();
  const std::string hostile = (run_ / "hostile").string();
  const UniqueFd queue = ListenUnix(full);
  listen(queue.get(), 0);
  const UniqueFd first = testing::ConnectUnix(full);
  const UniqueFd writer = ListenUnix(hostile);
  std::thread answers([&] {
    const UniqueFd client(accept4(writer.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char asked[4096];
    EXPECT_GT(recv(client.get(), asked, sizeof asked, 0), 0);
    const std::string text =
        "HTTP/1.1 200 \x1b[2J\r\n\r\n{\"started\":1,\"tools\":{\"\x1b[2J\":{}}}";
    send(client.get(), text.data(), text.size(), MSG_NOSIGNAL);
  });
  const ProgramResult once =
      Run({"top", own, "unix:" + full, "unix:" + hostile, "unix:" + (run_ / "none").string()});
  answers.join();
  EXPECT_EQ(once.exit_code, 0) << once.errors;
  EXPECT_TRUE(once.output.contains("servers: 4, running: 1")) << once.output;
  EXPECT_TRUE(once.output.contains("agent.sock ")) << once.output;
  EXPECT_TRUE(once.output.contains("gives no status of a server")) << once.output;
  EXPECT_TRUE(once.output.contains("No such file")) << once.output;
  EXPECT_FALSE(once.output.contains('\x1b')) << once.output;
  EXPECT_EQ(Run({"top", "unix:" + (run_ / "none").string()}).exit_code, 1);

  Terminal terminal(80);
  const pid_t top =
      Spawn(terminal.Of({.command = {BuiltProgram("PA_SERVER"), "top", own, "--interval", "100ms"},
                         .environment = Environment()}));
  std::string shown = terminal.ReadUntil("CALL/S");
  EXPECT_TRUE(terminal.ReadUntil("CALL/S").contains("running: 1"));
  terminal.Type("q");
  EXPECT_EQ(terminal.Wait(top, shown), 0);
  EXPECT_TRUE(shown.contains("\x1b[?1049l")) << "the terminal is as it was";
}

TEST_F(Http, SystemdHearsHowItIs) {
  fs::create_directories(run_);
  notify_ = (run_ / "notify").string();
  const NotifySocket systemd(notify_);
  const fs::path policy = project_.home() / "policy.yaml";
  WriteText(policy, "version: 1\n");
  Start({"unix:" + SocketPath()}, {"--policy", policy.string()});
  EXPECT_EQ(systemd.Next(), "READY=1\nSTATUS=serving");
  kill(server_, SIGHUP);
  EXPECT_TRUE(systemd.Next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(systemd.Next(), "READY=1\nSTATUS=policy read again");
  WriteText(policy, "nonsense: 1\n");
  kill(server_, SIGHUP);
  EXPECT_TRUE(systemd.Next().starts_with("RELOADING=1\n"));
  EXPECT_TRUE(systemd.Next().starts_with("READY=1\nSTATUS=policy not changed"));
  EXPECT_EQ(Stop(), 0);
  EXPECT_EQ(systemd.Next(), "STOPPING=1");
}

// SIGHUP in the middle of a call, and with requests one after the other.
TEST_F(Http, AReloadDropsNoCall) {
  const std::string token = NewToken("laptop");
  Start({"http://127.0.0.1:0"});
  const UniqueFd slow = ConnectLoopback(port_);
  const std::string request =
      ModernPost("make", {{"target", "pause"}},
                 "Host: 127.0.0.1:" + std::to_string(port_) +
                     "\r\nConnection: close\r\nAuthorization: Bearer " + token + "\r\n");
  send(slow.get(), request.data(), request.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(Eventually([&] { return fs::exists(fs::path(project_.root()) / "paused"); }));
  for (int i = 0; i < 20; ++i) {
    kill(server_, SIGHUP);
    EXPECT_TRUE(Call(token)["success"]) << i;
  }
  WriteText(fs::path(project_.root()) / "go", "");
  const std::string answer = Hear(slow.get());
  EXPECT_TRUE(answer.contains("went on")) << answer;
}

// As systemd passes it, from 3 on.
TEST_F(Http, ASocketThatSystemdHasOpened) {
  fs::create_directories(run_);
  const UniqueFd listener = ListenUnix(SocketPath());
  ASSERT_TRUE(listener);
  const UniqueFd errors(open(errors_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  // `exec`: LISTEN_PID is the server's.
  server_ = Spawn({.command = {"sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", "sh",
                               BuiltProgram("PA_SERVER"), "serve", "--listen", "systemd", "--root",
                               project_.root(), "--enable", "all"},
                   .environment = Environment(),
                   .directory = project_.root(),
                   .err = errors.get(),
                   .inherit = {{listener.get(), 3}}});
  EXPECT_TRUE(Eventually([&] { return Listens(1) || !Runs(); }));
  McpClient client(Connect("unix:" + SocketPath()));
  client.Initialize();
  EXPECT_TRUE(client.CallTool("make", {{"target", "hello"}})["success"]) << ReadText(errors_);
  EXPECT_EQ(Stop(), 0);
  EXPECT_TRUE(fs::exists(SocketPath())) << "the file is systemd's";
  const ProgramResult none = Run({"serve", "--listen", "systemd"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.errors.find("systemd passed no sockets"), std::string::npos) << none.errors;
}

// As systemd starts it for a client who is there already.
TEST_F(Http, WhoWaitsIsToldThatItCannotStart) {
  fs::create_directories(run_);
  const UniqueFd listener = ListenUnix(SocketPath());
  ASSERT_TRUE(listener);
  std::vector<UniqueFd> clients;
  const std::string request =
      ModernPost("make", {{"target", "hello"}}, "Host: localhost\r\nConnection: close\r\n");
  for (int i = 0; i < 3; ++i) {
    clients.push_back(ConnectUnix());
    send(clients.back().get(), request.data(), request.size(), MSG_NOSIGNAL);
  }
  WriteText(project_.home() / ".config/project-actions/policy.yaml", "version: 1\nnonsense: 1\n");
  const pid_t server = Spawn({.command = {"sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"",
                                          "sh", BuiltProgram("PA_SERVER"), "serve", "--listen",
                                          "systemd", "--root", project_.root()},
                              .environment = Environment(),
                              .directory = project_.root(),
                              .inherit = {{listener.get(), 3}}});
  for (const UniqueFd& client : clients) {
    const std::string answer = Hear(client.get());
    EXPECT_EQ(answer.substr(9, 3), "503") << answer;
    EXPECT_TRUE(answer.contains("cannot start")) << answer;
  }
  int status = 0;
  ASSERT_EQ(waitpid(server, &status, 0), server);
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

// OAuth 2.1: the server as a resource server.
class OAuth : public Http {
 protected:
  OAuth() {
    Publish({key_.Jwk()});
    WritePolicy("");
  }
  void Publish(std::initializer_list<std::string> keys) const {
    const fs::path next = project_.outside() / "next.json";
    WriteText(next, JwkSet(keys));
    fs::permissions(next, fs::perms(0644));
    fs::rename(next, jwks_);
  }
  // `more`: further keys of http.
  void WritePolicy(const std::string& more) const {
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\nhttp: {public_url: \"https://agents.example.org/mcp\", issuer: "
              "\"https://issuer.example\", jwks: \"" +
                  jwks_.string() + "\", subjects: {ann: " + std::to_string(geteuid()) +
                  ", ann2: " + std::to_string(geteuid()) + ", bob: nobody-else}" + more + "}\n");
  }
  // Expires so many seconds from now on; `more` are further claims.
  std::string Token(const std::string& subject = "ann", int expires = 3600,
                    const std::string& more = "") const {
    return key_.Token(R"({"iss": "https://issuer.example", "aud": "https://agents.example.org/mcp")"
                      R"(, "sub": ")" +
                      subject + R"(", "exp": )" + std::to_string(time(nullptr) + expires) + more +
                      "}");
  }
  std::string Answer(const std::string& request) const {
    const UniqueFd fd = ConnectLoopback(port_);
    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    return Hear(fd.get());
  }
  std::string HostField() const { return "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n"; }
  // A message of a session of 2025-11-25; the whole answer.
  std::string Legacy(const std::string& token, const std::string& session,
                     const std::string& method, const Json& params = Json::object()) const {
    std::string fields =
        HostField() + "Connection: close\r\nAuthorization: Bearer " + token + "\r\n";
    if (!session.empty()) fields += "Mcp-Session-Id: " + session + "\r\n";
    return Answer(
        PostOf({{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}, fields));
  }

  fs::path jwks_ = project_.outside() / "keys.json";
  IssuerKey key_{"one"};
};

TEST_F(OAuth, AnAccessTokenIsEnoughAndLeavesNoTrace) {
  Start({"http://127.0.0.1:0"});
  const std::string token = Token("ann", 3600, R"(, "client_id": "c")");
  const Json result =
      Call(token, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  EXPECT_EQ(result["data"]["stdout"], "hi\n") << result << ReadText(errors_);
  const std::vector<Json> ends = project_.EndsInTheLog();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0]["actor"]["session"]["credential_uid"], "ann");
  EXPECT_EQ(ends[0]["actor"]["session"]["issuer"], "https://issuer.example");
  EXPECT_EQ(ends[0]["actor"]["user"]["uid"], std::to_string(geteuid()));
  EXPECT_NE(ends[0].dump().find("0af7651916cd43dd8448eb211c80319c"), std::string::npos);

  const IssuerKey thief("thief");
  const std::string now = std::to_string(time(nullptr));
  std::vector<std::string> wrong = {
      Token("ann", -61),
      Token("nobody"),
      Token("bob"),
      Token("ann", 3600, ", \"nbf\": " + std::to_string(time(nullptr) + 120)),
      key_.Token(R"({"iss": "https://issuer.example", "aud": "other", "sub": "ann", "exp": 9e9})"),
      key_.Token(R"({"iss": "https://other.example", "aud": "https://agents.example.org/mcp",)"
                 R"( "sub": "ann", "exp": 9e9})"),
      thief.Token(R"({"iss": "https://issuer.example", "aud": "https://agents.example.org/mcp",)"
                  R"( "sub": "ann", "exp": 9e9})"),
      token.substr(0, token.rfind('.') + 1),
      token + "A",
      "eyJ",
      "pa_" + std::string(64, '0')};
  for (const std::string& one : wrong) EXPECT_EQ(Call(one), "401") << one;
  EXPECT_EQ(Call(""), "401");
  EXPECT_TRUE(Call(token)["success"]);
  // Of our own tokens each is as good as ever.
  EXPECT_TRUE(Call(NewToken("laptop"))["success"]);

  // The log says why, and nobody who reads it could call.
  const std::string log = ReadText(errors_);
  EXPECT_NE(log.find("does not hold the key 'thief'"), std::string::npos) << log;
  EXPECT_NE(log.find("the subject 'bob' is the user 'nobody-else'"), std::string::npos) << log;
  EXPECT_NE(log.find("it has expired"), std::string::npos) << log;
  wrong.push_back(token);
  for (const std::string& one : wrong) {
    if (one.size() < 100) continue;
    const std::string part = one.substr(one.size() / 2, 16);
    EXPECT_EQ(log.find(part), std::string::npos) << part;
    for (const auto& file : fs::recursive_directory_iterator(project_.home())) {
      if (!file.is_regular_file()) continue;
      EXPECT_EQ(ReadText(file.path()).find(part), std::string::npos) << file.path();
    }
  }
}

TEST_F(OAuth, ClientsLearnWhoMakesTokens) {
  WritePolicy(", scopes: [\"agents:use\"]");
  Start({"http://127.0.0.1:0"});
  const auto get = [&](const std::string& path, const std::string& host) {
    return Answer("GET " + path + " HTTP/1.1\r\nConnection: close\r\n" + host + "\r\n");
  };
  const std::string well_known = "/.well-known/oauth-protected-resource";
  const std::string whole = get(well_known + "/mcp", HostField());
  EXPECT_EQ(whole.substr(9, 3), "200") << whole << ReadText(errors_);
  const Json document = Json::parse(whole.substr(whole.find("\r\n\r\n") + 4));
  EXPECT_EQ(document["resource"], "https://agents.example.org/mcp");
  EXPECT_EQ(document["authorization_servers"], Json({"https://issuer.example"}));
  EXPECT_EQ(document["scopes_supported"], Json({"agents:use"}));
  EXPECT_EQ(get(well_known, "Host: agents.example.org\r\n").substr(9, 3), "200");
  EXPECT_EQ(get(well_known, "Host: evil.example\r\n").substr(9, 3), "403");
  EXPECT_EQ(get(well_known + "/other", HostField()).substr(9, 3), "404");

  const std::string asked = get("/mcp", HostField());
  EXPECT_EQ(asked.substr(9, 3), "401");
  const std::string metadata =
      R"(resource_metadata="https://agents.example.org/.well-known/oauth-protected-resource/mcp")";
  EXPECT_NE(asked.find("WWW-Authenticate: Bearer realm=\"project-actions\", " + metadata),
            std::string::npos)
      << asked;
  EXPECT_EQ(Call(Token()), "403");
  EXPECT_TRUE(Call(Token("ann", 3600, R"(, "scope": "x agents:use")"))["success"]);
  const std::string less = Legacy(Token(), "", "initialize");
  EXPECT_NE(less.find(R"(error="insufficient_scope", )" + metadata + R"(, scope="agents:use")"),
            std::string::npos)
      << less;
  // Without an issuer there is nothing to learn.
  WriteText(project_.home() / ".config/project-actions/policy.yaml", "version: 1\n");
  kill(server_, SIGHUP);
  EXPECT_TRUE(Eventually([&] { return get(well_known, HostField()).substr(9, 3) == "404"; }));
  EXPECT_EQ(Call(Token("ann", 3600, R"(, "scope": "agents:use")")), "401");
}

TEST_F(OAuth, KeysAreReadAgainWhenTheyChange) {
  Start({"http://127.0.0.1:0"});
  const std::string old = Token();
  EXPECT_TRUE(Call(old)["success"]);
  key_ = IssuerKey("two");
  EXPECT_EQ(Call(Token()), "401");
  Publish({IssuerKey("one").Jwk(), key_.Jwk()});
  EXPECT_TRUE(Call(Token())["success"]);
  EXPECT_TRUE(Call(old)["success"]);
  Publish({key_.Jwk()});
  EXPECT_EQ(Call(old), "401");
  // No list is no empty list.
  fs::remove(jwks_);
  EXPECT_EQ(Call(Token()), "503");
  EXPECT_EQ(Call(old), "503");
  EXPECT_EQ(Call(""), "401");
  const std::string log = ReadText(errors_);
  EXPECT_NE(log.find(jwks_.string()), std::string::npos) << log;
  Publish({key_.Jwk()});
  EXPECT_TRUE(Call(Token())["success"]);
}

TEST_F(OAuth, WithoutKeysOrASubjectOfThisUserItDoesNotStart) {
  fs::remove(jwks_);
  Start({"http://127.0.0.1:0"});
  EXPECT_EQ(Stop(0), 1);
  EXPECT_NE(ReadText(errors_).find(jwks_.string()), std::string::npos) << ReadText(errors_);
  Publish({key_.Jwk()});
  WriteText(project_.home() / ".config/project-actions/policy.yaml",
            "version: 1\nhttp: {public_url: \"https://a.example\", issuer: \"https://i.example\", "
            "jwks: \"" +
                jwks_.string() + "\", subjects: {bob: nobody-else}}\n");
  Start({"http://127.0.0.1:0"});
  EXPECT_EQ(Stop(0), 1);
  EXPECT_NE(ReadText(errors_).find("none of http.subjects is"), std::string::npos)
      << ReadText(errors_);
  WritePolicy("");
  Start({"http://127.0.0.1:0"});
  EXPECT_TRUE(Runs()) << ReadText(errors_);
}

TEST_F(OAuth, DoctorSaysIfKeysAreMissingOrOld) {
  const auto doctor = [&] { return Run({"doctor", "--root", project_.root()}).output; };
  EXPECT_EQ(doctor().find("access tokens:"), std::string::npos) << doctor();
  fs::last_write_time(jwks_, fs::file_time_type::clock::now() - std::chrono::hours(24 * 9));
  EXPECT_NE(doctor().find("9 days old"), std::string::npos) << doctor();
  fs::remove(jwks_);
  EXPECT_NE(doctor().find("access tokens:"), std::string::npos) << doctor();
}

// A minute of skew is granted, so this one is valid for six seconds.
TEST_F(OAuth, WhatIsOpenEndsWithItsToken) {
  Start({"http://127.0.0.1:0"});
  const std::string address = "http://127.0.0.1:" + std::to_string(port_);
  McpClient stays(Connect(address, Token()));
  stays.Initialize();
  McpClient goes(Connect(address, Token("ann2", -54)));
  goes.Initialize();
  EXPECT_TRUE(goes.CallTool("make", {{"target", "hello"}})["success"]);
  EXPECT_TRUE(goes.WaitForExit());
  EXPECT_TRUE(stays.CallTool("make", {{"target", "hello"}})["success"]);
  // A subject that is taken out of the policy is not known any more, whatever the token says.
  WriteText(project_.home() / ".config/project-actions/policy.yaml",
            "version: 1\nhttp: {public_url: \"https://agents.example.org/mcp\", issuer: "
            "\"https://issuer.example\", jwks: \"" +
                jwks_.string() + "\", subjects: {ann2: " + std::to_string(geteuid()) + "}}\n");
  kill(server_, SIGHUP);
  EXPECT_TRUE(stays.WaitForExit());
  EXPECT_EQ(Call(Token()), "401");
  EXPECT_TRUE(Call(Token("ann2"))["success"]);
}

TEST_F(OAuth, ASessionIsTheSubjects) {
  Start({"http://127.0.0.1:0"});
  const Json params = {{"protocolVersion", "2025-11-25"},
                       {"capabilities", Json::object()},
                       {"clientInfo", {{"name", "c"}, {"version", "1"}}}};
  // Valid for six seconds.
  const std::string begun = Legacy(Token("ann", -54), "", "initialize", params);
  ASSERT_EQ(begun.substr(9, 3), "200") << begun;
  constexpr std::string_view kField = "Mcp-Session-Id: ";
  const std::size_t at = begun.find(kField);
  ASSERT_NE(at, std::string::npos) << begun;
  const std::string id = begun.substr(at + kField.size(), 32);
  EXPECT_EQ(Legacy(Token("ann2"), id, "ping").substr(9, 3), "404");
  EXPECT_EQ(Legacy(NewToken("ann"), id, "ping").substr(9, 3), "404");
  EXPECT_EQ(Legacy(Token("ann", 3601), id, "ping").substr(9, 3), "200") << "a new token";
  // The first one has expired, and with it goes nothing that a later one has used.
  McpClient looks(Connect("http://127.0.0.1:" + std::to_string(port_), Token("ann2", -53)));
  looks.Initialize();
  EXPECT_TRUE(looks.WaitForExit()) << "what has expired was looked for";
  EXPECT_EQ(Legacy(Token("ann", 3602), id, "ping").substr(9, 3), "200");
}

}  // namespace
}  // namespace pa::testing
