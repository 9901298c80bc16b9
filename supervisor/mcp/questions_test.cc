#include "supervisor/mcp/questions.h"

#include <gtest/gtest.h>

#include "tests/support/fake_world.h"
#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using testing::ParsedJson;

TEST(CanElicit, ByCapabilityAndRevision) {
  const auto can = [](std::string_view text, Revision revision = Revision::k2025_11_25) {
    const JsonValue capabilities = ParsedJson(text);
    return CanElicit(&capabilities, revision);
  };
  EXPECT_TRUE(can(R"({"elicitation":{}})"));
  EXPECT_TRUE(can(R"({"elicitation":{}})", Revision::k2025_06_18));
  EXPECT_TRUE(can(R"({"elicitation":{}})", kModernRevision));
  EXPECT_TRUE(can(R"({"elicitation":{"form":{},"url":{}}})"));
  EXPECT_FALSE(can(R"({"elicitation":{"url":{}}})"));
  EXPECT_FALSE(can(R"({"elicitation":{}})", Revision::k2025_03_26));
  EXPECT_FALSE(can(R"({"elicitation":true})"));
  EXPECT_FALSE(can("{}"));
  EXPECT_FALSE(CanElicit(nullptr, kModernRevision));
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

class InputReplyTest : public ::testing::Test {
 protected:
  auto Reply(const std::string& params, const Digest& call) {
    return InputReplyIn(ParsedJson(params), call, states_);
  }

  RequestStates states_{"a key"};
  const Digest call_ = Sha256Of("call");
  const std::vector<Digest> questions_ = {Sha256Of("question")};
};

TEST_F(InputReplyTest, WhatTheUserSaysIsForWhatHeWasAsked) {
  const std::string state = states_.Issue(call_, questions_, std::chrono::steady_clock::now());
  const auto reply = Reply(R"({"requestState":")" + state +
                               R"(","inputResponses":{"approve":{"action":"accept",)"
                               R"("content":{"approve":true}}}})",
                           call_);
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ((*reply)->answer, Answer::kAccept);
  EXPECT_EQ((*reply)->questions, questions_);
}

TEST_F(InputReplyTest, TooLateIsNo) {
  const std::string state =
      states_.Issue(call_, questions_, std::chrono::steady_clock::now() - kAnswerPatience);
  const auto reply = Reply(R"({"requestState":")" + state +
                               R"(","inputResponses":{"approve":{"action":"accept",)"
                               R"("content":{"approve":true}}}})",
                           call_);
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ((*reply)->answer, Answer::kTimeout);
  EXPECT_TRUE((*reply)->questions.empty());
}

}  // namespace
}  // namespace pa
