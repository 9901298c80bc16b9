#include "supervisor/mcp/http_session.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "tests/support/failing_new.h"
#include "tests/support/fake_exchange.h"
#include "tests/support/fake_world.h"
#include "tests/support/json.h"
#include "tests/support/run_until.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using testing::Json;

class HttpSessionTest : public ::testing::Test {
 protected:
  HttpSessionTest() { Begin("2025-11-25"); }
  ~HttpSessionTest() override { End(); }

  void Begin(const std::string& revision, HttpSessionLimits limits = {}) {
    End();
    over_ = false;
    session_.emplace(
        world_.services(), world_.state(), HttpPeer{}, [this] { over_ = true; }, limits);
    const Json params = {{"protocolVersion", revision},
                         {"capabilities", {{"elicitation", Json::object()}}},
                         {"clientInfo", {{"name", "c"}, {"version", "1"}}}};
    Ask(0, "initialize", params);
    Post({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  }
  void End() {
    if (!session_) return;
    session_->Shutdown();
    world_.Turn();
    EXPECT_TRUE(over_);
    EXPECT_TRUE(session_->over());
    session_.reset();
  }
  std::shared_ptr<FakeExchange> Post(const Json& message) {
    auto exchange = std::make_shared<FakeExchange>();
    session_->OnPost(rpc::ParseLine(message.dump()), exchange);
    return exchange;
  }
  std::shared_ptr<FakeExchange> Ask(int id, const char* method, const Json& params) {
    return Post({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
  }
  std::shared_ptr<FakeExchange> Wait(int id, bool progress = false) {
    Json params = {{"name", "wait"}, {"arguments", Json::object()}};
    if (progress) params["_meta"]["progressToken"] = id;
    return Ask(id, "tools/call", params);
  }
  std::shared_ptr<FakeExchange> Get(const std::string& last = "") {
    auto exchange = std::make_shared<FakeExchange>();
    if (!last.empty()) exchange->head_.fields.emplace_back("last-event-id", last);
    session_->OnGet(exchange);
    return exchange;
  }
  void Pause() {
    bool late = false;
    TimerHandle timer(world_.services().loop);
    timer.Start(milliseconds(100), [&] { late = true; });
    testing::RunUntil(world_.services().loop, [&] { return late; });
  }
  static Json Answer(const FakeExchange& exchange) {
    return exchange.answer ? Json::parse(exchange.answer->body) : Json();
  }
  static std::size_t Count(const std::string& text, std::string_view what) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  }

  FakeWorld world_;
  std::optional<HttpSession> session_;
  bool over_ = false;
};

TEST_F(HttpSessionTest, AReplyAloneIsJson) {
  const auto call = Ask(1, "tools/call", {{"name", "note"}, {"arguments", {{"text", "x"}}}});
  ASSERT_TRUE(call->answer);
  EXPECT_EQ(Answer(*call)["result"]["content"][0]["text"], "x");
  EXPECT_EQ(call->answer->status, 200);
  EXPECT_EQ(call->answer->fields[0].second, session_->id());
  EXPECT_EQ(Ask(2, "nonsense", Json::object())->answer->status, 200) << "told in the body alone";
}

TEST_F(HttpSessionTest, WhatIsAboutARequestGoesToItsPost) {
  const auto first = Wait(1, true);
  const auto second = Wait(2, true);
  world_.Print("one\n");
  world_.FinishLast();
  EXPECT_TRUE(second->ended);
  EXPECT_FALSE(first->ended);
  EXPECT_NE(second->stream.find("\"progressToken\":2"), std::string::npos) << second->stream;
  EXPECT_EQ(second->stream.find("\"progressToken\":1"), std::string::npos);
  EXPECT_NE(second->stream.find("\"id\":2,\"result\""), std::string::npos);
  EXPECT_EQ(second->fields[0].second, session_->id());
  world_.Finish();
  EXPECT_TRUE(first->ended);
}

TEST_F(HttpSessionTest, TheFirstEventHasAnIdAndNothingElse) {
  auto call = Wait(1, true);
  world_.Print("one\n");
  EXPECT_TRUE(
      call->stream.starts_with("id: 2-0\nretry: 1000\ndata: \n\nid: 2-1\nevent: message\ndata: {"))
      << call->stream;
  world_.Finish();
  Begin("2025-06-18");
  call = Wait(1, true);
  world_.Print("one\n");
  EXPECT_TRUE(call->stream.starts_with("id: 2-1\n"))
      << "older clients read each event: " << call->stream;
  world_.Finish();
}

TEST_F(HttpSessionTest, AClientThatGoesCancelsNothingAndComesBack) {
  const auto call = Wait(1, true);
  world_.Print("one\n");
  call->Go();
  world_.Turn();
  EXPECT_EQ(world_.running(), 1u);
  EXPECT_FALSE(session_->idle());
  const auto again = Get("2-1");
  EXPECT_TRUE(again->streams());
  EXPECT_EQ(again->stream.find("id: 2-1\n"), std::string::npos) << "it has that";
  EXPECT_FALSE(again->ended);
  again->Go();
  world_.Finish();
  const auto late = Get("2-1");
  EXPECT_NE(late->stream.find("\"id\":1,\"result\""), std::string::npos) << late->stream;
  EXPECT_TRUE(late->ended);
  const auto all = Get("2-0");
  EXPECT_NE(all->stream.find("id: 2-1\n"), std::string::npos);
  EXPECT_TRUE(all->ended);
}

// Its first stream had not begun yet.
TEST_F(HttpSessionTest, AClientThatComesBackBeforeItHasGoneLeavesTheFirstStream) {
  const auto call = Wait(1);
  const auto again = Get("2-0");
  EXPECT_TRUE(call->streams() && call->ended);
  world_.Finish();
  EXPECT_TRUE(again->ended);
  EXPECT_NE(again->stream.find("\"id\":1,\"result\""), std::string::npos) << again->stream;
}

TEST_F(HttpSessionTest, OnlyWhatIsKeptCanBeHadAgain) {
  for (const char* last : {"99-1", "x", "", "1", "1-", "-1", "1-x", "1-1 ", "-"}) {
    if (*last == '\0') continue;
    const auto exchange = Get(last);
    ASSERT_TRUE(exchange->answer) << last;
    EXPECT_EQ(exchange->answer->status, 404) << last;
  }
  Begin("2025-11-25", {.events = 3});
  Ask(1, "tools/call", {{"name", "note"}, {"arguments", {{"text", "x"}}}});
  const auto listens = Get();
  for (int i = 0; i < 10; ++i) session_->session().ListChanged(ListKind::kTools);
  EXPECT_EQ(Count(listens->stream, "list_changed"), 10u);
  listens->Go();
  EXPECT_EQ(Count(Get("0-1")->stream, "list_changed"), 3u);
}

TEST_F(HttpSessionTest, WhatIsAboutNoRequestWaitsForAGet) {
  session_->session().ListChanged(ListKind::kTools);
  const auto listens = Get();
  EXPECT_EQ(Count(listens->stream, "tools/list_changed"), 1u) << listens->stream;
  session_->session().ListChanged(ListKind::kResources);
  EXPECT_EQ(Count(listens->stream, "resources/list_changed"), 1u);
  EXPECT_EQ(Get()->answer->status, 409) << "one is enough";
  listens->Go();
  const auto again = Get();
  EXPECT_EQ(Count(again->stream, "list_changed"), 0u) << "it has them";
  session_->Shutdown();
  EXPECT_TRUE(again->ended);
}

TEST_F(HttpSessionTest, AQuestionGoesToThePostOfItsCall) {
  world_.Enable({"ask"});
  const auto listens = Get();
  const auto call = Ask(1, "tools/call", {{"name", "ask"}, {"arguments", {{"text", "once"}}}});
  EXPECT_NE(call->stream.find("elicitation/create"), std::string::npos) << call->stream;
  EXPECT_EQ(listens->stream.find("elicitation"), std::string::npos);
  const Json content = {{"action", "accept"}, {"content", {{"approve", true}}}};
  const auto said = Post({{"jsonrpc", "2.0"}, {"id", "approval-1"}, {"result", content}});
  EXPECT_EQ(said->answer->status, 202);
  EXPECT_TRUE(call->ended);
  EXPECT_NE(call->stream.find("approved"), std::string::npos);
}

// Nothing is ever said of it, so that nobody would end its stream.
TEST_F(HttpSessionTest, ACancelledCallEndsItsStream) {
  const auto call = Wait(1);
  Post({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}});
  world_.Turn();
  EXPECT_EQ(world_.running(), 0u);
  EXPECT_TRUE(call->ended);
  EXPECT_EQ(call->stream.find("result"), std::string::npos) << call->stream;
}

TEST_F(HttpSessionTest, ABatchHasOneReply) {
  Begin("2025-03-26");
  const auto batch = Post(Json::parse(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])"));
  ASSERT_TRUE(batch->answer);
  EXPECT_EQ(Answer(*batch).size(), 2u) << batch->answer->body;
  EXPECT_EQ(Post(Json::parse(R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])"))
                ->answer->status,
            202);
}

TEST_F(HttpSessionTest, HasOnlySoManyStreams) {
  Begin("2025-11-25", {.streams = 2, .keep_stream = milliseconds(1)});
  Wait(1);
  Wait(2);
  EXPECT_EQ(Wait(3)->answer->status, 503);
  world_.Finish();
  Pause();
  EXPECT_FALSE(Wait(4)->answer) << "one has ended";
  world_.Finish();
  world_.Finish();
}

TEST_F(HttpSessionTest, WantOfMemoryEndsAConnectionAndNoMore) {
  Begin("2025-11-25", {.streams = 1000});
  bool dropped = false;
  for (std::size_t nth = 1;; ++nth) {
    const auto call = Wait(1, true);
    bool failed = false;
    {
      const testing::FailingNew failing(nth);
      try {
        world_.Print("one\n");
      } catch (const std::bad_alloc&) {
        // In the test itself, or before the session: the loop of a server ends the connection.
      }
      failed = failing.failed();
    }
    dropped = dropped || call->dropped;
    world_.Finish();
    EXPECT_TRUE(call->ended || call->dropped || call->answer) << nth;
    if (!failed) break;
  }
  EXPECT_TRUE(dropped);
  EXPECT_TRUE(Ask(2, "ping", Json::object())->answer);
}

TEST_F(HttpSessionTest, EndsWhenNobodyUsesIt) {
  Begin("2025-11-25", {.idle = milliseconds(20)});
  auto listens = Get();
  Pause();
  EXPECT_FALSE(over_) << "its client listens";
  listens->Go();
  const auto call = Wait(1);
  call->Go();
  Pause();
  EXPECT_FALSE(over_) << "its call runs";
  world_.Finish();
  Pause();
  EXPECT_TRUE(over_);
}

}  // namespace
}  // namespace pa
