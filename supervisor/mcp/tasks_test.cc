#include "supervisor/mcp/tasks.h"

#include <gtest/gtest.h>

#include "supervisor/call/tool_result.h"
#include "tests/support/failing_new.h"
#include "tests/support/fake_world.h"
#include "tests/support/json.h"
#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using testing::Json;
using testing::ParsedJson;

const Json kTakesTasks = {{"extensions", {{std::string(kTasksExtension), Json::object()}}}};

TEST(TakesTasks, IsWhatTheClientDeclares) {
  EXPECT_FALSE(TakesTasks(nullptr));
  for (const char* no : {"{}", R"({"extensions":{}})", R"({"extensions":[]})", R"({"tasks":{}})",
                         R"({"extensions":{"io.modelcontextprotocol/tasks":null}})",
                         R"({"extensions":{"io.modelcontextprotocol/tasks":true}})"}) {
    const JsonValue capabilities = ParsedJson(no);
    EXPECT_FALSE(TakesTasks(&capabilities)) << no;
  }
  const JsonValue capabilities = ParsedJson(kTakesTasks.dump());
  EXPECT_TRUE(TakesTasks(&capabilities));
}

class TasksTest : public ::testing::Test {
 protected:
  void SetUp() override { world_.DetachAfter(milliseconds(5)); }

  void Send(FakeWorld& world, int id, std::string_view method, Json params,
            const Json& capabilities = kTakesTasks) {
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities", capabilities}};
    const Json request = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
    world.session().OnLine(request.dump());
  }
  void Wait(int id, const Json& capabilities = kTakesTasks) {
    Send(world_, id, "tools/call", {{"name", "wait"}, {"arguments", Json::object()}}, capabilities);
  }
  // What was sent last.
  Json Last() const {
    return world_.transport.sent.empty() ? Json() : Json::parse(world_.transport.sent.back());
  }
  // The reply to a request that is answered at once.
  Json Ask(std::string_view method, Json params, const Json& capabilities = kTakesTasks) {
    const std::size_t before = world_.transport.sent.size();
    Send(world_, 900, method, std::move(params), capabilities);
    if (world_.transport.sent.size() == before) return {};
    return Json::parse(world_.transport.sent.at(before));
  }
  // The id of a task that a call has become.
  std::string Task(int id) {
    Wait(id);
    world_.WaitFor(world_.transport.sent.size() + 1);
    EXPECT_EQ(Last()["result"]["resultType"], "task") << Last();
    return Last()["result"]["taskId"];
  }
  Json State(const std::string& task) { return Ask("tasks/get", {{"taskId", task}})["result"]; }

  FakeWorld world_;
};

TEST_F(TasksTest, ALongCallBecomesOne) {
  Wait(1);
  EXPECT_TRUE(world_.transport.sent.empty());
  world_.WaitFor(1);
  const Json created = Last();
  EXPECT_EQ(created["id"], 1);
  const Json& task = created["result"];
  EXPECT_EQ(task["resultType"], "task");
  EXPECT_EQ(task["status"], "working");
  EXPECT_EQ(task["statusMessage"], "wait");
  EXPECT_EQ(task["pollIntervalMs"], 1000);
  EXPECT_EQ(task["ttlMs"], 3'600'000 + 600'000) << "the time limit and an hour";
  EXPECT_FALSE(task.contains("content"));
  Json state = State(task["taskId"]);
  EXPECT_EQ(state["resultType"], "complete");
  EXPECT_EQ(state["status"], "working");
  EXPECT_EQ(state["createdAt"], task["createdAt"]);
  EXPECT_EQ(world_.session().in_flight(), 1u);
  world_.Finish();
  EXPECT_EQ(world_.session().in_flight(), 0u);
  EXPECT_EQ(world_.transport.sent.size(), 2u) << "the result is fetched";
  state = State(task["taskId"]);
  EXPECT_EQ(state["status"], "completed");
  EXPECT_EQ(state["result"]["content"][0]["text"], "finished");
  EXPECT_EQ(state["result"]["structuredContent"]["success"], true);
  EXPECT_EQ(state["result"]["resultType"], "complete");
}

TEST_F(TasksTest, AShortCallIsAnsweredAsEver) {
  world_.DetachAfter(std::chrono::minutes(1));
  Wait(1);
  world_.Finish();
  EXPECT_EQ(Last()["result"]["content"][0]["text"], "finished");
  EXPECT_TRUE(world_.services().jobs.all().empty());
}

TEST_F(TasksTest, OnlyWhoDeclaresThemGetsThem) {
  Wait(1, Json::object());
  world_.DetachAfter(milliseconds(0));
  Wait(2);
  world_.Wait();
  EXPECT_TRUE(world_.transport.sent.empty());
  world_.Finish();
  world_.Finish();
  EXPECT_EQ(world_.transport.sent.size(), 2u);
  EXPECT_EQ(Last()["result"]["content"][0]["text"], "finished");
}

TEST_F(TasksTest, WithoutTheDeclarationNothingIsToldOfThem) {
  const std::string task = Task(1);
  const Json needed = {{"requiredCapabilities", kTakesTasks}};
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const Json reply = Ask(method, {{"taskId", task}}, Json::object());
    EXPECT_EQ(reply["error"]["code"], -32021) << method;
    EXPECT_EQ(reply["error"]["data"], needed) << method;
  }
  const Json listen = {{"notifications", {{"taskIds", Json::array({task})}}}};
  EXPECT_EQ(Ask("subscriptions/listen", listen, Json::object())["error"]["code"], -32021);
  EXPECT_EQ(world_.running(), 1u) << "not cancelled";
}

