#include "supervisor/mcp/open_calls.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/support/fake_transport.h"
#include "tests/support/fake_world.h"
#include "tests/support/json.h"

namespace pa {
namespace {

using testing::Json;

// Two connections of one server: that of the world, and another.
class OpenCallsTest : public ::testing::Test {
 protected:
  OpenCallsTest() { other_.emplace(world_.services(), world_.state(), transport_); }
  ~OpenCallsTest() override { EndOther(); }

  void EndOther() {
    if (!other_) return;
    bool ended = false;
    other_->WhenEnded([&] { ended = true; });
    other_->Shutdown();
    EXPECT_TRUE(ended);
    other_.reset();
  }
  static std::string Line(int id, std::string_view method, Json params) {
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities",
                        {{"elicitation", Json::object()},
                         {"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}}}};
    return Json({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}).dump();
  }
  static Json Last(const FakeTransport& transport) {
    return transport.sent.empty() ? Json() : Json::parse(transport.sent.back());
  }
  // Asks on the world's connection, and returns the requestState.
  std::string Parked() {
    world_.Enable({"ask"});
    world_.session().OnLine(Line(1, "tools/call", Ask()));
    const Json result = Last(world_.transport)["result"];
    EXPECT_EQ(result["resultType"], "input_required") << result;
    return result["requestState"];
  }
  static Json Ask() { return {{"name", "ask"}, {"arguments", {{"text", "once"}}}}; }
  static Json Answered(const std::string& state) {
    Json params = Ask();
    params["requestState"] = state;
    params["inputResponses"] = {
        {"approve", {{"action", "accept"}, {"content", {{"approve", true}}}}}};
    return params;
  }
  // The id of a task of the world's connection.
  std::string TaskOfWorld() {
    world_.DetachAfter(std::chrono::milliseconds(1));
    world_.session().OnLine(
        Line(1, "tools/call", {{"name", "wait"}, {"arguments", Json::object()}}));
    world_.WaitFor(world_.transport.sent.size() + 1);
    return Last(world_.transport)["result"]["taskId"];
  }

  FakeWorld world_;
  FakeTransport transport_;
  std::optional<Session> other_;
};

TEST_F(OpenCallsTest, TheAnswerToAQuestionMayComeOnAnotherConnection) {
  const std::string state = Parked();
  EXPECT_EQ(world_.session().in_flight(), 1u);
  const std::size_t before = world_.transport.sent.size();
  other_->OnLine(Line(7, "tools/call", Answered(state)));
  const Json reply = Last(transport_);
  EXPECT_EQ(reply["id"], 7);
  EXPECT_EQ(reply["result"]["content"][0]["text"], "approved") << reply;
  EXPECT_EQ(world_.transport.sent.size(), before);
  EXPECT_EQ(world_.session().in_flight(), 0u);
  EXPECT_EQ(other_->in_flight(), 0u);
  other_->OnLine(Line(8, "tools/call", Answered(state)));
  EXPECT_EQ(Last(transport_)["error"]["code"], -32602) << "once";
}

TEST_F(OpenCallsTest, ATaskIsSeenFromEachConnection) {
  const std::string task = TaskOfWorld();
  const Json id = {{"taskId", task}};
  other_->OnLine(Line(1, "tasks/get", id));
  EXPECT_EQ(Last(transport_)["result"]["status"], "working") << Last(transport_);
  const Json filter = {{"notifications", {{"taskIds", Json::array({task})}}}};
  other_->OnLine(Line(2, "subscriptions/listen", filter));
  world_.Finish();
  EXPECT_EQ(Last(transport_)["method"], "notifications/tasks") << Last(transport_);
  EXPECT_EQ(Last(transport_)["params"]["status"], "completed");
  other_->OnLine(Line(3, "tasks/get", id));
  EXPECT_EQ(Last(transport_)["result"]["result"]["content"][0]["text"], "finished");
}

TEST_F(OpenCallsTest, AConnectionEndsWithItsOwnCallsAlone) {
  const std::string task = TaskOfWorld();
  other_->OnLine(Line(1, "tools/call", {{"name", "wait"}, {"arguments", Json::object()}}));
  EXPECT_EQ(world_.running(), 2u);
  EndOther();
  EXPECT_EQ(world_.running(), 1u);
  world_.session().OnLine(Line(2, "tasks/get", {{"taskId", task}}));
  EXPECT_EQ(Last(world_.transport)["result"]["status"], "working");
}

TEST_F(OpenCallsTest, AQuestionEndsWithTheConnectionOfItsCall) {
  world_.Enable({"ask"});
  other_->OnLine(Line(1, "tools/call", Ask()));
  const std::string state = Last(transport_)["result"]["requestState"];
  EXPECT_EQ(other_->in_flight(), 1u);
  EndOther();
  world_.session().OnLine(Line(2, "tools/call", Answered(state)));
  EXPECT_EQ(Last(world_.transport)["error"]["code"], -32602);
}

// The call goes on where its answer came from, and so it ends there.
TEST_F(OpenCallsTest, WhoBringsTheAnswerHasTheCall) {
  world_.Enable({"ask"});
  other_->OnLine(
      Line(1, "tools/call", {{"name", "ask"}, {"arguments", {{"text", "first second"}}}}));
  const std::string state = Last(transport_)["result"]["requestState"];
  Json answered = Answered(state);
  answered["arguments"]["text"] = "first second";
  bool ended = false;
  other_->Shutdown();
  EXPECT_EQ(other_->in_flight(), 0u) << "it was cancelled";
  other_->WhenEnded([&] { ended = true; });
  EXPECT_TRUE(ended);
  other_.reset();
  world_.session().OnLine(
      Line(2, "tools/call", {{"name", "ask"}, {"arguments", {{"text", "first second"}}}}));
  other_.emplace(world_.services(), world_.state(), transport_);
  answered["requestState"] = Last(world_.transport)["result"]["requestState"];
  other_->OnLine(Line(3, "tools/call", answered));
  const Json second = Last(transport_)["result"];
  EXPECT_EQ(second["resultType"], "input_required") << "the second question: " << second;
  EXPECT_EQ(world_.session().in_flight(), 0u);
  EXPECT_EQ(other_->in_flight(), 1u);
}

}  // namespace
}  // namespace pa
