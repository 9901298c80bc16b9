#include "supervisor/mcp/questions.h"

#include <gtest/gtest.h>

#include "tests/support/failing_new.h"
#include "tests/support/fake_world.h"
#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using testing::ParsedJson;

TEST(KindsIn, ElicitationByCapabilityAndRevision) {
  const auto can = [](std::string_view text, Revision revision = Revision::k2025_11_25) {
    const JsonValue capabilities = ParsedJson(text);
    return KindsIn(&capabilities, revision).Has(InputKind::kElicitation);
  };
  EXPECT_TRUE(can(R"({"elicitation":{}})"));
  EXPECT_TRUE(can(R"({"elicitation":{}})", Revision::k2025_06_18));
  EXPECT_TRUE(can(R"({"elicitation":{}})", kModernRevision));
  EXPECT_TRUE(can(R"({"elicitation":{"form":{},"url":{}}})"));
  EXPECT_FALSE(can(R"({"elicitation":{"url":{}}})"));
  EXPECT_FALSE(can(R"({"elicitation":{}})", Revision::k2025_03_26));
  EXPECT_FALSE(can(R"({"elicitation":true})"));
  EXPECT_FALSE(can("{}"));
  EXPECT_FALSE(KindsIn(nullptr, kModernRevision).elicitation);
}

TEST(AnswerIn, OnlyAcceptIsYes) {
  EXPECT_EQ(AnswerIn(ParsedJson(R"({"action":"accept","content":{"approve":true}})")),
            Answer::kAccept);
  EXPECT_EQ(AnswerIn(ParsedJson(R"({"action":"decline"})")), Answer::kDecline);
  EXPECT_EQ(AnswerIn(ParsedJson(R"({"action":"accept","content":{"approve":false}})")),
            Answer::kDecline);
  EXPECT_EQ(AnswerIn(ParsedJson(R"({"action":"decline","content":{"approve":true}})")),
            Answer::kDecline);
  // What Codex with full access says by itself, and what else is no word of a person's.
  for (const char* other :
       {R"({"action":"accept"})", R"({"action":"accept","content":{}})",
        R"({"action":"accept","content":null})", R"({"action":"accept","content":true})",
        R"({"action":"accept","content":{"approve":"true"}})",
        R"({"action":"accept","content":{"approve":1}})",
        R"({"action":"accept","content":{"Approve":true}})",
        R"({"action":"cancel","content":{"approve":true}})"}) {
    EXPECT_EQ(AnswerIn(ParsedJson(other)), Answer::kCancel) << other;
  }
  for (const char* other : {R"({"action":"cancel"})", R"({"action":"ACCEPT"})",
                            R"({"action":true})", "{}", "[]", "1"}) {
    EXPECT_EQ(AnswerIn(ParsedJson(other)), Answer::kCancel) << other;
  }
}

class ElicitationsTest : public ::testing::Test {
 protected:
  static std::string CallOf(int id) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"tools/call","params":{"name":"ask","arguments":{"text":"deploy"}}})";
  }
  void Open(FakeWorld& world) {
    world.session().OnLine(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}})");
    world.Enable({"ask"});
    world.transport.sent.clear();
  }
};

TEST_F(ElicitationsTest, NobodyAnswers) {
  FakeWorld world(std::chrono::milliseconds(20));
  Open(world);
  world.session().OnLine(CallOf(1));
  ASSERT_EQ(world.transport.sent.size(), 1u);
  world.Wait();
  ASSERT_EQ(world.transport.sent.size(), 3u);
  EXPECT_EQ(world.transport.sent[1],
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)"
            R"({"requestId":"approval-1","reason":"no answer in time"}})");
  EXPECT_NE(world.transport.sent[2].find("did not answer"), std::string::npos);
  world.session().OnLine(R"({"jsonrpc":"2.0","id":"approval-1","result":{"action":"accept",)"
                         R"("content":{"approve":true}}})");
  EXPECT_EQ(world.transport.sent.size(), 3u) << "too late";
}

TEST_F(ElicitationsTest, ASessionThatEndsTakesItsQuestionsWithIt) {
  FakeWorld world;
  Open(world);
  for (int id = 1; id <= 5; ++id) world.session().OnLine(CallOf(id));
  EXPECT_EQ(world.session().in_flight(), 5u);
  world.session().OnClosed();
  EXPECT_EQ(world.session().in_flight(), 0u);
}

