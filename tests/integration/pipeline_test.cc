// Pipelines on real servers: values, approvals in both eras, what ends them, what is recorded.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstddef>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMakefile = R"make(.PHONY: test fail rows long
test:
	@echo one; echo two
fail:
	@echo bad >&2; exit 3
rows:
	@echo '[{"n": 1, "name": "a b"}, {"n": 2, "name": "$$(touch pwned)"}]'
long:
	@seq 1 20000
)make";

Json Step(const char* id, const char* tool, Json args) {
  return {{"id", id}, {"tool", tool}, {"args", std::move(args)}};
}
Json Bash(const char* id, const std::string& command) {
  return Step(id, "bash", {{"command", command}});
}

class PipelineTest : public ::testing::Test {
 protected:
  void Policy(const std::string& lines) {
    WriteText(project_.home() / ".config/project-actions/policy.yaml", "version: 1\n" + lines);
  }
  Json Run(Json steps, Json more = Json::object()) {
    McpClient client(project_.Server(arguments_));
    client.Initialize();
    more["steps"] = std::move(steps);
    return client.CallTool("pipeline", more);
  }
  std::size_t LinesIn(const char* name) const {
    const std::string text = ReadText(project_.root() / name);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  // `--enable all` names no tool that a pipeline may call.
  const std::vector<std::string> arguments_ = {"--enable", "make", "--enable", "bash"};
  Project project_{kMakefile};
};

TEST_F(PipelineTest, ValuesGoFromStepToStep) {
  Json rows = Step("rows", "make", {{"target", "rows"}});
  rows["result"] = {{"items", "json"}};
  const Json result =
      Run({rows, Bash("b", "printf '%s\\n' {{rows[0].name}} {{rows[1].name}} \"{{rows[*].n}}\"")},
          {{"return", {{"out", "{{b.stdout}}"}, {"first", "{{rows.json[0].n}}"}}}});
  EXPECT_EQ(result["data"]["out"], "a b\n$(touch pwned)\n[1,2]\n") << result;
  EXPECT_EQ(result["data"]["first"], 1);
  EXPECT_FALSE(fs::exists(project_.root() / "pwned"));
}

TEST_F(PipelineTest, WhatAResultShowsInPartIsAWholeValue) {
  const Json result = Run({Step("l", "make", {{"target", "long"}}),
                           Step("w", "bash", {{"command", "wc -lc"}, {"stdin", "{{l.stdout}}"}}),
                           Bash("last", "echo {{l[19999]}}")},
                          {{"return", {{"wc", "{{w.stdout}}"}, {"last", "{{last.stdout}}"}}}});
  EXPECT_EQ(result["data"]["wc"], " 20000 108894\n") << result;
  EXPECT_EQ(result["data"]["last"], "20000\n");
}

TEST_F(PipelineTest, AFailureTellsAllThatWasDone) {
  McpClient client(project_.Server(arguments_));
  client.Initialize();
  const Json result = client.CallTool(
      "pipeline", {{"steps",
                    {Step("long", "make", {{"target", "long"}}),
                     Step("fail", "make", {{"target", "fail"}}), Bash("never", "touch never")}}});
  EXPECT_EQ(result["error"]["code"], "COMMAND_FAILED");
  EXPECT_EQ(result["error"]["details"]["step"], "fail");
  EXPECT_EQ(result["data"]["completed"], 1);
  const Json& steps = result["data"]["step_results"];
  EXPECT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps["fail"]["result"]["data"]["exit_code"], 2);
  EXPECT_LT(result["data"].dump().size(), 25'000u);
  EXPECT_NE(steps["long"]["result"]["data"]["stdout"].get<std::string>().find("left out"),
            std::string::npos);
  // All of it is at its uri, and so is all that the step printed.
  const auto read = [&](const Json& uri) {
    return client.Request("resources/read", {{"uri", uri}})["result"]["contents"][0]["text"]
        .get<std::string>();
  };
  const Json whole = Json::parse(read(result["meta"]["result_uri"]));
  EXPECT_EQ(whole["step_results"]["long"]["result"]["data"]["exit_code"], 0);
  EXPECT_EQ(read(whole["step_results"]["long"]["result"]["meta"]["result_uri"]).size(), 108'894u);
  EXPECT_FALSE(fs::exists(project_.root() / "never"));
}

TEST_F(PipelineTest, NothingRunsIfAStepIsWrong) {
  const Json result =
      Run({Bash("a", "touch ran"), Bash("b", "echo {{c.stdout}}"), Bash("c", "echo {{a.std}}")});
  EXPECT_EQ(result["error"]["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(result["error"]["details"]["step"], "_validation");
  EXPECT_EQ(result["error"]["details"]["errors"][0]["step"], "b");
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
  Json twenty_one = Json::array();
  for (int i = 0; i < 21; ++i) twenty_one.push_back(Bash(("s" + std::to_string(i)).c_str(), ":"));
  EXPECT_EQ(Run(twenty_one)["error"]["code"], "INVALID_ARGUMENT");
  twenty_one.erase(20);
  EXPECT_TRUE(Run(twenty_one)["success"]);
}

TEST_F(PipelineTest, HoldsNoPipeline) {
  const Json result =
      Run({Bash("a", "touch ran"),
           Step("p", "pipeline", {{"steps", Json::array({Bash("a", "touch ran")})}})});
  EXPECT_EQ(result["error"]["code"], "INVALID_ARGUMENT") << result;
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
}

// What a host permits by the name `pipeline` must not be what it denies by the name `bash`.
TEST_F(PipelineTest, CallsWhatThePolicyLetsItCall) {
  const Json steps = {Step("r", "glob", {{"pattern", "*"}}), Bash("b", "touch ran")};
  Policy("pipeline: {tools: []}\n");
  const Json refused = Run(steps);
  EXPECT_EQ(refused["error"]["code"], "POLICY_DENIED") << refused;
  EXPECT_EQ(refused["error"]["details"]["step"], "b");
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
  EXPECT_TRUE(Run(Json::array({steps[0]}))["success"]) << "it only reads";
  // The line that the refusal suggests.
  const std::string message = refused["error"]["message"];
  const std::size_t begin = message.find("`pipeline: ") + 1;
  Policy(message.substr(begin, message.find('`', begin) - begin) + "\n");
  EXPECT_TRUE(Run(steps)["success"]) << message;
  EXPECT_TRUE(fs::exists(project_.root() / "ran"));
}

TEST_F(PipelineTest, RulesHoldForEachStep) {
  Policy("permissions:\n  - {tool: bash, command: git push, decision: deny, reason: no}\n");
  Json push = {Bash("b", "printf push"), Bash("g", "git {{b.stdout}} x")};
  const Json refused = Run(push);
  EXPECT_EQ(refused["error"]["code"], "POLICY_DENIED") << refused;
  EXPECT_EQ(refused["error"]["details"]["step"], "g");
  push[0] = Bash("b", "printf version");
  EXPECT_NE(Run(push)["error"]["code"], "POLICY_DENIED");
}

TEST_F(PipelineTest, EachCallIsRecordedWithThePipelines) {
  const Json result = Run({Bash("a", "printf 'a value'"), Bash("b", "echo {{a.stdout}}")});
  const std::vector<Json> ends = project_.EndsInTheLog();
  ASSERT_EQ(ends.size(), 3u);
  const Json& pipeline = ends[2];
  EXPECT_EQ(pipeline["api"]["operation"], "pipeline");
  EXPECT_EQ(pipeline["metadata"]["correlation_uid"], result["meta"]["audit_id"]);
  EXPECT_FALSE(pipeline["unmapped"].contains("within"));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ends[i]["api"]["operation"], "bash");
    EXPECT_EQ(ends[i]["unmapped"]["within"], result["meta"]["audit_id"]);
    EXPECT_EQ(ends[i]["actor"]["session"]["uid"], pipeline["actor"]["session"]["uid"]);
  }
  EXPECT_EQ(ends[1]["api"]["request"]["data"]["command"], "echo 'a value'") << "with its values";
}

// ---- approvals ----

class PipelineApproval : public PipelineTest {
 protected:
  PipelineApproval() { Policy("permissions:\n  - {tool: bash, command: ask, decision: ask}\n"); }
  // Three steps that leave a line each; `asks` names those that ask.
  static Json Steps(const std::string& asks) {
    Json steps = Json::array();
    for (const char id : {'a', 'b', 'c'}) {
      const std::string name(1, id);
      const char* ask = asks.contains(id) ? "ask; " : "";
      steps.push_back(Bash(name.c_str(), ask + ("echo x >> count-" + name)));
    }
    return {{"steps", std::move(steps)}};
  }
  void ExpectCounts(std::size_t a, std::size_t b, std::size_t c) const {
    const auto count = [&](const char* name) {
      return fs::exists(project_.root() / name) ? LinesIn(name) : 0;
    };
    EXPECT_EQ(count("count-a"), a);
    EXPECT_EQ(count("count-b"), b);
    EXPECT_EQ(count("count-c"), c);
  }
  void Forget() const {
    for (const char* name : {"count-a", "count-b", "count-c"}) fs::remove(project_.root() / name);
  }
};

Json Batch(const char* tool, Json items, Json more = Json::object()) {
  more["tool"] = tool;
  more["items"] = std::move(items);
  return more;
}

TEST_F(PipelineApproval, OfABatchIsAskedForOnceWithAList) {
  McpClient client(project_.Server(arguments_));
  client.Initialize("2025-11-25", kElicitation);
  Json items = Json::array();
  for (int i = 0; i < 20; ++i) {
    items.push_back(
        {{"command", (i % 2 == 0 ? "ask; echo x >> count-a; : " : "echo x >> count-b; : ") +
                         std::to_string(i)}});
  }
  const int id = client.StartTool("batch", Batch("bash", items));
  const Json question = client.Read();
  ASSERT_EQ(question["method"], "elicitation/create") << question;
  const std::string text = question["params"]["message"];
  for (int i = 0; i < 20; ++i) {
    const std::string call =
        "    bash " + items[static_cast<std::size_t>(i)]["command"].get<std::string>();
    EXPECT_EQ(text.find(call + "\n") != std::string::npos, i % 2 == 0) << text;
  }
  ExpectCounts(0, 10, 0);  // what asks nobody has run
  client.SendLine(Json{{"jsonrpc", "2.0"},
                       {"id", question["id"]},
                       {"result", {{"action", "accept"}, {"content", kYes}}}}
                      .dump());
  const Json result = client.Await(id)["result"]["structuredContent"];
  EXPECT_EQ(result["data"]["succeeded"], 20) << result;
  ExpectCounts(10, 10, 0);
}

const char* const kAsks[] = {"a", "b", "c", "ab", "bc", "abc"};

TEST_F(PipelineApproval, BeforeAnyStepNoFinishedStepRunsTwice) {
  McpClient client(project_.Server(arguments_));
  client.Initialize("2025-11-25", kElicitation);
  for (const std::string asks : kAsks) {
    const int id = client.StartTool("pipeline", Steps(asks));
    for (const char step : asks) {
      const Json question = client.Read();
      EXPECT_EQ(question["method"], "elicitation/create") << question;
      const std::string text = question["params"]["message"];
      EXPECT_TRUE(text.starts_with(std::string("Allow step '") + step + "' of a pipeline?"))
          << text;
      client.SendLine(Json{{"jsonrpc", "2.0"},
                           {"id", question["id"]},
                           {"result", {{"action", "accept"}, {"content", kYes}}}}
                          .dump());
    }
    const Json result = client.Await(id)["result"]["structuredContent"];
    EXPECT_TRUE(result["success"]) << result;
    ExpectCounts(1, 1, 1);
    Forget();
  }
}

class ModernPipelineApproval : public PipelineApproval {
 protected:
  // `asked`: the result that asks; null: the first request.
  static Json Call(McpClient& client, Json arguments, const Json& asked = nullptr,
                   const char* action = "accept") {
    Json params = {{"name", "pipeline"},
                   {"arguments", std::move(arguments)},
                   {"_meta", ModernMeta(kElicitation)}};
    if (!asked.is_null()) {
      params["requestState"] = asked["requestState"];
      params["inputResponses"] = AnswersTo(asked["inputRequests"], action);
    }
    return client.Await(client.Start("tools/call", params))["result"];
  }
};

TEST_F(ModernPipelineApproval, BeforeAnyStepNoFinishedStepRunsTwice) {
  McpClient client(project_.Server(arguments_));
  for (const std::string asks : kAsks) {
    Json result = Call(client, Steps(asks));
    for (std::size_t i = 0; i < asks.size(); ++i) {
      ASSERT_EQ(result["resultType"], "input_required") << result;
      result = Call(client, Steps(asks), result);
    }
    EXPECT_TRUE(result["structuredContent"]["success"]) << result;
    ExpectCounts(1, 1, 1);
    Forget();
  }
  // One call, one pair of lines for the pipeline, however often it asked.
  std::size_t pipelines = 0;
  for (const Json& line : project_.EndsInTheLog())
    pipelines += line["api"]["operation"] == "pipeline";
  EXPECT_EQ(pipelines, std::size(kAsks));
}

// Its first step changes the policy, as a user might meanwhile.
TEST_F(ModernPipelineApproval, ARuleThatComesMeanwhileAsks) {
  Policy("network: none\n");
  McpClient client(project_.Server(arguments_));
  Json steps = Steps("b");
  steps["steps"][0]["args"]["command"] = "until [ -e go ]; do sleep 0.01; done; echo x >> count-a";
  Json params = {{"name", "pipeline"}, {"arguments", steps}, {"_meta", ModernMeta(kElicitation)}};
  const int id = client.Start("tools/call", params);
  EXPECT_TRUE(Eventually([&] { return !WorkersOf(client.pid()).empty(); }));
  Policy("permissions:\n  - {tool: bash, command: ask, decision: ask}\n");
  client.Signal(SIGHUP);
  Json other = params;
  other["name"] = "bash";
  other["arguments"] = {{"command", "ask; :"}};
  EXPECT_TRUE(Eventually([&] {
    return client.Await(client.Start("tools/call", other))["result"]["resultType"] ==
           "input_required";
  }));
  WriteText(project_.root() / "go", "");
  const Json asked = client.Await(id)["result"];
  ASSERT_EQ(asked["resultType"], "input_required") << asked;
  ExpectCounts(1, 0, 0);
  EXPECT_TRUE(Call(client, steps, asked)["structuredContent"]["success"]);
  ExpectCounts(1, 1, 1);
}

TEST_F(ModernPipelineApproval, ANoFailsItsStepWithWhatWasDone) {
  McpClient client(project_.Server(arguments_));
  const Json asked = Call(client, Steps("b"));
  const Json result = Call(client, Steps("b"), asked, "decline")["structuredContent"];
  EXPECT_EQ(result["error"]["code"], "APPROVAL_DECLINED");
  EXPECT_EQ(result["error"]["details"]["step"], "b");
  EXPECT_EQ(result["data"]["completed"], 1);
  EXPECT_TRUE(result["data"]["step_results"]["a"]["success"]);
  ExpectCounts(1, 0, 0);
}

// Each holds its arguments and results meanwhile.
TEST_F(ModernPipelineApproval, OnlySoManyWaitAtOnce) {
  McpClient client(project_.Server(arguments_));
  const Json steps = {{"steps", Json::array({Bash("a", "ask; :")})}};
  Json first;
  for (int i = 0; i < 64; ++i) {
    const Json asked = Call(client, steps);
    ASSERT_EQ(asked["resultType"], "input_required") << i << asked;
    if (i == 0) first = asked;
  }
  EXPECT_EQ(Call(client, steps)["structuredContent"]["error"]["code"], "BUSY");
  EXPECT_TRUE(Call(client, steps, first)["structuredContent"]["success"]);
  EXPECT_EQ(Call(client, steps)["resultType"], "input_required") << "there is a place again";
}

TEST_F(ModernPipelineApproval, ThatNobodyAnswersEndsWithItsClient) {
  McpClient client(project_.Server(arguments_));
  EXPECT_EQ(Call(client, Steps("b"))["resultType"], "input_required");
  client.CloseInput();
  EXPECT_EQ(client.WaitForExit(), 0);
  ExpectCounts(1, 0, 0);
}

TEST_F(ModernPipelineApproval, OfABatchInAPipelineIsAskedForOnce) {
  McpClient client(project_.Server(arguments_));
  const Json items = {{{"command", "ask; echo x >> count-b"}},
                      {{"command", "ask; echo y >> count-b"}},
                      {{"command", "echo z >> count-b"}}};
  const Json steps = {{"steps",
                       {Bash("a", "echo x >> count-a"), Step("b", "batch", Batch("bash", items)),
                        Bash("c", "echo x >> count-c")}}};
  const Json asked = Call(client, steps);
  ASSERT_EQ(asked["resultType"], "input_required") << asked;
  ExpectCounts(1, 1, 0);
  const Json result = Call(client, steps, asked)["structuredContent"];
  EXPECT_TRUE(result["success"]) << result;
  ExpectCounts(1, 3, 1);
}

TEST_F(ModernPipelineApproval, ANoToABatchFailsThatWhichAsked) {
  McpClient client(project_.Server(arguments_));
  const Json items = {{{"command", "ask; echo x >> count-b"}}, {{"command", "echo z >> count-c"}}};
  const Json steps = {{"steps", Json::array({Step("b", "batch", Batch("bash", items))})}};
  const Json asked = Call(client, steps);
  const Json result = Call(client, steps, asked, "decline")["structuredContent"];
  EXPECT_EQ(result["error"]["code"], "APPROVAL_DECLINED");
  const Json& batch = result["data"]["step_results"]["b"]["result"]["data"];
  EXPECT_EQ(batch["succeeded"], 1) << result;
  EXPECT_EQ(batch["failed"], 1);
  ExpectCounts(0, 0, 1);
}

// ---- what ends them ----

TEST_F(PipelineTest, ACancelEndsTheStepWithItsTree) {
  McpClient client(project_.Server(arguments_));
  client.Initialize();
  const int id = client.StartTool(
      "pipeline",
      {{"steps",
        {Bash("a", "touch a"), Bash("b", "touch b; sleep 987 & wait"), Bash("c", "touch c")}}});
  EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "b"); }));
  client.Notify("notifications/cancelled", {{"requestId", id}});
  EXPECT_TRUE(Eventually([&] { return project_.EndsInTheLog().size() == 3; }));
  EXPECT_TRUE(client.CallTool("glob", {{"pattern", "*"}})["success"]);
  EXPECT_FALSE(fs::exists(project_.root() / "c"));
  const Json end = project_.EndsInTheLog().at(2);
  EXPECT_EQ(end["api"]["operation"], "pipeline");
  EXPECT_EQ(end["status_code"], "CANCELLED");
}

