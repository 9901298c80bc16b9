#include "supervisor/mcp/http_endpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/support/fake_exchange.h"
#include "tests/support/fake_world.h"
#include "tests/support/json.h"

namespace pa {
namespace {

using testing::Json;

class HttpEndpointTest : public ::testing::Test {
 protected:
  HttpEndpointTest() { Begin(nullptr); }
  void BeginWithStatus() {
    Begin([] { return ServerStatus{.sessions = 3}; });
  }
  void Begin(std::function<ServerStatus()> status) {
    endpoint_.emplace(
        world_.services(), world_.state(),
        HttpEndpointOptions{
            .host_allowed = [](std::string_view host) { return host == "here:1"; },
            .origin_allowed = [](std::string_view origin) { return origin == "http://here:1"; },
            .metadata = [](std::string_view path) -> std::optional<std::string> {
              if (path != "/.well-known/x") return std::nullopt;
              return "{}";
            },
            .identify = [](const HttpHead& head, HttpPeer& peer) -> std::optional<HttpAnswer> {
              const std::string* const who = head.Find("authorization");
              if (who == nullptr) return std::nullopt;
              if (*who == "wrong") return PlainAnswer(401, "no");
              peer.token = *who;
              return std::nullopt;
            },
            .status = std::move(status),
            .on_lines =
                [this](UniqueFd client, const HttpPeer& peer) {
                  lines_ = std::move(client);
                  peer_ = peer;
                }});
  }
  ~HttpEndpointTest() override {
    bool ended = false;
    endpoint_->Shutdown();
    endpoint_->WhenEnded([&] { ended = true; });
    world_.Wait();
    EXPECT_TRUE(ended);
    endpoint_.reset();
  }

