#include "supervisor/mcp/request_states.h"

#include <gtest/gtest.h>

#include "supervisor/call/approval.h"

namespace pa {
namespace {

using namespace std::chrono_literals;

class RequestStatesTest : public ::testing::Test {
 protected:
  std::string Issue() { return states_.Issue(call_, questions_, now_); }
  std::expected<std::vector<Digest>, StateProblem> Redeem(const std::string& state) {
    return states_.Redeem(state, call_, now_);
  }
  static auto Problem(StateProblem problem) {
    return std::expected<std::vector<Digest>, StateProblem>(std::unexpected(problem));
  }

  RequestStates states_{"a key"};
  const Digest call_ = Sha256Of("call");
  const std::vector<Digest> questions_ = {Sha256Of("1"), Sha256Of("2")};
  RequestStates::Time now_{1000s};
};

TEST_F(RequestStatesTest, ComeBackWithWhatWasAsked) {
  EXPECT_EQ(Redeem(Issue()), questions_);
  EXPECT_EQ(Redeem(states_.Issue(call_, {}, now_)), std::vector<Digest>());
  EXPECT_NE(Issue(), Issue());
}

TEST_F(RequestStatesTest, AreGoodForOneUse) {
  const std::string state = Issue();
  const std::string other = Issue();
  EXPECT_TRUE(Redeem(state));
  EXPECT_EQ(Redeem(state), Problem(StateProblem::kUsed));
  EXPECT_TRUE(Redeem(other));
}

TEST_F(RequestStatesTest, Expire) {
  const std::string state = Issue();
  now_ += kAnswerPatience - 1ns;
  EXPECT_TRUE(Redeem(state));
  const std::string late = Issue();
  now_ += kAnswerPatience;
  EXPECT_EQ(Redeem(late), Problem(StateProblem::kExpired));
  EXPECT_EQ(Redeem(state), Problem(StateProblem::kExpired)) << "used, and forgotten since";
}

TEST_F(RequestStatesTest, AreOfOneCallAndOneServer) {
  const std::string state = Issue();
  EXPECT_EQ(states_.Redeem(state, Sha256Of("another"), now_), Problem(StateProblem::kNotThis));
  RequestStates server("another key");
  EXPECT_EQ(server.Redeem(state, call_, now_), Problem(StateProblem::kForged));
  EXPECT_TRUE(Redeem(state)) << "neither has used it up";
}

TEST_F(RequestStatesTest, ACallIsTheSameHoweverItsArgumentsAreWritten) {
  const auto digest = [](std::string_view json) {
    const Result<JsonValue> arguments = ParseJson(json);
    EXPECT_TRUE(arguments) << json;
    return DigestOfCall("edit", &*arguments);
  };
  const Digest call = digest(R"({"path":"a","edits":[{"old":"x","new":"y"},{"old":"z"}],"n":7})");
  EXPECT_EQ(call,
            digest(R"({"n":7.0,"edits":[{"new":"y","old":"x"},{"old":"z"}],"path":"\u0061"})"));
  EXPECT_EQ(
      call,
      digest(
          R"({"path":"a","edits":[{"old":"x","new":"y"},{"old":"z","new":null}],"n":7,"m":null})"));
  EXPECT_NE(call, digest(R"({"path":"a","edits":[{"old":"z"},{"old":"x","new":"y"}],"n":7})"));
  EXPECT_NE(call, digest(R"({"path":"a","edits":[{"old":"x","new":"y"},{"old":"z"}],"n":"7"})"));
  EXPECT_NE(call, digest(R"({"path":"a","edits":[{"old":"x","new":"y"},{"old":"z"},null],"n":7})"));
  EXPECT_EQ(digest("{}"), digest("null"));
  EXPECT_EQ(digest("{}"), DigestOfCall("edit", nullptr));
}

TEST_F(RequestStatesTest, EveryChangedByteShows) {
  const std::string state = Issue();
  for (std::size_t i = 0; i < state.size(); ++i) {
    std::string changed = state;
    changed[i] = changed[i] == '0' ? '1' : '0';
    EXPECT_EQ(Redeem(changed), Problem(StateProblem::kForged)) << i;
  }
  for (std::size_t size = 0; size < state.size(); ++size) {
    EXPECT_EQ(Redeem(state.substr(0, size)), Problem(StateProblem::kForged)) << size;
  }
  EXPECT_EQ(Redeem(state + Hex(Sha256Of("3"))), Problem(StateProblem::kForged));
  EXPECT_TRUE(Redeem(state));
}

TEST_F(RequestStatesTest, TooManyAreNotTaken) {
  for (std::size_t i = 0; i < RequestStates::kMaxUsed; ++i) {
    ASSERT_TRUE(states_.Redeem(states_.Issue(call_, {}, now_), call_, now_));
    now_ += 1us;
  }
  EXPECT_EQ(Redeem(Issue()), Problem(StateProblem::kUsed));
  now_ += kAnswerPatience;
  EXPECT_TRUE(Redeem(Issue()));
}

TEST(DigestOfCall, TellsCallsApart) {
  const auto digest = [](const char* tool, const char* arguments) {
    const JsonValue json = ParseJson(arguments).value();
    return DigestOfCall(tool, &json);
  };
  EXPECT_EQ(digest("make", R"({"target":"a"})"), digest("make", R"({ "target" : "a" })"));
  EXPECT_NE(digest("make", R"({"target":"a"})"), digest("make", R"({"target":"b"})"));
  EXPECT_NE(digest("make", R"({"target":"a"})"), digest("bash", R"({"target":"a"})"));
  EXPECT_EQ(digest("make", "{}"), DigestOfCall("make", nullptr));
}

}  // namespace
}  // namespace pa
