#include "supervisor/transport/http_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/failing_new.h"
#include "tests/support/http_corpus.h"
#include "tests/support/loopback.h"
#include "tests/support/run_until.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unix_socket.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using testing::RunUntil;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

// Answers with what was asked, or keeps the exchange for the test.
class Door final : public HttpHandler {
 public:
  std::optional<HttpAnswer> Judge(const HttpHead& head, HttpPeer& peer) override {
    ++judged;
    user = std::exchange(peer.user, std::nullopt);
    if (head.target != "/forbidden") return std::nullopt;
    return HttpAnswer{.status = 403, .type = "text/plain", .body = "no\n"};
  }
  void OnRequest(const std::shared_ptr<HttpExchange>& exchange) override {
    ++requests;
    if (exchange->head().upgrades) {
      upgraded = exchange->Upgrade();
      return;
    }
    if (keeps) {
      exchange->WhenGone([this] { ++gone; });
      kept.push_back(exchange);
      return;
    }
    exchange->Answer(
        {.type = "text/plain",
         .body = exchange->head().method + " " + exchange->head().target + " " + exchange->body(),
         .fields = {{"X-A", "b"}}});
  }

  void OnRest() override { ++rests; }

  bool keeps = false;
  int rests = 0;
  int judged = 0;
  int requests = 0;
  int gone = 0;
  std::optional<uid_t> user;
  UniqueFd upgraded;
  std::vector<std::shared_ptr<HttpExchange>> kept;
};

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() { uv_loop_init(&loop_); }
  ~HttpServerTest() override {
    door_.kept.clear();
    server_.reset();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }

  void Start(HttpServerLimits limits = {}) {
    server_.emplace(&loop_, door_, limits);
    testing::LoopbackListener listener;
    port_ = listener.port();
    EXPECT_TRUE(server_->Listen(listener.Take()));
  }
  UniqueFd Connect() const {
    UniqueFd fd = testing::ConnectLoopback(port_);
    fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    return fd;
  }
  void Say(const UniqueFd& fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put < 0 && errno != EAGAIN) return;  // the server has ended the connection
      if (put > 0) bytes.remove_prefix(static_cast<std::size_t>(put));
      uv_run(&loop_, UV_RUN_NOWAIT);
    }
  }
  // All that came, as soon as it holds `until`; "" = all until the end.
  std::string Hear(const UniqueFd& fd, std::string_view until) {
    std::string all;
    bool ended = false;
    RunUntil(&loop_, [&] {
      char chunk[4096];
      for (ssize_t got = 1; got > 0 && !ended;) {
        got = recv(fd.get(), chunk, sizeof chunk, 0);
        if (got > 0) all.append(chunk, static_cast<std::size_t>(got));
        ended = got == 0 || (got < 0 && errno != EAGAIN);
      }
      return ended || (!until.empty() && all.find(until) != std::string::npos);
    });
    return all;
  }
  std::string Ask(const UniqueFd& fd, std::string_view request, std::string_view until) {
    Say(fd, request);
    return Hear(fd, until);
  }
  void Turn() {
    for (int i = 0; i < 20; ++i) uv_run(&loop_, UV_RUN_NOWAIT);
  }
  static std::string StatusOf(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 ") ? answer.substr(9, 3) : answer;
  }
  HttpExchange& Kept() { return *door_.kept.back(); }

  uv_loop_t loop_;
  Door door_;
  std::optional<HttpServer> server_;
  std::uint16_t port_ = 0;
};

