// Tasks on real servers: calls that become jobs when they take long, for clients that declare the
// extension.
#include <gtest/gtest.h>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

const Json kTasks = {{"elicitation", Json::object()},
                     {"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}};

class TasksOnServers : public ::testing::Test {
 protected:
  TasksOnServers() { Policy("jobs: {detach_after: 50ms}\n"); }

  void Policy(const std::string& lines) {
    WriteText(project_.home() / ".config/project-actions/policy.yaml", "version: 1\n" + lines);
  }
  static Json Ask(McpClient& client, std::string_view method, Json params) {
    params["_meta"] = ModernMeta(kTasks);
    return client.Request(method, std::move(params));
  }
  static Json Call(McpClient& client, std::string_view tool, Json arguments) {
    return Ask(client, "tools/call",
               {{"name", tool}, {"arguments", std::move(arguments)}})["result"];
  }
  static Json Get(McpClient& client, const Json& task) {
    return Ask(client, "tasks/get", {{"taskId", task["taskId"]}})["result"];
  }
  // The state of the task when it is no longer `working`.
  static Json Settled(McpClient& client, const Json& task) {
    Json state;
    EXPECT_TRUE(Eventually([&] {
      state = Get(client, task);
      return state["status"] != "working";
    })) << state;
    return state;
  }
  bool Exists(const char* name) const { return fs::exists(project_.root() / name); }
  void Go() const { WriteText(project_.root() / "go", ""); }

  static constexpr const char* kUntilGo = "until [ -e go ]; do sleep 0.01; done; ";
  Project project_{
      ".PHONY: slow\nslow:\n\t@echo one; until [ -e go ]; do sleep 0.01; done; exit 3\n"};
};

TEST_F(TasksOnServers, AreOfferedUnlessTheyAreOff) {
  const auto extensions = [&] {
    McpClient client(project_.Server());
    return client.Request("server/discover", {{"_meta", ModernMeta()}})["result"]["capabilities"]
        .value("extensions", Json());
  };
  EXPECT_EQ(extensions(), kTasks["extensions"]);
  Policy("jobs: {detach_after: off}\n");
  EXPECT_EQ(extensions(), Json());
}

TEST_F(TasksOnServers, TheResultIsThatOfTheCall) {
  McpClient client(project_.Server());
  const Json task = Call(client, "make", {{"target", "slow"}});
  ASSERT_EQ(task["resultType"], "task") << task;
  EXPECT_EQ(task["statusMessage"], "make slow");
  // It is a job, too: its log has what was printed before.
  Json read;
  EXPECT_TRUE(Eventually([&] {
    read = Call(client, "job", {{"action", "read"}, {"id", task["taskId"]}})["structuredContent"];
    return read["data"]["lines"] == "one\n";
  })) << read;
  EXPECT_EQ(read["data"]["job"]["state"], "running");
  Go();
  const Json state = Settled(client, task);
  EXPECT_EQ(state["status"], "completed") << "what fails is completed";
  EXPECT_EQ(state["result"]["isError"], true);
  const Json content = state["result"]["structuredContent"];
  EXPECT_EQ(content["error"]["code"], "COMMAND_FAILED");
  EXPECT_EQ(content["data"]["exit_code"], 2);
  EXPECT_EQ(content["data"]["stdout"], "one\n");
  EXPECT_TRUE(content["meta"].contains("audit_id"));
  EXPECT_TRUE(Eventually([&] {
    for (const Json& end : project_.EndsInTheLog()) {
      if (end["api"]["operation"] == "make") return true;
    }
    return false;
  }));
}

TEST_F(TasksOnServers, EveryToolThatExecutesCommandsHasThem) {
  Policy("jobs: {detach_after: 50ms}\npipeline: {tools: [bash]}\nlimits: {concurrent: 8}\n");
  project_.InitGit();
  WriteText(project_.root() / ".git/hooks/pre-commit",
            std::string("#!/bin/sh\n") + kUntilGo + "exit 0\n");
  fs::permissions(project_.root() / ".git/hooks/pre-commit", fs::perms::owner_all);
  McpClient client(project_.Server());
  Call(client, "git_add", {{"paths", Json::array({"Makefile"})}});
  const Json bash = {{"command", kUntilGo}};
  const Json steps = Json::array({{{"id", "a"}, {"tool", "bash"}, {"args", bash}}});
  const std::pair<const char*, Json> calls[] = {
      {"bash", bash},
      {"git_commit", {{"message", "slow"}}},
      {"project_actions", {{"operation", "slow"}}},
      {"pipeline", {{"steps", steps}}},
      {"batch", {{"tool", "bash"}, {"items", Json::array({bash})}}},
  };
  std::vector<Json> tasks;
  for (const auto& [tool, arguments] : calls) {
    tasks.push_back(Call(client, tool, arguments));
    EXPECT_EQ(tasks.back()["resultType"], "task") << tool << tasks.back();
  }
  Go();
  for (const Json& task : tasks) EXPECT_EQ(Settled(client, task)["status"], "completed");
}

TEST_F(TasksOnServers, WhatWaitsForAPlaceIsOne) {
  Policy("jobs: {detach_after: 50ms}\nlimits: {concurrent: 1}\n");
  McpClient client(project_.Server());
  const Json first = Call(client, "bash", {{"command", kUntilGo}});
  const Json second = Call(client, "bash", {{"command", "echo second"}});
  ASSERT_EQ(second["resultType"], "task") << second;
  EXPECT_EQ(Get(client, second)["statusMessage"], "echo second: waiting, 1 before it");
  Go();
  EXPECT_EQ(Settled(client, second)["result"]["structuredContent"]["data"]["stdout"], "second\n");
}

TEST_F(TasksOnServers, ACancelEndsTheTree) {
  McpClient client(project_.Server());
  const Json task = Call(
      client, "bash",
      {{"command", "(setsid sh -c 'while :; do touch alive; sleep 0.02; done' &); sleep 988"}});
  ASSERT_EQ(task["resultType"], "task") << task;
  EXPECT_TRUE(Eventually([&] { return Exists("alive"); }));
  EXPECT_TRUE(Ask(client, "tasks/cancel", {{"taskId", task["taskId"]}}).contains("result"));
  EXPECT_EQ(Settled(client, task)["status"], "cancelled");
  fs::remove(project_.root() / "alive");
  usleep(200'000);
  EXPECT_FALSE(Exists("alive"));
}

TEST_F(TasksOnServers, ATimeoutIsAResult) {
  McpClient client(project_.Server());
  const Json task = Call(client, "bash", {{"command", "echo one; sleep 100"}, {"timeout_ms", 400}});
  ASSERT_EQ(task["resultType"], "task") << task;
  const Json state = Settled(client, task);
  EXPECT_EQ(state["status"], "completed");
  const Json content = state["result"]["structuredContent"];
  EXPECT_EQ(content["error"]["code"], "TIMED_OUT") << content;
  EXPECT_EQ(content["data"]["stdout"], "one\n");
}

// The first question ends the request, as for any call; the next ones belong to the task.
TEST_F(TasksOnServers, QuestionsBeforeAndWithinATask) {
  Policy(
      "jobs: {detach_after: 1s}\n"
      "permissions:\n  - {tool: bash, command: ask, decision: ask}\n");
  McpClient client(project_.Server({"--enable", "bash"}));
  const auto step = [](const char* id, const std::string& command) {
    return Json{{"id", id}, {"tool", "bash"}, {"args", {{"command", command}}}};
  };
  const Json steps =
      Json::array({step("a", "ask; echo x >> count-a"), step("b", "sleep 1.5; echo x >> count-b"),
                   step("c", "ask; echo x >> count-c"), step("d", "ask; echo x >> count-d")});
  Json params = {{"name", "pipeline"}, {"arguments", {{"steps", steps}}}};
  const Json asked = Ask(client, "tools/call", params)["result"];
  ASSERT_EQ(asked["resultType"], "input_required") << asked;
  usleep(1'200'000);  // whoever is asked may take any time: that is no task
  params["requestState"] = asked["requestState"];
  params["inputResponses"] = AnswersTo(asked["inputRequests"]);
  const Json task = Ask(client, "tools/call", params)["result"];
  ASSERT_EQ(task["resultType"], "task") << task;
  std::set<std::string> keys = {asked["inputRequests"].begin().key()};
  for (int i = 0; i < 2; ++i) {
    const Json waits = Settled(client, task);
    ASSERT_EQ(waits["status"], "input_required") << waits;
    EXPECT_EQ(Get(client, task)["inputRequests"], waits["inputRequests"]) << "until it is answered";
    ASSERT_EQ(waits["inputRequests"].size(), 1u);
    EXPECT_TRUE(keys.insert(waits["inputRequests"].begin().key()).second) << "each key once";
    const Json wrong = {{"approve", {{"action", "accept"}, {"content", kYes}}}};
    const auto update = [&](const Json& responses) {
      return Ask(client, "tasks/update",
                 {{"taskId", task["taskId"]}, {"inputResponses", responses}});
    };
    EXPECT_TRUE(update(wrong).contains("result")) << "an answer to another question is ignored";
    EXPECT_EQ(Get(client, task)["status"], "input_required");
    EXPECT_EQ(update(AnswersTo(waits["inputRequests"]))["result"]["resultType"], "complete");
  }
  EXPECT_EQ(Settled(client, task)["status"], "completed");
  for (const char* count : {"count-a", "count-b", "count-c", "count-d"}) {
    EXPECT_EQ(ReadText(project_.root() / count), "x\n") << count << ": no step ran twice";
  }
}

// The time in which the user is asked does not count; and the request that brings the answer
// declares for itself.
TEST_F(TasksOnServers, ARequestThatBringsAnAnswerIsALateOne) {
  Policy(
      "jobs: {detach_after: 1500ms}\n"
      "permissions:\n  - {tool: bash, command: ask, decision: ask}\n");
  McpClient client(project_.Server());
  for (const bool declares : {true, false}) {
    Json params = {{"name", "bash"},
                   {"arguments", {{"command", declares ? "ask; true" : "ask; sleep 2"}}}};
    const Json asked = Ask(client, "tools/call", params)["result"];
    usleep(1'700'000);
    params["requestState"] = asked["requestState"];
    params["inputResponses"] = AnswersTo(asked["inputRequests"]);
    params["_meta"] = ModernMeta(declares ? kTasks : kElicitation);
    const Json result = client.Request("tools/call", params)["result"];
    EXPECT_EQ(result["resultType"], "complete") << declares << result;
  }
}

TEST_F(TasksOnServers, ADeclinedQuestionFailsItsStep) {
  Policy(
      "jobs: {detach_after: 50ms}\n"
      "permissions:\n  - {tool: bash, command: ask, decision: ask}\n");
  McpClient client(project_.Server({"--enable", "bash"}));
  const Json steps = Json::array(
      {{{"id", "a"}, {"tool", "bash"}, {"args", {{"command", "sleep 0.2; touch first"}}}},
       {{"id", "b"}, {"tool", "bash"}, {"args", {{"command", "ask; touch second"}}}}});
  const Json task = Call(client, "pipeline", {{"steps", steps}});
  const Json waits = Settled(client, task);
  ASSERT_EQ(waits["status"], "input_required") << waits;
  Ask(client, "tasks/update",
      {{"taskId", task["taskId"]},
       {"inputResponses", AnswersTo(waits["inputRequests"], "decline")}});
  const Json ended = Settled(client, task);
  EXPECT_EQ(ended["status"], "completed");
  const Json content = ended["result"]["structuredContent"];
  EXPECT_EQ(content["error"]["code"], "APPROVAL_DECLINED") << content;
  EXPECT_TRUE(content["data"]["step_results"].contains("a"));
  EXPECT_TRUE(Exists("first"));
  EXPECT_FALSE(Exists("second"));
}

TEST_F(TasksOnServers, ABackgroundCallHasItsHandle) {
  McpClient client(project_.Server());
  const Json handle = Call(client, "bash", {{"command", kUntilGo}, {"background", true}});
  EXPECT_EQ(handle["resultType"], "complete");
  const Json job = handle["structuredContent"]["data"]["job"];
  usleep(200'000);
  EXPECT_EQ(Call(client, "job", {{"action", "list"}})["structuredContent"]["data"]["jobs"].size(),
            1u)
      << "it is one job";
  Go();
  const Json waited =
      Call(client, "job", {{"action", "wait"}, {"id", job["id"]}})["structuredContent"];
  EXPECT_EQ(waited["data"]["exit_code"], 0) << "a wait is no task, however long";
}

TEST_F(TasksOnServers, WhoDeclaresNothingWaits) {
  McpClient client(project_.Server());
  client.Initialize("2025-11-25", kTasks);
  const int id = client.StartTool("make", {{"target", "slow"}});
  usleep(200'000);
  Go();
  EXPECT_EQ(client.Await(id)["result"]["structuredContent"]["data"]["exit_code"], 2)
      << "an older client declares nothing that way";
}

TEST_F(TasksOnServers, EndWithTheConnection) {
  McpClient client(project_.Server());
  const Json task =
      Call(client, "bash", {{"command", "while :; do touch alive; sleep 0.02; done"}});
  ASSERT_EQ(task["resultType"], "task");
  client.CloseInput();
  EXPECT_TRUE(client.WaitForExit(std::chrono::seconds(5)));
  fs::remove(project_.root() / "alive");
  usleep(200'000);
  EXPECT_FALSE(Exists("alive"));
}

TEST_F(TasksOnServers, NoMoreThanSixtyFour) {
  Policy("jobs: {detach_after: 20ms}\nlimits: {concurrent: 70, queue: 70}\n");
  McpClient client(project_.Server());
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(Call(client, "bash", {{"command", kUntilGo}})["resultType"], "task") << i;
  }
  Json params = {{"name", "bash"}, {"arguments", {{"command", kUntilGo}}}};
  params["_meta"] = ModernMeta(kTasks);
  const int id = client.Start("tools/call", params);
  usleep(200'000);
  Go();
  EXPECT_EQ(client.Await(id)["result"]["resultType"], "complete") << "it is waited for instead";
}

}  // namespace
}  // namespace pa::testing