TEST_F(PipelineTest, AClientThatGoesAwayEndsIt) {
  McpClient client(project_.Server(arguments_));
  client.Initialize();
  client.StartTool("pipeline",
                   {{"steps", {Bash("a", "touch a; sleep 987"), Bash("c", "touch c")}}});
  EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "a"); }));
  client.CloseInput();
  EXPECT_TRUE(client.WaitForExit(std::chrono::seconds(5)));
  EXPECT_FALSE(fs::exists(project_.root() / "c"));
}

TEST_F(PipelineTest, ProgressIsThatOfItsSteps) {
  McpClient client(project_.Server(arguments_));
  client.Initialize();
  const int id =
      client.StartTool("pipeline", {{"steps", {Bash("a", "echo first"), Bash("b", "echo second")}}},
                       {{"progressToken", 1}});
  client.Await(id);
  std::string told;
  for (const Json& one : client.notifications()) told += one["params"]["message"].dump();
  EXPECT_NE(told.find("first"), std::string::npos) << told;
}

// ---- batches ----

TEST_F(PipelineTest, ABatchWaitsForPlacesInsteadOfBeingBusy) {
  Policy("limits: {concurrent: 1, queue: 1}\n");
  McpClient client(project_.Server(arguments_));
  client.Initialize();
  Json items = Json::array();
  for (int i = 0; i < 12; ++i) items.push_back({{"command", "echo x >> ran"}});
  const Json result =
      client.CallTool("batch", {{"tool", "bash"}, {"items", items}, {"concurrency", 10}});
  EXPECT_EQ(result["data"]["succeeded"], 12) << result;
  EXPECT_EQ(LinesIn("ran"), 12u);
}