TEST_F(HttpServerTest, AnswersOneRequestAfterTheOther) {
  Start();
  const UniqueFd client = Connect();
  const std::string answer =
      Ask(client, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "POST /a abc");
  EXPECT_EQ(StatusOf(answer), "200");
  for (const char* line : {"Content-Type: text/plain\r\n", "Content-Length: 11\r\n", "X-A: b\r\n",
                           "Date: ", " GMT\r\n"}) {
    EXPECT_NE(answer.find(line), std::string::npos) << line << answer;
  }
  EXPECT_EQ(answer.find("Connection:"), std::string::npos);
  const std::string two = Ask(
      client, "GET /b HTTP/1.1\r\nHost: a\r\n\r\nGET /c HTTP/1.1\r\nHost: a\r\n\r\n", "GET /c ");
  EXPECT_NE(two.find("GET /b "), std::string::npos) << two;
  EXPECT_EQ(server_->connections(), 1u);
  const std::string last =
      Ask(client, "GET /d HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "");
  EXPECT_NE(last.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(last.ends_with("GET /d ")) << last;
}

TEST_F(HttpServerTest, ItRestsWhenTheLastConnectionHasBeenGoneForAWhile) {
  Start();
  UniqueFd first = Connect();
  UniqueFd second = Connect();
  Ask(first, kGet, "GET /");
  Ask(second, kGet, "GET /");
  first = {};
  RunUntil(&loop_, [&] { return server_->connections() == 1; });
  const auto end = std::chrono::steady_clock::now() + milliseconds(700);
  RunUntil(&loop_, [&] { return std::chrono::steady_clock::now() > end; });
  EXPECT_EQ(door_.rests, 0);
  second = {};
  RunUntil(&loop_, [&] { return server_->connections() == 0; });
  EXPECT_EQ(door_.rests, 0);
  RunUntil(&loop_, [&] { return door_.rests > 0; });
  EXPECT_EQ(door_.rests, 1);
}

TEST_F(HttpServerTest, WhoIsToldToComeBackIsToldWhen) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(PlainAnswer(503, "no").fields, (Fields{{"Retry-After", "2"}}));
  EXPECT_EQ(PlainAnswer(401, "no").fields, Fields{});
}

TEST_F(HttpServerTest, TheAnswerToHeadHasNoBody) {
  Start();
  const std::string answer =
      Ask(Connect(), "HEAD /abc HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "");
  EXPECT_NE(answer.find("Content-Length: 10\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

// The reader decides about the status (http_request_test.cc); here it is told, and the
// connection ends.
TEST_F(HttpServerTest, AMalformedRequestIsToldAndEndsTheConnection) {
  Start({.request = {.body = testing::kCorpusBody}});
  int refused = 0;
  for (const testing::HttpCase& one : testing::HttpCorpus()) {
    const std::string verdict = one.verdict;
    const std::string status = verdict.substr(verdict.rfind(' ') + 1);
    if (status.size() != 3 || status[0] < '4' || status[0] > '5') continue;
    const std::string answers = Ask(Connect(), one.bytes, "");
    const std::size_t last = answers.rfind("HTTP/1.1 " + status + " ");
    ASSERT_NE(last, std::string::npos) << one.name << ": " << answers;
    EXPECT_NE(answers.find("Connection: close\r\n", last), std::string::npos) << one.name;
    ++refused;
  }
  EXPECT_GT(refused, 80);
  const int before = door_.requests;
  EXPECT_EQ(StatusOf(Ask(Connect(), kGet, "GET / ")), "200") << "others are served";
  EXPECT_EQ(door_.requests, before + 1);
}

TEST_F(HttpServerTest, OldHttpIsRefused) {
  Start();
  EXPECT_EQ(StatusOf(Ask(Connect(), "GET / HTTP/1.0\r\nHost: a\r\n\r\n", "")), "505");
  EXPECT_EQ(door_.judged, 0);
}

TEST_F(HttpServerTest, IsJudgedBeforeTheBodyIsRead) {
  Start();
  const std::string post = "POST /forbidden HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n";
  std::string answer = Ask(Connect(), post + "Expect: 100-continue\r\n\r\n", "");
  EXPECT_EQ(StatusOf(answer), "403") << answer;
  EXPECT_TRUE(answer.ends_with("no\n")) << answer;
  // Who sends the body all the same does not lose the answer.
  answer = Ask(Connect(), post + "\r\n" + std::string(3'000'000, 'x'), "");
  EXPECT_EQ(StatusOf(answer), "403") << answer.substr(0, 100);
  const UniqueFd client = Connect();
  EXPECT_EQ(StatusOf(Ask(client, "GET /forbidden HTTP/1.1\r\nHost: a\r\n\r\n", "no\n")), "403");
  EXPECT_EQ(StatusOf(Ask(client, kGet, "GET / ")), "200") << "without a body it goes on";
  EXPECT_EQ(door_.requests, 1);
}

TEST_F(HttpServerTest, WhoAsksForLeaveGetsIt) {
  Start();
  const UniqueFd client = Connect();
  const std::string leave =
      Ask(client, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
          "\r\n\r\n");
  EXPECT_EQ(leave, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_NE(Ask(client, "ab", "POST / ab").find("POST / ab"), std::string::npos);
}

TEST_F(HttpServerTest, AStreamIsSentAsItComes) {
  Start();
  door_.keeps = true;
  const UniqueFd client = Connect();
  Say(client, kGet);
  RunUntil(&loop_, [&] { return door_.requests == 1; });
  EXPECT_FALSE(Kept().streams());
  Kept().BeginStream({{"Mcp-X", "y"}});
  EXPECT_TRUE(Kept().streams());
  const std::string head = Hear(client, "\r\n\r\n");
  for (const char* line :
       {"Content-Type: text/event-stream\r\n", "Cache-Control: no-cache\r\n",
        "X-Accel-Buffering: no\r\n", "Transfer-Encoding: chunked\r\n", "Mcp-X: y\r\n"}) {
    EXPECT_NE(head.find(line), std::string::npos) << line << head;
  }
  Kept().Send("data: 1\n\n");
  EXPECT_EQ(Hear(client, "1\n\n\r\n"), "9\r\ndata: 1\n\n\r\n");
  Kept().Send("data: 2\n\n");
  Kept().EndStream();
  EXPECT_EQ(Hear(client, "0\r\n\r\n"), "9\r\ndata: 2\n\n\r\n0\r\n\r\n");
  Kept().Send("data: 3\n\n");
  Kept().EndStream();
  door_.keeps = false;
  EXPECT_EQ(StatusOf(Ask(client, kGet, "GET / ")), "200") << "the connection goes on";
  EXPECT_EQ(door_.gone, 0);
}

TEST_F(HttpServerTest, ASilentStreamHasComments) {
  Start({.comment = milliseconds(20)});
  door_.keeps = true;
  const UniqueFd client = Connect();
  Say(client, kGet);
  RunUntil(&loop_, [&] { return door_.requests == 1; });
  Kept().BeginStream({});
  const std::string all = Hear(client, "3\r\n:\n\n\r\n3\r\n:\n\n\r\n");
  EXPECT_NE(all.find("\r\n\r\n3\r\n:\n\n\r\n"), std::string::npos) << all;
}

TEST_F(HttpServerTest, WhoGoesIsHeardOf) {
  Start();
  door_.keeps = true;
  for (const bool streams : {false, true}) {
    UniqueFd client = Connect();
    Say(client, kGet);
    RunUntil(&loop_, [&] { return door_.requests == 1 + int{streams}; });
    if (streams) Kept().BeginStream({});
    client.reset();
    RunUntil(&loop_, [&] { return door_.gone == 1 + int{streams}; });
    EXPECT_EQ(server_->connections(), 0u);
    Kept().Send("data: 1\n\n");
    Kept().Answer({.body = "nobody hears it"});
    Kept().EndStream();
  }
}

// A client that has sent more than is read of it is one of these, too: its stream would go on for
// ever.
TEST_F(HttpServerTest, WhoGoesWithRequestsThatWaitIsHeardOf) {
  Start({.comment = milliseconds(10)});
  door_.keeps = true;
  UniqueFd client = Connect();
  Say(client, kGet);
  RunUntil(&loop_, [&] { return door_.requests == 1; });
  Kept().BeginStream({});
  std::string more;
  for (int i = 0; i < 4000; ++i) more += kGet;
  send(client.get(), more.data(), more.size(), MSG_NOSIGNAL);
  Turn();
  EXPECT_EQ(door_.requests, 1) << "one at a time";
  client.reset();
  RunUntil(&loop_, [&] { return door_.gone == 1; });
}

TEST_F(HttpServerTest, WhoDoesNotReadClosesTheGateAndIsCutInTheEnd) {
  Start({.stall = milliseconds(300)});
  door_.keeps = true;
  const UniqueFd client = Connect();
  Say(client, kGet);
  RunUntil(&loop_, [&] { return door_.requests == 1; });
  Kept().BeginStream({});
  const std::string event = "data: " + std::string(1000, 'x') + "\n\n";
  std::size_t sent = 0;
  while (!Kept().gate().closed() && sent < 64U << 20) {
    Kept().Send(event);
    sent += event.size();
  }
  EXPECT_TRUE(Kept().gate().closed());
  bool opened = false;
  Kept().gate().WhenOpen([&] { opened = true; });
  std::size_t read = 0;
  char chunk[65536];
  RunUntil(&loop_, [&] {
    const ssize_t got = recv(client.get(), chunk, sizeof chunk, 0);
    if (got > 0) read += static_cast<std::size_t>(got);
    return opened;
  });
  EXPECT_GT(read, 0u);
  RunUntil(&loop_, [&] {
    // Much at once: the sockets of both have room for more than one event a turn.
    for (int i = 0; i < 1000 && !Kept().gate().closed(); ++i) Kept().Send(event);
    return door_.gone == 1;
  });
  EXPECT_FALSE(Kept().gate().closed()) << "nobody waits for it any more";
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(HttpServerTest, DeadlinesAreAbsolute) {
  Start({.head = milliseconds(200), .body = milliseconds(200), .idle = milliseconds(200)});
  for (const char* begin :
       {"GET / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"}) {
    const UniqueFd client = Connect();
    Say(client, begin);
    std::string answer;
    bool ended = false;
    // A byte now and then wins nothing.
    RunUntil(&loop_, [&] {
      char chunk[4096];
      const ssize_t got = recv(client.get(), chunk, sizeof chunk, 0);
      if (got > 0) answer.append(chunk, static_cast<std::size_t>(got));
      ended = got == 0 || (got < 0 && errno != EAGAIN);
      if (!ended && answer.empty()) {
        usleep(2000);
        send(client.get(), "x", 1, MSG_NOSIGNAL);
      }
      return ended;
    });
    EXPECT_EQ(StatusOf(answer), "408") << begin;
  }
  // Who says nothing is told nothing: neither at first, nor after a request.
  EXPECT_EQ(Hear(Connect(), ""), "");
  const UniqueFd client = Connect();
  EXPECT_EQ(StatusOf(Ask(client, kGet, "GET / ")), "200");
  EXPECT_EQ(Hear(client, ""), "");
}

TEST_F(HttpServerTest, ASecondRequestHasADeadlineFromItsFirstByte) {
  Start({.head = milliseconds(200), .idle = std::chrono::minutes(10)});
  const UniqueFd client = Connect();
  EXPECT_EQ(StatusOf(Ask(client, kGet, "GET / ")), "200");
  EXPECT_EQ(StatusOf(Ask(client, "GET / HT", "")), "408");
}

TEST_F(HttpServerTest, OneConnectionTooManyIsTold) {
  Start({.connections = 2});
  const UniqueFd first = Connect();
  const UniqueFd second = Connect();
  RunUntil(&loop_, [&] { return server_->connections() == 2; });
  EXPECT_EQ(StatusOf(Hear(Connect(), "")), "503");
  EXPECT_EQ(StatusOf(Ask(first, kGet, "GET / ")), "200");
  EXPECT_EQ(StatusOf(Ask(second, kGet, "GET / ")), "200");
}

TEST_F(HttpServerTest, ClosesWhenTheLastRequestIsAnswered) {
  Start();
  door_.keeps = true;
  const UniqueFd idle = Connect();
  const UniqueFd half = Connect();
  const UniqueFd busy = Connect();
  Say(half, "GET / HT");
  Say(busy, kGet);
  RunUntil(&loop_, [&] { return door_.requests == 1 && server_->connections() == 3; });
  bool closed = false;
  server_->Close([&] { closed = true; });
  EXPECT_EQ(server_->connections(), 1u);
  EXPECT_EQ(Hear(idle, ""), "");
  EXPECT_EQ(Hear(half, ""), "");
  EXPECT_FALSE(testing::ConnectLoopback(port_)) << "nobody listens";
  EXPECT_FALSE(closed);
  Kept().Answer({.body = "done"});
  UniqueFd done = UniqueFd(dup(busy.get()));
  const std::string answer = Hear(done, "done");
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  shutdown(busy.get(), SHUT_RDWR);
  RunUntil(&loop_, [&] { return closed; });
}

class HttpServerAtUnixSocket : public HttpServerTest {
 protected:
  void StartFor(std::optional<uid_t> front_door) {
    std::filesystem::remove(path_);
    server_.emplace(&loop_, door_, HttpServerLimits{.front_door = front_door});
    ASSERT_TRUE(server_->Listen(testing::ListenUnix(path_)));
    chmod(directory_.path().c_str(), 0711);
    chmod(path_.c_str(), 0666);
  }
  UniqueFd ConnectAs(uid_t user) const {
    const uid_t own = geteuid();
    EXPECT_EQ(user == own ? 0 : seteuid(user), 0);
    UniqueFd client = testing::ConnectUnix(path_);
    EXPECT_EQ(user == own ? 0 : seteuid(own), 0);
    EXPECT_TRUE(client);
    fcntl(client.get(), F_SETFL, O_NONBLOCK);
    return client;
  }

  static constexpr uid_t kOther = 65534;
  testing::TempDir directory_;
  std::string path_ = directory_.path() / "s";
};

TEST_F(HttpServerAtUnixSocket, ServesItsUser) {
  StartFor({});
  const UniqueFd client = ConnectAs(geteuid());
  // The handler may say that a request is another's; the next one comes from the same user.
  for (int request = 1; request <= 2; ++request) {
    EXPECT_EQ(StatusOf(Ask(client, kGet, "GET / ")), "200");
    EXPECT_EQ(door_.user, geteuid());
    EXPECT_EQ(door_.requests, request);
  }
}

TEST_F(HttpServerAtUnixSocket, ServesNobodyElseButAFrontDoor) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  StartFor({});
  const UniqueFd other = ConnectAs(kOther);
  Say(other, kGet);
  EXPECT_EQ(Hear(other, ""), "");
  EXPECT_EQ(door_.requests, 0);
  StartFor(kOther);
  EXPECT_EQ(StatusOf(Ask(ConnectAs(kOther), kGet, "GET / ")), "200");
  EXPECT_EQ(door_.user, kOther);
  EXPECT_EQ(StatusOf(Ask(ConnectAs(geteuid()), kGet, "GET / ")), "200");
}

TEST_F(HttpServerTest, WantOfMemoryEndsAConnectionAndNoMore) {
  Start();
  for (std::size_t nth = 1;; ++nth) {
    const UniqueFd client = Connect();
    send(client.get(), kGet.data(), kGet.size(), MSG_NOSIGNAL);
    bool failed = false;
    {
      testing::FailingNew failing(nth);
      Turn();
      failed = failing.failed();
    }
    // One that was not admitted has been closed; another has its answer, or is closed.
    Hear(client, "GET / ");
    if (!failed) break;
  }
  EXPECT_EQ(StatusOf(Ask(Connect(), kGet, "GET / ")), "200");
}

constexpr std::string_view kUpgrade =
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n";

TEST_F(HttpServerTest, AnUpgradedConnectionIsTheHandlers) {
  Start({.request = {.protocol = "lines"}});
  const UniqueFd client = Connect();
  const std::string answer = Ask(client, kUpgrade, "\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << answer;
  EXPECT_NE(answer.find("\r\nUpgrade: lines\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
  ASSERT_TRUE(door_.upgraded);
  EXPECT_EQ(server_->connections(), 0u) << "it is none of the server's any more";
  Say(client, "hello");
  char heard[8] = "";
  RunUntil(&loop_, [&] { return recv(door_.upgraded.get(), heard, 5, MSG_DONTWAIT) == 5; });
  EXPECT_STREQ(heard, "hello");
  bool closed = false;
  server_->Close([&] { closed = true; });
  EXPECT_TRUE(closed);
}

// In many writes, as the socket takes them.
TEST_F(HttpServerTest, ALongAnswerArrivesWhole) {
  Start();
  door_.keeps = true;
  const UniqueFd client = Connect();
  constexpr std::size_t kSize = 8U << 20;
  Say(client, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  RunUntil(&loop_, [&] { return door_.requests == 1; });
  Kept().Answer({.body = std::string(kSize, 'x') + "end"});
  Turn();
  const std::string answer = Hear(client, "");
  EXPECT_GT(answer.size(), kSize);
  EXPECT_TRUE(answer.ends_with("xend"));
}

// Neither the memory of an answer nor, at the end, the time of the server.
TEST_F(HttpServerTest, WhoReadsNothingKeepsLittle) {
  Start({.stall_at_end = milliseconds(20)});
  door_.keeps = true;
  const UniqueFd client = Connect();
  Say(client, kGet);
  RunUntil(&loop_, [&] { return door_.requests == 1; });
  Kept().Answer({.body = std::string(4U << 20, 'x')});
  Turn();
  bool closed = false;
  server_->Close([&] { closed = true; });
  EXPECT_FALSE(closed) << "it may still read";
  RunUntil(&loop_, [&] { return closed; });
}

// They would be lost, or be read as requests.
TEST_F(HttpServerTest, NothingFollowsAnUpgradeBeforeItsAnswer) {
  Start({.request = {.protocol = "lines"}});
  const UniqueFd client = Connect();
  EXPECT_EQ(StatusOf(Ask(client, std::string(kUpgrade) + "hello", "")), "400");
  EXPECT_FALSE(door_.upgraded);
  Turn();
}

TEST_F(HttpServerTest, OnlyToTheProtocolThatIsSpoken) {
  Start();
  EXPECT_EQ(StatusOf(Ask(Connect(), kUpgrade, "\r\n\r\n")), "501");
  EXPECT_EQ(door_.requests, 0);
}

}  // namespace
}  // namespace pa