class ParkedCallsTest : public ::testing::Test {
 protected:
  static std::string Request(int id, const std::string& more = "") {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"tools/call","params":{"name":"ask","arguments":{"text":"deploy"},)" +
           more +
           R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}})";
  }
  static std::string StateIn(const std::string& line) {
    const JsonValue reply = ParsedJson(line);
    const JsonValue* result = reply.Find("result");
    const JsonValue* state = result == nullptr ? nullptr : result->Find("requestState");
    return state == nullptr ? "" : state->AsString();
  }
  static std::string Retry(int id, const std::string& state) {
    return Request(id, R"("requestState":")" + state +
                           R"(","inputResponses":{"approve":{"action":"accept",)"
                           R"("content":{"approve":true}}},)");
  }
};

TEST_F(ParkedCallsTest, GoOnWithTheAnswerOnce) {
  FakeWorld world;
  world.Enable({"ask"});
  world.session().OnLine(Request(1));
  const std::string state = StateIn(world.transport.sent.at(0));
  EXPECT_EQ(state.size(), 32u);
  EXPECT_EQ(world.session().in_flight(), 1u) << "its request is answered, the call waits";
  world.session().OnLine(Retry(2, state));
  EXPECT_NE(world.transport.sent.at(1).find(R"("id":2,"result":{"content")"), std::string::npos);
  EXPECT_NE(world.transport.sent.at(1).find("approved"), std::string::npos);
  EXPECT_EQ(world.session().in_flight(), 0u);
  world.session().OnLine(Retry(3, state));
  EXPECT_NE(world.transport.sent.at(2).find("-32602"), std::string::npos);
}

TEST_F(ParkedCallsTest, TakeNoAnswerToAnotherCall) {
  FakeWorld world;
  world.Enable({"ask"});
  world.session().OnLine(Request(1));
  std::string other = Retry(2, StateIn(world.transport.sent.at(0)));
  const std::string same = Retry(3, StateIn(world.transport.sent.at(0)));
  other.replace(other.find("deploy"), 6, "delete");
  world.session().OnLine(other);
  EXPECT_NE(world.transport.sent.at(1).find("another name or other arguments"), std::string::npos);
  world.session().OnLine(same);
  EXPECT_NE(world.transport.sent.at(2).find("approved"), std::string::npos) << "it still waits";
}

TEST_F(ParkedCallsTest, WaitForALimitedTime) {
  FakeWorld world(std::chrono::milliseconds(20));
  world.Enable({"ask"});
  world.session().OnLine(Request(1));
  const std::string state = StateIn(world.transport.sent.at(0));
  world.Wait();
  EXPECT_EQ(world.session().in_flight(), 0u);
  EXPECT_EQ(world.transport.sent.size(), 1u) << "the request has its reply";
  world.session().OnLine(Retry(2, state));
  EXPECT_NE(world.transport.sent.at(1).find("has expired"), std::string::npos);
}

TEST_F(ParkedCallsTest, AreLimitedInNumber) {
  FakeWorld world;
  world.Enable({"ask"});
  for (int id = 0; id < 256; ++id) world.session().OnLine(Request(id));
  EXPECT_EQ(world.session().in_flight(), 256u);
  world.session().OnLine(Request(256));
  EXPECT_NE(world.transport.sent.back().find("too many calls wait"), std::string::npos)
      << world.transport.sent.back();
  world.session().OnLine(Retry(257, StateIn(world.transport.sent.at(0))));
  world.session().OnLine(Request(258));
  EXPECT_NE(StateIn(world.transport.sent.back()), "") << "there is a place again";
}

TEST_F(ParkedCallsTest, EndWithTheSession) {
  FakeWorld world;
  world.Enable({"ask"});
  bool ended = false;
  world.session().WhenEnded([&] { ended = true; });
  for (int id = 1; id <= 3; ++id) world.session().OnLine(Request(id));
  world.session().OnClosed();
  EXPECT_TRUE(ended);
  EXPECT_EQ(world.transport.sent.size(), 3u);
}

