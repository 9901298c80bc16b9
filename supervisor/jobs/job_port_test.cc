#include "supervisor/jobs/job_port.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>
#include <string>

#include "tests/support/fake_world.h"
#include "tests/support/loopback.h"

namespace pa {
namespace {

using testing::ConnectLoopback;
using testing::LoopbackListener;

// The command's server: it accepts when the test says so.
class FakeServer final : public HasOwnNetwork {
 public:
  Task<Result<CommandNetwork>> Network() override {
    co_return std::unexpected(Error("ask", "the command's network", ESRCH));
  }
  Task<Result<UniqueFd>> Connect(std::uint16_t port) override {
    asked_ = port;
    if (refuses_) co_return std::unexpected(Error("ask", "the command's network", ECONNREFUSED));
    UniqueFd fd = ConnectLoopback(listener_.port());
    fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    co_return fd;
  }
  UniqueFd Accept() const { return listener_.Accept(); }

  std::uint16_t asked_ = 0;
  bool refuses_ = false;

 private:
  LoopbackListener listener_;
};

class JobPortTest : public ::testing::Test {
 protected:
  JobPortTest() {
    auto opened = JobPort::Open(loop_.get(), 3000, [this] { return runs_ ? &server_ : nullptr; });
    EXPECT_TRUE(opened) << opened.error().Message();
    port_ = *std::move(opened);
  }
  std::string Get() const {
    return "GET / HTTP/1.1\r\nHost: localhost:" + std::to_string(port_->outer()) + "\r\n\r\n";
  }
  static void Put(const UniqueFd& fd, std::string_view text) {
    EXPECT_EQ(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // What has come, once there is as much as `size`, or the end.
  std::string Take(const UniqueFd& fd, std::size_t size) {
    std::string all;
    char buffer[65536];
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (all.size() < size && std::chrono::steady_clock::now() < deadline) {
      uv_run(loop_.get(), UV_RUN_NOWAIT);
      const ssize_t got = recv(fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) break;
      if (got > 0) all.append(buffer, static_cast<std::size_t>(got));
    }
    return all;
  }
  void Turn() {
    for (int i = 0; i < 50; ++i) uv_run(loop_.get(), UV_RUN_NOWAIT);
  }

  TestLoop loop_;
  FakeServer server_;
  bool runs_ = true;
  std::unique_ptr<JobPort> port_;
};

TEST_F(JobPortTest, CarriesWhatBothSay) {
  EXPECT_EQ(port_->inner(), 3000);
  const UniqueFd client = ConnectLoopback(port_->outer());
  Put(client, Get());
  Turn();
  EXPECT_EQ(server_.asked_, 3000);
  const UniqueFd server = server_.Accept();
  EXPECT_EQ(Take(server, Get().size()), Get());
  Put(server, "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(Take(client, 19), "HTTP/1.1 200 OK\r\n\r\n");
  Put(client, "more\0bytes");
  EXPECT_EQ(Take(server, 4), "more");
  // The end of one side is told to the other, which may still speak.
  shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(Take(server, 1), "");
  Put(server, "last");
  EXPECT_EQ(Take(client, 4), "last");
  shutdown(server.get(), SHUT_WR);
  Turn();
  EXPECT_EQ(port_->connections(), 0u);
}

// The limits of our own server are none of the job's.
TEST_F(JobPortTest, PassesOnWhatWeWouldNotServe) {
  const std::string host =
      " HTTP/1.1\r\nHost: localhost:" + std::to_string(port_->outer()) + "\r\n";
  for (const std::string& head :
       {"POST /upload" + host + "Content-Length: 99999999999\r\n\r\n",
        "GET /hmr" + host + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /" + std::string(12'000, 'x') + host + "\r\n"}) {
    const UniqueFd client = ConnectLoopback(port_->outer());
    Put(client, head);
    Turn();
    const UniqueFd server = server_.Accept();
    EXPECT_EQ(Take(server, head.size()), head);
  }
}

TEST_F(JobPortTest, HoldsNoMoreThanItMust) {
  const UniqueFd client = ConnectLoopback(port_->outer());
  Put(client, Get());
  Turn();
  const UniqueFd server = server_.Accept();
  Take(server, Get().size());
  fcntl(server.get(), F_SETFL, O_NONBLOCK);
  // As long as the client does not read, we do not read from the server.
  const std::string much(1 << 20, 'x');
  std::size_t put = 0;
  for (int i = 0; i < 200; ++i) {
    const ssize_t sent = send(server.get(), much.data(), much.size(), MSG_NOSIGNAL);
    if (sent > 0) put += static_cast<std::size_t>(sent);
    Turn();
  }
  EXPECT_LT(put, 100u << 20);
  EXPECT_EQ(Take(client, put).size(), put) << "and nothing is lost";
}

TEST_F(JobPortTest, AnotherHostNeverReachesTheServer) {
  const UniqueFd client = ConnectLoopback(port_->outer());
  Put(client, "GET / HTTP/1.1\r\nHost: evil.example:3000\r\n\r\n");
  const std::string answer = Take(client, 1 << 16);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 421 ")) << answer;
  EXPECT_EQ(server_.asked_, 0);
  EXPECT_EQ(port_->connections(), 0u);
}

TEST_F(JobPortTest, WithoutAServerTheAnswerSaysSo) {
  server_.refuses_ = true;
  const UniqueFd client = ConnectLoopback(port_->outer());
  Put(client, Get());
  EXPECT_TRUE(Take(client, 1 << 16).starts_with("HTTP/1.1 502 "));
  runs_ = false;
  const UniqueFd late = ConnectLoopback(port_->outer());
  Put(late, Get());
  EXPECT_TRUE(Take(late, 1 << 16).starts_with("HTTP/1.1 502 "));
  EXPECT_EQ(port_->connections(), 0u);
}

TEST_F(JobPortTest, AnotherUserIsHungUpOn) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  ASSERT_EQ(seteuid(65534), 0);
  const UniqueFd client = ConnectLoopback(port_->outer());
  ASSERT_EQ(seteuid(0), 0);
  send(client.get(), Get().data(), Get().size(), MSG_NOSIGNAL);
  EXPECT_EQ(Take(client, 1), "");
  EXPECT_EQ(server_.asked_, 0);
}

TEST_F(JobPortTest, ServesOnlySoManyAtOnce) {
  std::vector<UniqueFd> clients;
  for (std::size_t i = 0; i < kMaxConnectionsOfAPort + 5; ++i) {
    clients.push_back(ConnectLoopback(port_->outer()));
    Turn();
  }
  EXPECT_EQ(port_->connections(), kMaxConnectionsOfAPort);
  clients.clear();
  Turn();
  EXPECT_EQ(port_->connections(), 0u) << "there is room again";
}

TEST_F(JobPortTest, EndsWithItsConnections) {
  const UniqueFd client = ConnectLoopback(port_->outer());
  Put(client, Get());
  Turn();
  const UniqueFd server = server_.Accept();
  const std::uint16_t outer = port_->outer();
  port_.reset();
  EXPECT_EQ(Take(client, 1), "");
  EXPECT_FALSE(ConnectLoopback(outer)) << "nobody listens any more";
}

}  // namespace
}  // namespace pa