  static Json Params(Json params = Json::object()) {
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities",
                        {{"elicitation", Json::object()},
                         {"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}}}};
    return params;
  }
  static HttpHead Head() {
    return {.method = "POST",
            .target = "/mcp",
            .fields = {{"host", "here:1"},
                       {"content-type", "application/json"},
                       {"accept", "application/json, text/event-stream"}}};
  }
  std::shared_ptr<FakeExchange> Post(const std::string& body, const std::string& method = "",
                                     const std::string& name = "") {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->head_ = Head();
    exchange->body_ = body;
    if (!method.empty()) {
      exchange->head_.fields.emplace_back("mcp-protocol-version", "2026-07-28");
      exchange->head_.fields.emplace_back("mcp-method", method);
    }
    if (!name.empty()) exchange->head_.fields.emplace_back("mcp-name", name);
    endpoint_->OnRequest(exchange);
    return exchange;
  }
  // A good request.
  std::shared_ptr<FakeExchange> Ask(const std::string& method, const Json& params = Params(),
                                    const std::string& name = "") {
    const Json body = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    return Post(body.dump(), method, name);
  }
  std::shared_ptr<FakeExchange> CallTool(const std::string& tool,
                                         const Json& arguments = Json::object(),
                                         Json params = Json::object()) {
    params["name"] = tool;
    params["arguments"] = arguments;
    return Ask("tools/call", Params(params), tool);
  }
  static Json Answer(const FakeExchange& exchange) {
    return exchange.answer ? Json::parse(exchange.answer->body) : Json();
  }
  int Judged(const HttpHead& head, HttpPeer peer = {}) {
    const auto answer = endpoint_->Judge(head, peer);
    return answer ? answer->status : 200;
  }

  FakeWorld world_;
  std::optional<HttpEndpoint> endpoint_;
  UniqueFd lines_;
  HttpPeer peer_;  // of lines_
};

TEST_F(HttpEndpointTest, OnlyWhatMayComeHereIsRead) {
  EXPECT_EQ(Judged(Head()), 200);
  const auto with = [](std::string_view name, const char* value) {
    HttpHead head = Head();
    std::erase_if(head.fields, [&](const auto& field) { return field.first == name; });
    if (value != nullptr) head.fields.emplace_back(name, value);
    return head;
  };
  EXPECT_EQ(Judged(with("host", "evil.example")), 403);
  EXPECT_EQ(Judged(with("origin", "http://here:1")), 200);
  for (const char* origin : {"http://evil.example", "null", "", "http://here:1, http://here:1"}) {
    EXPECT_EQ(Judged(with("origin", origin)), 403) << origin;
  }
  for (const char* type : {"text/plain", "application/jsonx", "", "application/json, text/plain"}) {
    EXPECT_EQ(Judged(with("content-type", type)), 415) << type;
  }
  EXPECT_EQ(Judged(with("content-type", nullptr)), 415) << "a form of a page can send that";
  EXPECT_EQ(Judged(with("content-type", "Application/JSON; charset=utf-8")), 200);
  for (const char* accept : {"application/json", "text/event-stream", "text/html", ""}) {
    EXPECT_EQ(Judged(with("accept", accept)), 406) << accept;
  }
  EXPECT_EQ(Judged(with("accept", nullptr)), 406);
  for (const char* accept :
       {"text/event-stream;q=0.5 ,APPLICATION/json", "*/*", "text/*, application/*;q=1"}) {
    EXPECT_EQ(Judged(with("accept", accept)), 200) << accept;
  }
  for (const auto& [target, status] : {std::pair("/mcp?x=y", 200), std::pair("/", 404),
                                       std::pair("/mcp/", 404), std::pair("/mcpx", 404)}) {
    HttpHead head = Head();
    head.target = target;
    EXPECT_EQ(Judged(head), status) << target;
  }
  for (const auto& [method, status] : {std::pair("GET", 200), std::pair("DELETE", 200),
                                       std::pair("OPTIONS", 405), std::pair("PUT", 405)}) {
    HttpHead head = Head();
    head.method = method;
    EXPECT_EQ(Judged(head), status) << method;
  }
  HttpHead get = with("accept", "application/json");
  get.method = "GET";
  EXPECT_EQ(Judged(get), 406);
}

TEST_F(HttpEndpointTest, WhoIsNotKnownLearnsNothing) {
  HttpHead head = Head();
  head.fields.emplace_back("authorization", "wrong");
  EXPECT_EQ(Judged(head), 401);
  head.method = "PUT";
  EXPECT_EQ(Judged(head), 401) << "before anything else is said about the request";
  head.target = "/other";
  EXPECT_EQ(Judged(head), 404);
  head = Head();
  head.fields.emplace_back("authorization", "laptop");
  HttpPeer peer;
  EXPECT_FALSE(endpoint_->Judge(head, peer));
  EXPECT_EQ(peer.token, "laptop");
}

// Whoever has no token learns there who makes one.
TEST_F(HttpEndpointTest, MetadataNeedNoToken) {
  HttpHead head = Head();
  head.fields.emplace_back("authorization", "wrong");
  head.method = "GET";
  head.target = "/.well-known/x?y";
  HttpPeer peer;
  const auto answer = endpoint_->Judge(head, peer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->type, "application/json");
  EXPECT_EQ(answer->body, "{}");
  head.method = "POST";
  EXPECT_EQ(Judged(head), 405);
  head.method = "GET";
  head.target = "/.well-known/y";
  EXPECT_EQ(Judged(head), 404);
  head.target = "/.well-known/x";
  head.fields[0].second = "evil.example";
  EXPECT_EQ(Judged(head), 403);
}

// A page cannot reach it, so any Host will do; who connects has to be known all the same.
TEST_F(HttpEndpointTest, MetricsAreForWhoMayCall) {
  HttpHead head = Head();
  head.method = "GET";
  head.target = "/metrics";
  EXPECT_EQ(Judged(head), 404) << "there are none";
  BeginWithStatus();
  HttpPeer peer;
  const auto text = endpoint_->Judge(head, peer);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->type, kOpenMetricsType);
  EXPECT_TRUE(text->body.ends_with("# EOF\n"));
  EXPECT_EQ(endpoint_->requests(), 0u) << "this is no use of the server";
  std::erase_if(head.fields, [](const auto& field) { return field.first == "accept"; });
  EXPECT_EQ(endpoint_->Judge(head, peer)->type, kOpenMetricsType);
  head.fields.emplace_back("accept", "application/json");
  const auto json = ParseStatus(endpoint_->Judge(head, peer)->body);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->sessions, 3u);
  head.method = "POST";
  EXPECT_EQ(Judged(head), 405);
  head.method = "GET";
  head.fields.emplace_back("authorization", "wrong");
  EXPECT_EQ(Judged(head), 401);
  EXPECT_EQ(Judged(Head()), 200);
  EXPECT_EQ(endpoint_->requests(), 1u);
}

// By the Unix socket of another user's server.
TEST_F(HttpEndpointTest, RootReadsMetricsAndCallsNothing) {
  BeginWithStatus();
  HttpHead head = Head();
  EXPECT_EQ(Judged(head, {.user = 0}), geteuid() == 0 ? 200 : 403);
  EXPECT_EQ(Judged(head, {.user = geteuid()}), 200);
  head.method = "GET";
  head.target = "/metrics";
  EXPECT_EQ(Judged(head, {.user = 0}), 200);
}

TEST_F(HttpEndpointTest, AUnixSocketHasNoHost) {
  HttpHead head = Head();
  head.fields[0].second = "whatever";
  EXPECT_EQ(Judged(head), 403);
  EXPECT_EQ(Judged(head, {.user = 7}), 200);
  head.fields.emplace_back("authorization", "wrong");
  EXPECT_EQ(Judged(head, {.user = 7}), 401);
}

TEST_F(HttpEndpointTest, ASessionIsTheirsWhoBeganIt) {
  const auto post = [&](const std::string& token, const std::string& session, const Json& message) {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->head_ = Head();
    exchange->peer_.token = token;
    if (!session.empty()) exchange->head_.fields.emplace_back("mcp-session-id", session);
    exchange->body_ = message.dump();
    endpoint_->OnRequest(exchange);
    return exchange;
  };
  const Json params = {{"protocolVersion", "2025-11-25"},
                       {"capabilities", Json::object()},
                       {"clientInfo", {{"name", "c"}, {"version", "1"}}}};
  const auto begun = post(
      "one", "", {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", params}});
  ASSERT_TRUE(begun->answer);
  ASSERT_EQ(begun->answer->fields.size(), 1u);
  const std::string id = begun->answer->fields[0].second;
  const Json ping = {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "ping"}};
  EXPECT_EQ(post("two", id, ping)->answer->status, 404);
  EXPECT_EQ(post("", id, ping)->answer->status, 404);
  EXPECT_EQ(post("one", id, ping)->answer->status, 200);
}

// Access tokens are replaced every hour or so: the session is the subject's, and lasts as long as
// the token that expires last.
TEST_F(HttpEndpointTest, ASessionOutlivesAnAccessToken) {
  const auto access = [](const char* issuer, int expires) {
    return std::make_shared<const JwtClaims>(
        JwtClaims{.issuer = issuer,
                  .subject = "s",
                  .expires = std::chrono::sys_seconds(std::chrono::seconds(expires))});
  };
  const auto post = [&](std::shared_ptr<const JwtClaims> claims, const std::string& session) {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->head_ = Head();
    exchange->peer_ = {.token = "s", .claims = std::move(claims)};
    Json message = {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "ping"}};
    if (session.empty()) {
      message["method"] = "initialize";
      message["params"] = {{"protocolVersion", "2025-11-25"},
                           {"capabilities", Json::object()},
                           {"clientInfo", {{"name", "c"}, {"version", "1"}}}};
    } else {
      exchange->head_.fields.emplace_back("mcp-session-id", session);
    }
    exchange->body_ = message.dump();
    endpoint_->OnRequest(exchange);
    return exchange;
  };
  const auto begun = post(access("i", 100), "");
  ASSERT_TRUE(begun->answer);
  const std::string id = begun->answer->fields[0].second;
  EXPECT_EQ(post(access("i", 200), id)->answer->status, 200);
  EXPECT_EQ(post(access("i", 150), id)->answer->status, 200) << "still valid, for now";
  EXPECT_EQ(post(access("other", 200), id)->answer->status, 404);
  EXPECT_EQ(post(nullptr, id)->answer->status, 404) << "a token of ours of the same name";
  const auto known_until = [&](int now) {
    endpoint_->EndUnknown([&](const HttpPeer& peer) {
      return peer.claims->expires > std::chrono::sys_seconds(std::chrono::seconds(now));
    });
    world_.Turn();
    return endpoint_->sessions();
  };
  EXPECT_EQ(known_until(199), 1u);
  EXPECT_EQ(known_until(200), 0u);
}

TEST_F(HttpEndpointTest, WhoIsNotKnownAnyMoreIsEnded) {
  const auto call = [&](const std::string& token) {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->head_ = Head();
    exchange->head_.fields.emplace_back("mcp-protocol-version", "2026-07-28");
    exchange->head_.fields.emplace_back("mcp-method", "tools/call");
    exchange->head_.fields.emplace_back("mcp-name", "wait");
    exchange->peer_.token = token;
    const Json params = Params({{"name", "wait"}, {"arguments", Json::object()}});
    exchange->body_ =
        Json({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", params}}).dump();
    endpoint_->OnRequest(exchange);
    return exchange;
  };
  const auto stays = call("stays");
  const auto goes = call("goes");
  EXPECT_EQ(endpoint_->in_flight(), 2u);
  endpoint_->EndUnknown([](const HttpPeer& peer) { return peer.token == "stays"; });
  EXPECT_EQ(endpoint_->in_flight(), 1u);
  EXPECT_TRUE(goes->answer || goes->ended);
  EXPECT_FALSE(stays->answer || stays->ended);
}

TEST_F(HttpEndpointTest, ASessionEndsWithItsToken) {
  const auto begin = [&](const std::string& token) {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->head_ = Head();
    exchange->peer_.token = token;
    const Json params = {{"protocolVersion", "2025-11-25"},
                         {"capabilities", Json::object()},
                         {"clientInfo", {{"name", "c"}, {"version", "1"}}}};
    exchange->body_ =
        Json({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", params}}).dump();
    endpoint_->OnRequest(exchange);
  };
  begin("stays");
  begin("goes");
  EXPECT_EQ(endpoint_->sessions(), 2u);
  endpoint_->EndUnknown([](const HttpPeer& peer) { return peer.token == "stays"; });
  world_.Turn();
  EXPECT_EQ(endpoint_->sessions(), 1u);
}

TEST_F(HttpEndpointTest, AnUpgradeGoesOnWithLines) {
  HttpHead head{
      .method = "GET", .target = "/mcp", .fields = {{"host", "here:1"}}, .upgrades = true};
  EXPECT_EQ(Judged(head), 200);
  auto exchange = std::make_shared<FakeExchange>();
  exchange->head_ = head;
  exchange->peer_ = {.user = 7, .token = "laptop"};
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd other(ends[0]);
  exchange->client = UniqueFd(ends[1]);
  endpoint_->OnRequest(exchange);
  EXPECT_EQ(lines_.get(), ends[1]);
  EXPECT_TRUE(peer_.IsSameCaller(exchange->peer_));
  // Of a client that has gone there is nothing to go on with.
  lines_.reset();
  auto gone = std::make_shared<FakeExchange>();
  gone->head_ = head;
  endpoint_->OnRequest(gone);
  EXPECT_TRUE(gone->upgraded);
  EXPECT_FALSE(lines_);
}

TEST_F(HttpEndpointTest, ARequestHasOneAnswer) {
  const auto list = Ask("tools/list");
  ASSERT_TRUE(list->answer);
  EXPECT_EQ(list->answer->status, 200);
  EXPECT_EQ(list->answer->type, "application/json");
  EXPECT_EQ(Answer(*list)["id"], 1);
  EXPECT_EQ(Answer(*list)["result"]["resultType"], "complete");
  const auto call = CallTool("note", {{"text", "hello"}});
  EXPECT_EQ(Answer(*call)["result"]["content"][0]["text"], "hello");
  world_.Wait();
  EXPECT_EQ(endpoint_->in_flight(), 0u);
}

TEST_F(HttpEndpointTest, AnErrorHasItsStatus) {
  const auto status = [&](const std::shared_ptr<FakeExchange>& exchange, int code) {
    EXPECT_EQ(Answer(*exchange)["error"]["code"], code) << exchange->answer->body;
    return exchange->answer->status;
  };
  EXPECT_EQ(status(Post("{"), -32700), 400);
  EXPECT_EQ(status(Post(R"({"jsonrpc":"2.0","id":5})"), -32600), 400);
  EXPECT_EQ(status(Post("[]"), -32600), 400);
  const Json body = {
      {"jsonrpc", "2.0"}, {"id", "x"}, {"method", "tools/list"}, {"params", Params()}};
  const auto mismatch = Post(body.dump(), "tools/call");
  EXPECT_EQ(status(mismatch, -32020), 400);
  EXPECT_EQ(Answer(*mismatch)["id"], "x");
  EXPECT_EQ(status(Ask("nonsense"), -32601), 404);
  EXPECT_EQ(status(Ask("ping"), -32601), 404) << "which 2026-07-28 has not";
  EXPECT_EQ(status(CallTool("nonsense"), -32602), 200);
  Json undeclared = Params({{"taskId", "x"}});
  undeclared["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
  EXPECT_EQ(status(Ask("tasks/get", undeclared, "x"), -32021), 400);
}

TEST_F(HttpEndpointTest, WhatNeedsNoAnswerIsAccepted) {
  for (const char* body :
       {R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})",
        R"({"jsonrpc":"2.0","id":"x","result":{}})"}) {
    const auto exchange = Post(body);
    ASSERT_TRUE(exchange->answer) << body;
    EXPECT_EQ(exchange->answer->status, 202);
    EXPECT_EQ(exchange->answer->body, "");
  }
}

TEST_F(HttpEndpointTest, AnOlderClientHasASession) {
  const Json params = {{"protocolVersion", "2025-06-18"},
                       {"capabilities", Json::object()},
                       {"clientInfo", {{"name", "c"}, {"version", "1"}}}};
  const Json body = {{"jsonrpc", "2.0"}, {"id", 0}, {"method", "initialize"}, {"params", params}};
  const auto begun = Post(body.dump());
  EXPECT_EQ(Answer(*begun)["result"]["protocolVersion"], "2025-06-18") << begun->answer->body;
  ASSERT_EQ(begun->answer->fields.size(), 1u);
  EXPECT_EQ(begun->answer->fields[0].first, "Mcp-Session-Id");
  const std::string id = begun->answer->fields[0].second;
  EXPECT_EQ(id.size(), 32u);
  const auto list = [&](const std::string& session, const std::string& version = "") {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->head_ = Head();
    if (!session.empty()) exchange->head_.fields.emplace_back("mcp-session-id", session);
    if (!version.empty()) exchange->head_.fields.emplace_back("mcp-protocol-version", version);
    exchange->body_ = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
    endpoint_->OnRequest(exchange);
    return exchange->answer->status;
  };
  EXPECT_EQ(list(id), 200);
  EXPECT_EQ(list(id, "2025-06-18"), 200);
  EXPECT_EQ(list(id, "1999-01-01"), 400);
  EXPECT_EQ(list(""), 400);
  EXPECT_EQ(list("0123456789abcdef0123456789abcdef"), 404);
  auto exchange = std::make_shared<FakeExchange>();
  exchange->head_ = Head();
  exchange->head_.fields.emplace_back("mcp-session-id", id);
  exchange->body_ = R"([{"jsonrpc":"2.0","id":1,"method":"tools/list"}])";
  endpoint_->OnRequest(exchange);
  EXPECT_EQ(exchange->answer->status, 400) << "batches are those of 2025-03-26";
  world_.stubborn = true;
  auto running = std::make_shared<FakeExchange>();
  running->head_ = exchange->head_;
  running->body_ = R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}})";
  endpoint_->OnRequest(running);
  EXPECT_EQ(world_.running(), 1u);
  auto ends = std::make_shared<FakeExchange>();
  ends->head_ = exchange->head_;
  ends->head_.method = "DELETE";
  endpoint_->OnRequest(ends);
  EXPECT_EQ(ends->answer->status, 200);
  EXPECT_EQ(list(id), 404) << "though its call goes on";
  world_.Finish();
  world_.Turn();
  EXPECT_TRUE(running->answer);
  EXPECT_EQ(endpoint_->sessions(), 0u);
}

TEST_F(HttpEndpointTest, SessionsThatNobodyEndsKeepNobodyOut) {
  const std::string body =
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})";
  std::string first;
  for (std::size_t i = 0; i < kMaxHttpSessions + 10; ++i) {
    const auto begun = Post(body);
    ASSERT_EQ(begun->answer->status, 200);
    if (i == 0) first = begun->answer->fields[0].second;
  }
  EXPECT_EQ(endpoint_->sessions(), kMaxHttpSessions);
  auto late = std::make_shared<FakeExchange>();
  late->head_ = Head();
  late->head_.method = "GET";
  late->head_.fields.emplace_back("mcp-session-id", first);
  endpoint_->OnRequest(late);
  EXPECT_EQ(late->answer->status, 404) << "the one that was longest unused";
}