TEST_F(TasksTest, AnUnknownOneIsAnInvalidParameter) {
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    EXPECT_EQ(Ask(method, {{"taskId", "0123456789abcdef"}})["error"]["code"], -32602) << method;
    EXPECT_EQ(Ask(method, {{"taskId", 5}})["error"]["code"], -32602) << method;
    EXPECT_EQ(Ask(method, Json::object())["error"]["code"], -32602) << method;
  }
  EXPECT_EQ(Ask("tasks/list", Json::object())["error"]["code"], -32601);
}

TEST_F(TasksTest, ACancelEndsTheCall) {
  const std::string task = Task(1);
  const Json reply = Ask("tasks/cancel", {{"taskId", task}});
  EXPECT_EQ(reply["result"]["resultType"], "complete");
  EXPECT_FALSE(reply["result"].contains("status"));
  EXPECT_EQ(world_.running(), 0u);
  const Json state = State(task);
  EXPECT_EQ(state["status"], "cancelled");
  EXPECT_FALSE(state.contains("result"));
  EXPECT_TRUE(Ask("tasks/cancel", {{"taskId", task}}).contains("result")) << "once more";
  EXPECT_TRUE(Ask("tasks/update", {{"taskId", task}, {"inputResponses", Json::object()}})
                  .contains("result"));
}

// The cancel of a request names a request, and this one has its reply.
TEST_F(TasksTest, ACancelOfTheRequestIsNoneOfTheTask) {
  Task(1);
  world_.session().OnLine(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_EQ(world_.running(), 1u);
}

TEST_F(TasksTest, WhatIsCancelledBeforeBecomesNone) {
  for (const bool stubborn : {false, true}) {
    world_.stubborn = stubborn;
    Wait(1);
    world_.session().OnLine(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    EXPECT_EQ(world_.running(), stubborn ? 1u : 0u);
    world_.Wait();
    EXPECT_TRUE(world_.transport.sent.empty());
    EXPECT_TRUE(world_.services().jobs.all().empty());
  }
  world_.Finish();
  EXPECT_TRUE(world_.transport.sent.empty());
}

TEST_F(TasksTest, WhoListensHearsOfTheEnd) {
  const std::string task = Task(1);
  const Json filter = {{"notifications", {{"taskIds", {task, "unknown"}}}}};
  const std::size_t before = world_.transport.sent.size();
  const Json acknowledged = Ask("subscriptions/listen", filter);
  EXPECT_EQ(acknowledged["params"]["notifications"]["taskIds"], Json::array({task}));
  EXPECT_EQ(world_.transport.sent.size(), before + 2) << "the present state follows";
  world_.Finish();
  const Json told = Last();
  EXPECT_EQ(told["method"], "notifications/tasks");
  EXPECT_EQ(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 900);
  EXPECT_EQ(told["params"]["taskId"], task);
  EXPECT_EQ(told["params"]["status"], "completed");
  EXPECT_EQ(told["params"]["result"]["content"][0]["text"], "finished");
  // A client that listens late is told at once.
  Send(world_, 901, "subscriptions/listen", filter);
  EXPECT_EQ(Last()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 901);
  EXPECT_EQ(Last()["params"]["status"], "completed");
}

TEST_F(TasksTest, ProgressEndsWithTheReply) {
  const Json meta = {{"progressToken", 7},
                     {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", kTakesTasks}};
  const Json request = {
      {"jsonrpc", "2.0"},
      {"id", 1},
      {"method", "tools/call"},
      {"params", {{"name", "wait"}, {"arguments", Json::object()}, {"_meta", meta}}}};
  world_.DetachAfter(milliseconds(200));
  world_.session().OnLine(request.dump());
  world_.Print("one\n");
  world_.WaitFor(2);
  EXPECT_EQ(Json::parse(world_.transport.sent[0])["params"]["message"], "one");
  const Json task = Last()["result"];
  world_.Print("two\n");
  world_.Wait();
  EXPECT_EQ(world_.transport.sent.size(), 2u);
  const auto job = world_.services().jobs.Find(task["taskId"].get<std::string>());
  ASSERT_TRUE(job);
  ASSERT_NE(job->log(), nullptr);
  EXPECT_EQ((*world_.services().results.Read(job->uri))->bytes, "one\ntwo\n");
}

TEST_F(TasksTest, EndWithTheSession) {
  Task(1);
  bool ended = false;
  world_.session().WhenEnded([&] { ended = true; });
  world_.session().OnClosed();
  EXPECT_TRUE(ended);
  EXPECT_EQ(world_.running(), 0u);
}

// Each allocation that there is fails once when the call becomes a task and when it ends: the
// request has one answer, and the call is not lost.
TEST_F(TasksTest, WithoutMemoryTheRequestIsAnsweredAllTheSame) {
  std::size_t failures = 0;
  for (bool failed = true; failed;) {
    FakeWorld world;
    world.DetachAfter(milliseconds(1));
    Send(world, 1, "tools/call", {{"name", "wait"}, {"arguments", Json::object()}});
    TimerHandle later(world.services().loop);
    later.Start(milliseconds(10), [] {});
    testing::FailingNew failing(failures + 1);
    world.Wait();
    failing.Stop();
    failed = failing.failed();
    if (failed) ++failures;
    const bool task = !world.transport.sent.empty();
    ASSERT_EQ(world.running(), 1u) << failures;
    world.Finish();
    ASSERT_EQ(world.transport.sent.size(), 1u) << failures;
    EXPECT_EQ(Json::parse(world.transport.sent[0])["result"].contains("taskId"), task);
  }
  EXPECT_GT(failures, 10u);
}

}  // namespace
}  // namespace pa
