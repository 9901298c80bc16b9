// Programs that serve HTTP, and clients that load them.
//
//    Listening server({.command = {...}}, true);
//    const Flight flight = Load(server.Port("127.0.0.1:"), Post(message, fields), 3000, 64);
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "tests/bench/measure.h"
#include "tests/bench/server.h"
#include "tests/support/json.h"
#include "tests/support/launch.h"
#include "tests/support/loopback.h"

namespace pa::bench {

// A program that prints, among other things, the port on which it serves.
class Listening {
 public:
  Listening(testing::Launch launch, bool on_errors) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) GiveUp("pipe2");
    said_.reset(ends[0]);
    const UniqueFd writer(ends[1]);
    (on_errors ? launch.err : launch.out) = writer.get();
    pid_ = testing::Spawn(std::move(launch));
  }
  ~Listening() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  // Behind `before`, as a number.
  std::uint16_t Port(std::string_view before) {
    std::string all;
    char chunk[256];
    for (ssize_t got = 1; got > 0;) {
      got = read(said_.get(), chunk, sizeof chunk);
      if (got > 0) all.append(chunk, static_cast<std::size_t>(got));
      const std::size_t at = all.find(before);
      if (at != std::string::npos && all.find('\n', at) != std::string::npos) {
        return static_cast<std::uint16_t>(std::stoul(all.substr(at + before.size())));
      }
    }
    GiveUp("no port in: " + all);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd said_;
};

inline std::string Post(const testing::Json& message, const std::string& fields,
                        const char* path = "/mcp") {
  const std::string body = message.dump();
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nContent-Type: application/json\r\n"
         "Accept: application/json, text/event-stream\r\n" +
         fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// One connection with one request at a time.
class Client {
 public:
  Client(std::uint16_t port, const std::string& request, const char* status = "200")
      : fd_(testing::ConnectLoopback(port)), request_(request), status_(status) {
    if (!fd_) GiveUp("nobody listens");
  }
  int fd() const { return fd_.get(); }
  void Ask() {
    began_ = Clock::now();
    answer_.clear();
    whole_ = 0;
    if (send(fd_.get(), request_.data(), request_.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request_.size())) {
      GiveUp("send");
    }
  }
  // What is there; true: the answer is complete.
  bool Hear() {
    char chunk[64 << 10];
    const ssize_t got = recv(fd_.get(), chunk, sizeof chunk, 0);
    if (got <= 0) GiveUp("the connection ended: " + answer_);
    answer_.append(chunk, static_cast<std::size_t>(got));
    const std::size_t head = answer_.find("\r\n\r\n");
    if (whole_ == 0 && head != std::string::npos) {
      const std::string lower = answer_.substr(0, head);
      std::size_t at = lower.find("ontent-");
      while (at != std::string::npos && lower.compare(at + 7, 7, "Length:") != 0 &&
             lower.compare(at + 7, 7, "length:") != 0) {
        at = lower.find("ontent-", at + 1);
      }
      if (at == std::string::npos) GiveUp("no length: " + answer_);
      whole_ = head + 4 + std::stoul(lower.substr(at + 14));
      if (answer_.substr(9, 3) != status_) GiveUp(answer_);
    }
    return whole_ > 0 && answer_.size() >= whole_;
  }
  std::string Body() const { return answer_.substr(answer_.find("\r\n\r\n") + 4); }
  double Took() const { return MillisecondsSince(began_); }

 private:
  UniqueFd fd_;
  const std::string& request_;
  const char* status_;
  std::string answer_;
  std::size_t whole_ = 0;
  Clock::time_point began_;
};

inline Flight Load(std::uint16_t port, const std::string& request, int requests,
                   std::size_t connections, const char* status = "200") {
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<pollfd> waits;
  for (std::size_t i = 0; i < connections; ++i) {
    clients.push_back(std::make_unique<Client>(port, request, status));
    waits.push_back({clients.back()->fd(), POLLIN, 0});
  }
  Flight all;
  const auto start = Clock::now();
  int begun = 0;
  for (const auto& client : clients) {
    client->Ask();
    ++begun;
  }
  while (static_cast<int>(all.latencies.size()) < requests) {
    if (poll(waits.data(), waits.size(), 10'000) <= 0) GiveUp("no answer");
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0 || !clients[i]->Hear()) continue;
      all.latencies.push_back(clients[i]->Took());
      if (begun >= requests) {
        waits[i].fd = -1;
      } else {
        clients[i]->Ask();
        ++begun;
      }
    }
  }
  all.calls_a_second = requests / (MillisecondsSince(start) / 1000);
  return all;
}

}  // namespace pa::bench