TEST_F(HttpEndpointTest, EqualIdsAreDifferentRequests) {
  const auto first = CallTool("wait");
  const auto second = CallTool("wait");
  EXPECT_EQ(world_.running(), 2u);
  world_.FinishLast();
  EXPECT_TRUE(second->answer);
  EXPECT_FALSE(first->answer);
  world_.Finish();
  EXPECT_TRUE(first->answer);
}

TEST_F(HttpEndpointTest, ProgressMakesItAStream) {
  Json params = Params({{"name", "wait"}, {"arguments", Json::object()}});
  params["_meta"]["progressToken"] = 7;
  const auto call = Ask("tools/call", params, "wait");
  EXPECT_FALSE(call->streams());
  world_.Print("one\n");
  EXPECT_TRUE(call->streams());
  world_.Finish();
  EXPECT_TRUE(call->ended);
  EXPECT_TRUE(call->stream.starts_with("event: message\ndata: {")) << call->stream;
  EXPECT_NE(call->stream.find("notifications/progress"), std::string::npos);
  const std::size_t last = call->stream.rfind("data: ");
  const Json answer = Json::parse(call->stream.substr(last + 6));
  EXPECT_EQ(answer["result"]["content"][0]["text"], "finished");
  EXPECT_TRUE(call->stream.ends_with("\n\n"));
}