TEST_F(PipelineTest, ABatchRunsSeveralAtOnce) {
  Policy("limits: {concurrent: 4}\n");
  McpClient client(project_.Server(arguments_));
  client.Initialize();
  // Each waits for the other two: one after the other they would not end.
  Json items = Json::array();
  for (int i = 0; i < 3; ++i) {
    items.push_back({{"command", "touch here-" + std::to_string(i) +
                                     "; until [ -e here-0 ] && [ -e here-1 ] && [ -e here-2 ]; do "
                                     "sleep 0.01; done"}});
  }
  const Json result = client.CallTool("batch", {{"tool", "bash"}, {"items", items}});
  EXPECT_EQ(result["data"]["succeeded"], 3) << result;
}

TEST_F(PipelineTest, ABatchTakesWhatAStepHasFound) {
  for (const char* name : {"a", "b", "c"}) {
    WriteText(project_.root() / name, std::string("needle in ") + name + "\n");
  }
  Json found = Step("found", "grep", {{"pattern", "needle"}, {"mode", "content"}});
  found["result"] = {{"fields", Json::array({"path"})}};
  Json batch = Step("read", "batch", {{"tool", "read"}, {"items", "{{found[*]}}"}});
  Json more;
  more["return"]["texts"] = "{{read[*].data.content}}";
  Json result = Run({found, batch}, more);
  EXPECT_EQ(result["data"]["texts"],
            Json::array({"needle in a\n", "needle in b\n", "needle in c\n"}))
      << result << "without numbers of lines";
  const Json none = Run({Step("found", "glob", {{"pattern", "*.none"}}),
                         Step("read", "batch", {{"tool", "read"}, {"items", "{{found[*]}}"}})});
  EXPECT_TRUE(none["success"]) << none;
}

