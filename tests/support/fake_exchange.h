// FakeExchange: a request of HTTP for tests, which keeps what was answered.
//
//    auto exchange = std::make_shared<FakeExchange>();
//    exchange->head_ = {.method = "POST", .target = "/mcp", .fields = {...}};
//    endpoint.OnRequest(exchange);
//    exchange->answer            // or what `stream` has
//    exchange->Go();             // the client ends the connection
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/loop/output_gate.h"
#include "supervisor/transport/http_server.h"

namespace pa {

class FakeExchange final : public HttpExchange {
 public:
  const HttpHead& head() const override { return head_; }
  const std::string& body() const override { return body_; }
  const HttpPeer& peer() const override { return peer_; }
  void Answer(HttpAnswer the_answer) override {
    EXPECT_FALSE(answer || streams_) << "twice";
    answer = std::move(the_answer);
    on_gone_ = nullptr;
  }
  void BeginStream(std::vector<std::pair<std::string, std::string>> the_fields) override {
    fields = std::move(the_fields);
    streams_ = true;
  }
  void Send(std::string_view events) override {
    EXPECT_TRUE(streams_);
    stream += events;
  }
  void Drop() override {
    dropped = true;
    Go();
  }
  void EndStream() override {
    EXPECT_TRUE(streams_);
    ended = true;
    on_gone_ = nullptr;
  }
  UniqueFd Upgrade() override {
    EXPECT_TRUE(head_.upgrades);
    upgraded = true;
    return std::move(client);
  }
  bool streams() const override { return streams_; }
  OutputGate& gate() override { return gate_; }
  void WhenGone(std::function<void()> callback) override { on_gone_ = std::move(callback); }
  void Go() {
    if (const auto callback = std::exchange(on_gone_, nullptr)) callback();
  }

  HttpHead head_;
  std::string body_;
  std::optional<HttpAnswer> answer;
  std::string stream;
  std::vector<std::pair<std::string, std::string>> fields;  // of the stream
  bool ended = false;
  bool dropped = false;
  bool upgraded = false;
  UniqueFd client;  // that Upgrade hands over
  HttpPeer peer_;

 private:
  OutputGate gate_;
  bool streams_ = false;
  std::function<void()> on_gone_;
};

}  // namespace pa