TEST_F(HttpEndpointTest, WhoGoesCancelsTheirCallAlone) {
  const auto stays = CallTool("wait");
  const auto goes = CallTool("wait");
  goes->Go();
  while (world_.running() == 2) world_.Turn();
  EXPECT_FALSE(goes->answer);
  world_.Finish();
  EXPECT_EQ(Answer(*stays)["result"]["content"][0]["text"], "finished");
  EXPECT_EQ(endpoint_->in_flight(), 0u);
}

TEST_F(HttpEndpointTest, ATaskOutlivesItsRequest) {
  world_.DetachAfter(std::chrono::milliseconds(1));
  const auto call = CallTool("wait");
  while (!call->answer) world_.Turn();
  const Json created = Answer(*call)["result"];
  ASSERT_EQ(created["resultType"], "task") << created;
  world_.Turn();
  EXPECT_EQ(world_.running(), 1u);
  const Json id = {{"taskId", created["taskId"]}};
  const auto listens =
      Ask("subscriptions/listen",
          Params({{"notifications", {{"taskIds", Json::array({created["taskId"]})}}}}));
  EXPECT_TRUE(listens->streams());
  EXPECT_EQ(Answer(*Ask("tasks/get", Params(id), created["taskId"]))["result"]["status"],
            "working");
  world_.Finish();
  EXPECT_NE(listens->stream.find("\"completed\""), std::string::npos) << listens->stream;
  EXPECT_EQ(Answer(*Ask("tasks/get", Params(id), created["taskId"]))["result"]["status"],
            "completed");
  listens->Go();
  world_.Turn();
  EXPECT_EQ(endpoint_->in_flight(), 0u);
}