// A cancel names a request; that of a parked call has its reply.
TEST_F(ParkedCallsTest, AreNotCancelledByTheirFirstRequest) {
  FakeWorld world;
  world.Enable({"ask"});
  world.session().OnLine(Request(1));
  world.session().OnLine(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_EQ(world.session().in_flight(), 1u);
  world.session().OnLine(Retry(2, StateIn(world.transport.sent.at(0))));
  EXPECT_NE(world.transport.sent.at(1).find("approved"), std::string::npos);
}

class ParkedInputsTest : public ::testing::Test {
 protected:
  // Asks for these keys, and keeps what comes of it.
  void Ask(const std::vector<std::string>& keys) {
    std::vector<InputRequest> requests;
    for (const std::string& key : keys) requests.push_back({.key = key});
    Detach(inputs_.Ask(std::move(requests), cancel_),
           [this](const Inputs& inputs) { ended_ = inputs; });
  }
  std::vector<std::string> Pending() const {
    std::vector<std::string> keys;
    for (const InputRequest& one : inputs_.required().requests) keys.push_back(one.key);
    return keys;
  }

  TestLoop loop_;
  CancelSource cancel_;
  ParkedInputs inputs_{
      loop_.get(), std::chrono::minutes(5), {.elicitation = true}, [](const InputRequired&) {
        return true;
      }};
  std::optional<Inputs> ended_;
};

TEST_F(ParkedInputsTest, GoOnWithAnswersInTheOrderOfTheQuestions) {
  Ask({"b", "a"});
  EXPECT_FALSE(inputs_.Take(ParsedJson(R"({"inputResponses":{"a":{"n":1},"other":{}}})")));
  EXPECT_EQ(Pending(), std::vector<std::string>{"b"}) << "the other one is answered";
  EXPECT_TRUE(inputs_.Take(ParsedJson(R"({"inputResponses":{"b":{"n":2}}})")));
  inputs_.GoOn();
  ASSERT_TRUE(ended_ && *ended_);
  ASSERT_EQ((*ended_)->size(), 2u);
  EXPECT_EQ((*ended_)->front().Dump(), R"({"n":2})");
  EXPECT_EQ((*ended_)->back().Dump(), R"({"n":1})");
}

TEST_F(ParkedInputsTest, OnlyAnObjectIsAnAnswer) {
  Ask({"approve"});
  for (const char* none : {"{}", R"({"inputResponses":{}})", R"({"inputResponses":null})",
                           R"({"inputResponses":{"approve":null}})", R"({"inputResponses":[]})",
                           R"({"inputResponses":{"approve":"accept"}})"}) {
    EXPECT_FALSE(inputs_.Take(ParsedJson(none))) << none;
  }
  EXPECT_EQ(Pending(), std::vector<std::string>{"approve"});
  inputs_.GoOnWithout(Answer::kCancel);
  ASSERT_TRUE(ended_ && !*ended_);
  EXPECT_EQ(ended_->error(), Answer::kCancel);
}

TEST_F(ParkedInputsTest, NoKeyComesTwice) {
  Ask({"approve"});
  EXPECT_TRUE(inputs_.Take(ParsedJson(R"({"inputResponses":{"approve":{}}})")));
  inputs_.GoOn();
  Ask({"approve"});
  EXPECT_EQ(Pending(), std::vector<std::string>{"approve-2"});
  EXPECT_FALSE(inputs_.Take(ParsedJson(R"({"inputResponses":{"approve":{}}})")));
  inputs_.GoOnWithout(Answer::kCancel);
}

// Each allocation that there is fails once, when the question is asked and when it is answered:
// each request has one answer, and no call is lost.
TEST_F(ParkedCallsTest, WithoutMemoryEachRequestIsAnsweredAllTheSame) {
  std::size_t failures = 0;
  for (bool failed = true; failed;) {
    FakeWorld world;
    world.Enable({"ask"});
    const std::string request = Request(1);
    testing::FailingNew failing(failures + 1);
    world.session().OnLine(request);
    failing.Stop();
    failed = failing.failed();
    if (failed) ++failures;
    ASSERT_EQ(world.transport.sent.size(), 1u) << failures;
    EXPECT_NE(world.transport.sent[0].find(R"("id":1,)"), std::string::npos);
    const bool asked = !StateIn(world.transport.sent[0]).empty();
    EXPECT_EQ(world.session().in_flight(), asked ? 1u : 0u) << world.transport.sent[0];
  }
  EXPECT_GT(failures, 20u);
  failures = 0;
  for (bool failed = true; failed;) {
    FakeWorld world;
    world.Enable({"ask"});
    world.session().OnLine(Request(1));
    const std::string retry = Retry(2, StateIn(world.transport.sent.at(0)));
    testing::FailingNew failing(failures + 1);
    world.session().OnLine(retry);
    failing.Stop();
    failed = failing.failed();
    if (failed) ++failures;
    ASSERT_EQ(world.transport.sent.size(), 2u) << failures;
    EXPECT_NE(world.transport.sent[1].find(R"("id":2,)"), std::string::npos);
  }
  EXPECT_GT(failures, 20u);
}

}  // namespace
}  // namespace pa
