// load PORT TOKEN measure ROUNDS CALL...: asks one call after another, each ROUNDS times, as an
// agent does: with a pause in between, and from one connection. Prints a line for each call:
// `CALL p50 p99 longest FAILED`, in ms.
// load PORT TOKEN flood CONNECTIONS CALL...: asks without a pause from all the connections, until
// it is ended, and whatever the answers are.
//
// CALL is `list`, or TOOL:ARGUMENTS, such as `make:{"target":"noop"}`.
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Call {
  std::string name;
  std::string request;
  std::vector<double> took;
  int failed = 0;
};

Call MakeCall(const std::string& name, const std::string& token) {
  const std::size_t colon = name.find(':');
  const std::string tool = name.substr(0, colon);
  const bool list = colon == std::string::npos;
  const std::string method = list ? "tools/list" : "tools/call";
  std::string body = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)";
  if (!list) body += R"("name":")" + tool + R"(","arguments":)" + name.substr(colon + 1) + ",";
  body += R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
          R"("io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},)"
          R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
  std::string head =
      "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8787\r\nAuthorization: Bearer " + token +
      "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " +
      method + "\r\n";
  if (!list) head += "Mcp-Name: " + tool + "\r\n";
  head += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return {.name = name, .request = head + body, .took = {}};
}

class Connection {
 public:
  explicit Connection(int port) : port_(port) {}
  Connection(Connection&& other) noexcept : port_(other.port_), fd_(std::exchange(other.fd_, -1)) {}
  Connection& operator=(Connection&&) = delete;
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

  // Connects first, if the other end has closed.
  bool Ask(const std::string& request) {
    answer_.clear();
    whole_ = 0;
    if (fd_ < 0) {
      fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port_));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return Lose();
    }
    const auto sent = send(fd_, request.data(), request.size(), MSG_NOSIGNAL);
    return sent == static_cast<ssize_t>(request.size()) || Lose();
  }

  // Reads what is there. True: the answer is complete, or has ended early.
  bool Hear() {
    char chunk[64 << 10];
    const ssize_t got = recv(fd_, chunk, sizeof chunk, 0);
    if (got <= 0) return !Lose();
    answer_.append(chunk, static_cast<std::size_t>(got));
    const std::size_t head = answer_.find("\r\n\r\n");
    if (whole_ == 0 && head != std::string::npos) {
      const std::size_t at = answer_.find("Content-Length: ");
      if (at > head) return !Lose();
      whole_ = head + 4 + std::strtoul(answer_.c_str() + at + 16, nullptr, 10);
    }
    return whole_ > 0 && answer_.size() >= whole_;
  }
  bool succeeded() const {
    return whole_ > 0 && answer_.starts_with("HTTP/1.1 200") &&
           answer_.find("\"result\":") != std::string::npos &&
           answer_.find("\"isError\":true") == std::string::npos;
  }
  const std::string& answer() const { return answer_; }

 private:
  bool Lose() {
    close(fd_);
    fd_ = -1;
    whole_ = 0;
    return false;
  }
  int port_;
  int fd_ = -1;
  std::string answer_;
  std::size_t whole_ = 0;
};

// The least value that so many of a hundred do not exceed.
double Percentile(const std::vector<double>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

void Measure(int port, std::vector<Call>& calls, int rounds) {
  Connection connection(port);
  // Always the same pauses, of no rhythm that could be that of the kernel's clock.
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp)
  std::uniform_int_distribution<int> microseconds(5'000, 35'000);
  for (int round = -3; round < rounds; ++round) {  // the first three do not count
    for (Call& call : calls) {
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
      const auto began = Clock::now();
      bool done = !connection.Ask(call.request);
      while (!done) done = connection.Hear();
      const std::chrono::duration<double, std::milli> took = Clock::now() - began;
      if (round < 0) continue;
      call.took.push_back(took.count());
      if (!connection.succeeded()) {
        ++call.failed;
        std::fprintf(stderr, "%s: %.300s\n", call.name.c_str(), connection.answer().c_str());
      }
    }
  }
  for (Call& call : calls) {
    std::ranges::sort(call.took);
    std::printf("%s %.3f %.3f %.3f %d\n", call.name.c_str(), Percentile(call.took, 50),
                Percentile(call.took, 99), call.took.back(), call.failed);
  }
}

[[noreturn]] void Flood(int port, const std::vector<Call>& calls, std::size_t count) {
  std::vector<Connection> connections;
  for (std::size_t i = 0; i < count; ++i) connections.emplace_back(port);
  const int readable = epoll_create1(EPOLL_CLOEXEC);
  std::size_t next = 0;
  const auto ask = [&](std::size_t i) {
    const int before = connections[i].fd();
    connections[i].Ask(calls[next++ % calls.size()].request);
    if (connections[i].fd() == before) return;
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    epoll_ctl(readable, EPOLL_CTL_ADD, connections[i].fd(), &event);
  };
  for (;;) {
    // Those, too, that could not connect.
    for (std::size_t i = 0; i < count; ++i) {
      if (connections[i].fd() < 0) ask(i);
    }
    epoll_event events[64];
    for (int i = 0, got = epoll_wait(readable, events, 64, 100); i < got; ++i) {
      const std::size_t which = events[i].data.u64;
      if (connections[which].Hear()) ask(which);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const int port = std::atoi(argv[1]);
  std::vector<Call> calls;
  for (int i = 5; i < argc; ++i) calls.push_back(MakeCall(argv[i], argv[2]));
  const int count = std::atoi(argv[4]);
  if (argv[3] == std::string_view("flood")) Flood(port, calls, static_cast<std::size_t>(count));
  Measure(port, calls, count);
}