TEST_F(HttpEndpointTest, TheAnswerToAQuestionComesInAnotherRequest) {
  world_.Enable({"ask"});
  const auto call = CallTool("ask", {{"text", "once"}});
  const Json question = Answer(*call)["result"];
  ASSERT_EQ(question["resultType"], "input_required") << question;
  world_.Turn();
  EXPECT_EQ(endpoint_->in_flight(), 1u);
  const Json accepted = {{"action", "accept"}, {"content", {{"approve", true}}}};
  const auto again = CallTool(
      "ask", {{"text", "once"}},
      {{"requestState", question["requestState"]}, {"inputResponses", {{"approve", accepted}}}});
  EXPECT_EQ(Answer(*again)["result"]["content"][0]["text"], "approved") << again->answer->body;
  world_.Turn();
  EXPECT_EQ(endpoint_->in_flight(), 0u);
}

// It is written once, but not for good.
TEST_F(HttpEndpointTest, TheListOfToolsIsThatOfThePolicyAndTheRevision) {
  const auto names = [](const Json& result) {
    std::string all;
    for (const Json& tool : result["tools"]) all += tool["name"].get<std::string>() + " ";
    return all;
  };
  world_.Enable({"note"});
  const Json few = Answer(*Ask("tools/list"))["result"];
  EXPECT_EQ(names(few).find("ask"), std::string::npos);
  world_.Enable({"note", "ask"});
  const Json more = Answer(*Ask("tools/list"))["result"];
  EXPECT_NE(names(more).find("ask"), std::string::npos) << more;
  EXPECT_TRUE(more.contains("ttlMs"));
  const Json begin = {{"protocolVersion", "2025-11-25"},
                      {"capabilities", Json::object()},
                      {"clientInfo", {{"name", "c"}, {"version", "1"}}}};
  const auto begun = Post(
      Json({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", begin}}).dump());
  auto exchange = std::make_shared<FakeExchange>();
  exchange->head_ = Head();
  exchange->head_.fields.emplace_back("mcp-session-id", begun->answer->fields[0].second);
  exchange->body_ = R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})";
  endpoint_->OnRequest(exchange);
  const Json older = Answer(*exchange)["result"];
  EXPECT_EQ(names(older), names(more));
  EXPECT_FALSE(older.contains("ttlMs"));
  endpoint_->OnRest();
  EXPECT_EQ(world_.state().tool_list.json.capacity(), std::string().capacity());
  EXPECT_TRUE(Answer(*Ask("tools/list"))["result"].contains("ttlMs"));
}

// In place of a result that says so: a client can be told to declare what it lacks.
TEST_F(HttpEndpointTest, AQuestionNeedsAClientThatCanAsk) {
  world_.Enable({"ask"});
  Json params = Params({{"name", "ask"}, {"arguments", {{"text", "once"}}}});
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
  const auto call = Ask("tools/call", params, "ask");
  ASSERT_TRUE(call->answer);
  EXPECT_EQ(call->answer->status, 400);
  const Json error = Answer(*call)["error"];
  EXPECT_EQ(error["code"], -32021);
  EXPECT_EQ(error["data"]["requiredCapabilities"], Json({{"elicitation", Json::object()}}));
  EXPECT_EQ(error["data"]["error"]["code"], "APPROVAL_DECLINED");
  const std::string message = error["message"];
  EXPECT_NE(message.find("Tell the user what you want to run"), std::string::npos) << message;
}

TEST_F(HttpEndpointTest, WhoListensHearsOfChangesUntilTheEnd) {
  const auto listens =
      Ask("subscriptions/listen", Params({{"notifications", {{"toolsListChanged", true}}}}));
  EXPECT_NE(listens->stream.find("subscriptions/acknowledged"), std::string::npos);
  world_.state().open.ListChanged(ListKind::kTools);
  EXPECT_NE(listens->stream.find("notifications/tools/list_changed"), std::string::npos);
  endpoint_->Shutdown();
  EXPECT_TRUE(listens->ended);
  EXPECT_NE(listens->stream.find("\"resultType\":\"complete\""), std::string::npos);
  const auto late = CallTool("note", {{"text", "x"}});
  ASSERT_TRUE(late->answer);
  EXPECT_EQ(late->answer->status, 503);
}

}  // namespace
}  // namespace pa