TEST_F(PipelineTest, OneCallMakesAtMostTwoHundred) {
  Json steps = Json::array();
  Json items = Json::array();
  for (int i = 0; i < 70; ++i) items.push_back({{"pattern", "none"}});
  for (const char* id : {"a", "b", "c"}) {
    steps.push_back(Step(id, "batch", {{"tool", "glob"}, {"items", items}}));
  }
  const Json result = Run(steps);
  EXPECT_EQ(result["error"]["code"], "LIMIT_EXCEEDED") << result;
  EXPECT_EQ(result["data"]["completed"], 2);
}

TEST_F(PipelineTest, ACancelEndsABatch) {
  McpClient client(project_.Server(arguments_));
  client.Initialize();
  Json items = Json::array();
  for (int i = 0; i < 6; ++i) {
    items.push_back({{"command", "touch begun-" + std::to_string(i) + "; sleep 987"}});
  }
  const int id = client.StartTool("batch", {{"tool", "bash"}, {"items", items}});
  EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "begun-3"); }));
  client.Notify("notifications/cancelled", {{"requestId", id}});
  EXPECT_TRUE(Eventually([&] {
    const std::vector<Json> ends = project_.EndsInTheLog();
    return !ends.empty() && ends.back()["api"]["operation"] == "batch";
  }));
  EXPECT_FALSE(fs::exists(project_.root() / "begun-5"));
  EXPECT_EQ(project_.EndsInTheLog().back()["status_code"], "CANCELLED");
}

// Of the calls of a pipeline's last step, if that is a batch.
TEST_F(PipelineTest, ResultAppliesToWhatIsReturned) {
  const Json items = Json::array({{{"pattern", "*"}}, {{"pattern", "*.none"}}});
  const Json steps = Json::array({Step("b", "batch", {{"tool", "glob"}, {"items", items}})});
  Json more;
  more["result"] = {{"filter", "data.total = 0"}, {"fields", Json::array({"index"})}};
  const Json result = Run(steps, more);
  EXPECT_EQ(result["data"]["results"], Json::array({{{"index", 1}}})) << result;
  more["result"]["items"] = "nosuch";
  EXPECT_EQ(Run(steps, more)["error"]["details"]["step"], "_validation");
}

}  // namespace
}  // namespace pa::testing
