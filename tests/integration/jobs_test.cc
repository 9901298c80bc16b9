// Jobs on real servers: what runs on after its request was answered, and what ends it.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/sanitizers.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMakefile = ".PHONY: greet\ngreet:\n\t@echo hello; exit 3\n";

class JobsTest : public ::testing::Test {
 protected:
  void Policy(const std::string& lines) {
    WriteText(project_.home() / ".config/project-actions/policy.yaml", "version: 1\n" + lines);
  }
  // The id of a job.
  static std::string Begin(McpClient& client, const std::string& command) {
    const Json handle = client.CallTool("bash", {{"command", command}, {"background", true}});
    EXPECT_EQ(handle["data"]["job"]["state"], "running") << handle;
    return handle["data"]["job"]["id"];
  }
  static Json Do(McpClient& client, const char* action, const std::string& id,
                 Json more = Json::object()) {
    more["action"] = action;
    more["id"] = id;
    return client.CallTool("job", more);
  }
  bool Exists(const char* name) const { return fs::exists(project_.root() / name); }

  Project project_{kMakefile};
};

TEST_F(JobsTest, AHandleComesAtOnceAndTheResultLater) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id =
      Begin(client, "until [ -e go ]; do sleep 0.01; done; echo out; echo err >&2");
  EXPECT_EQ(Do(client, "wait", id, {{"timeout_ms", 10}})["data"]["job"]["state"], "running");
  WriteText(project_.root() / "go", "");
  const Json ended = Do(client, "wait", id);
  EXPECT_TRUE(ended["success"]) << ended;
  EXPECT_EQ(ended["data"]["stdout"], "out\n") << "what the plain call returns";
  EXPECT_EQ(ended["data"]["stderr"], "err\n");
  EXPECT_EQ(ended["data"]["exit_code"], 0);
  EXPECT_EQ(ended["data"]["job"]["state"], "exited");
  EXPECT_EQ(Do(client, "wait", id)["data"]["stdout"], "out\n") << "once more";
}

TEST_F(JobsTest, AFailureIsThatOfTheCall) {
  McpClient client(project_.Server());
  client.Initialize();
  const Json handle = client.CallTool("make", {{"target", "greet"}, {"background", true}});
  const std::string id = handle["data"]["job"]["id"];
  EXPECT_EQ(handle["data"]["job"]["command"], "make greet");
  const Json ended = Do(client, "wait", id);
  EXPECT_EQ(ended["error"]["code"], "COMMAND_FAILED");
  EXPECT_EQ(ended["data"]["stdout"], "hello\n");
  EXPECT_EQ(ended["data"]["job"]["exit_code"], 2);
  // What cannot begin is no job.
  const Json wrong = client.CallTool("make", {{"target", "nosuch"}, {"background", true}});
  EXPECT_EQ(wrong["error"]["code"], "INVALID_TARGET");
  EXPECT_EQ(client.CallTool("job", {{"action", "list"}})["data"]["jobs"].size(), 1u);
}

TEST_F(JobsTest, WhoSubscribesToItsLogHearsThatItGrows) {
  McpClient client(project_.Server());
  client.Initialize();
  const Json handle = client.CallTool(
      "bash", {{"command", "until [ -e go ]; do sleep 0.01; done; echo more; sleep 987"},
               {"background", true}});
  const std::string uri = handle["data"]["job"]["uris"]["output"];
  EXPECT_EQ(client.Request("resources/subscribe", {{"uri", uri}})["result"], Json::object());
  WriteText(project_.root() / "go", "");
  EXPECT_TRUE(Eventually([&] {
    client.Request("ping");
    return std::ranges::any_of(client.notifications(), [&](const Json& one) {
      return one["method"] == "notifications/resources/updated" && one["params"]["uri"] == uri;
    });
  }));
  const Json contents = client.Request("resources/read", {{"uri", uri}})["result"]["contents"][0];
  EXPECT_EQ(contents["text"], "more\n");
}

TEST_F(JobsTest, ItsOutputIsReadWhileItRuns) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id =
      Begin(client, "seq 1 1000; until [ -e go ]; do sleep 0.01; done; echo last; sleep 987");
  EXPECT_TRUE(Eventually([&] { return Do(client, "read", id)["data"]["total_lines"] == 1000; }));
  const Json tail = Do(client, "read", id, {{"offset", -2}});
  EXPECT_EQ(tail["data"]["lines"], "999\n1000\n");
  EXPECT_EQ(tail["data"]["first_line"], 999);
  EXPECT_EQ(Do(client, "read", id, {{"offset", 5}, {"limit", 2}})["data"]["lines"], "5\n6\n");
  const Json found = Do(client, "read", id, {{"grep", "99"}, {"limit", 3}});
  EXPECT_EQ(found["data"]["lines"], "99\n199\n299");
  // Whoever follows waits for the next line.
  const int next = client.StartTool("job", {{"action", "read"},
                                            {"id", id},
                                            {"offset", tail["data"]["next_offset"]},
                                            {"timeout_ms", 50'000}});
  WriteText(project_.root() / "go", "");
  EXPECT_EQ(client.Await(next)["result"]["structuredContent"]["data"]["lines"], "last\n");
  const Json resource =
      client.Request("resources/read", {{"uri", tail["data"]["job"]["uris"]["output"]}});
  EXPECT_TRUE(resource["result"]["contents"][0]["text"].get<std::string>().starts_with("1\n2\n"));
}

TEST_F(JobsTest, ALineWithoutItsEndIsShownAndReadAgain) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id =
      Begin(client, "echo one; printf half; until [ -e go ]; do sleep 0.01; done; echo whole");
  EXPECT_TRUE(Eventually(
      [&] { return Do(client, "read", id, {{"offset", 1}})["data"]["lines"] == "one\nhalf"; }));
  const Json half = Do(client, "read", id, {{"offset", 1}});
  EXPECT_EQ(half["data"]["next_offset"], 2);
  const int next = client.StartTool(
      "job", {{"action", "read"}, {"id", id}, {"offset", 2}, {"timeout_ms", 50'000}});
  WriteText(project_.root() / "go", "");
  const Json whole = client.Await(next)["result"]["structuredContent"];
  EXPECT_EQ(whole["data"]["lines"], "halfwhole\n");
  EXPECT_EQ(whole["data"]["next_offset"], 3);
}

// What does not fit is left out at the beginning.
TEST_F(JobsTest, FromTheEndMeansTheLastLines) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id = Begin(client, "for i in $(seq 300); do printf '%01000d %s\\n' 0 $i; done");
  EXPECT_EQ(Do(client, "wait", id)["data"]["exit_code"], 0);
  const Json tail = Do(client, "read", id);
  const std::string lines = tail["data"]["lines"];
  EXPECT_TRUE(lines.ends_with(" 300\n")) << lines.substr(lines.size() - 20);
  EXPECT_LT(lines.size(), 25'000u);
  EXPECT_GT(tail["data"]["first_line"], 270);
  EXPECT_EQ(tail["data"]["next_offset"], 301);
  const Json head = Do(client, "read", id, {{"offset", 1}});
  EXPECT_EQ(head["data"]["first_line"], 1);
  EXPECT_TRUE(head["meta"]["truncated"]);
  EXPECT_EQ(Do(client, "read", id, {{"offset", head["data"]["next_offset"]}})["data"]["first_line"],
            head["data"]["next_offset"]);
}

TEST_F(JobsTest, AStopEndsItsTree) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id =
      Begin(client, "(setsid sh -c 'while :; do touch alive; sleep 0.02; done' &); sleep 988");
  EXPECT_TRUE(Eventually([&] { return Exists("alive"); }));
  const Json stopped = Do(client, "stop", id);
  EXPECT_EQ(stopped["data"]["job"]["state"], "cancelled") << stopped;
  fs::remove(project_.root() / "alive");
  usleep(200'000);
  EXPECT_FALSE(Exists("alive")) << "its tree is gone when the stop is answered";
  EXPECT_EQ(Do(client, "wait", id)["error"]["code"], "CANCELLED");
}

TEST_F(JobsTest, EndsWithItsSession) {
  McpClient client(project_.Server());
  client.Initialize();
  Begin(client, "touch begun; sleep 987; touch late");
  EXPECT_TRUE(Eventually([&] { return Exists("begun"); }));
  client.CloseInput();
  EXPECT_TRUE(client.WaitForExit(std::chrono::seconds(5)));
  EXPECT_FALSE(Exists("late"));
}

TEST_F(JobsTest, AKilledServerLeavesNothingRunning) {
  McpClient client(project_.Server());
  client.Initialize();
  Begin(client, "touch begun; while :; do touch alive; sleep 0.02; done");
  EXPECT_TRUE(Eventually([&] { return Exists("alive"); }));
  client.Signal(SIGKILL);
  EXPECT_TRUE(client.WaitForExit());
  EXPECT_TRUE(Eventually([&] {
    fs::remove(project_.root() / "alive");
    usleep(200'000);
    return !Exists("alive");
  }));
}

TEST_F(JobsTest, GoesOnWhenThePolicyIsReadAgain) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id = Begin(client, "touch begun; until [ -e go ]; do sleep 0.01; done; echo x");
  EXPECT_TRUE(Eventually([&] { return Exists("begun"); }));
  client.Signal(SIGHUP);
  EXPECT_TRUE(client.CallTool("glob", {{"pattern", "*"}})["success"]);
  WriteText(project_.root() / "go", "");
  EXPECT_EQ(Do(client, "wait", id)["data"]["stdout"], "x\n");
}

TEST_F(JobsTest, SixtyFourAtOnceAndNoMore) {
  Policy("limits: {concurrent: 70, queue: 70}\n");
  McpClient client(project_.Server());
  client.Initialize();
  std::vector<std::string> ids;
  for (int i = 0; i < 64; ++i) {
    ids.push_back(Begin(client, "until [ -e go ]; do sleep 0.1; done; echo " + std::to_string(i)));
  }
  const Json refused = client.CallTool("bash", {{"command", "true"}, {"background", true}});
  EXPECT_EQ(refused["error"]["code"], "BUSY");
  EXPECT_TRUE(client.CallTool("bash", {{"command", "true"}})["success"]) << "it is no job";
  WriteText(project_.root() / "go", "");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(Do(client, "wait", ids[i])["data"]["stdout"], std::to_string(i) + "\n");
  }
}

TEST_F(JobsTest, ItsLogHasALimit) {
  Policy("limits: {output_total: 4MiB}\n");
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id = Begin(client, "yes | head -c " + std::to_string(Volume(1u << 30)));
  EXPECT_EQ(Do(client, "wait", id)["data"]["exit_code"], 0);
  const Json read = Do(client, "read", id, {{"offset", 1}, {"limit", 1}});
  EXPECT_EQ(read["data"]["lines"], "y\n");
  EXPECT_EQ(read["data"]["total_lines"], 512 << 10);
  EXPECT_NE(read["meta"]["warnings"][0].get<std::string>().find("were not kept"),
            std::string::npos);
}

TEST_F(JobsTest, APipelineAndABatchAreJobsToo) {
  McpClient client(project_.Server({"--enable", "bash"}));
  client.Initialize();
  const Json steps = Json::array(
      {{{"id", "a"}, {"tool", "bash"}, {"args", {{"command", "echo one"}}}},
       {{"id", "b"}, {"tool", "bash"}, {"args", {{"command", "echo {{a.stdout}} two"}}}}});
  const Json pipeline = client.CallTool("pipeline", {{"steps", steps}, {"background", true}});
  const std::string id = pipeline["data"]["job"]["id"];
  EXPECT_EQ(Do(client, "wait", id)["data"]["stdout"], "one\n two\n");
  EXPECT_EQ(Do(client, "read", id)["data"]["lines"], "one\none\n two\n") << "of all its steps";
  const Json items = Json::array({{{"command", "true"}}, {{"command", "true"}}});
  const Json batch =
      client.CallTool("batch", {{"tool", "bash"}, {"items", items}, {"background", true}});
  EXPECT_EQ(Do(client, "wait", batch["data"]["job"]["id"])["data"]["succeeded"], 2);
}

TEST_F(JobsTest, NeedsAClientThatStays) {
  McpClient client(project_.Server({"--enable", "bash"}));
  client.Initialize();
  const Json steps = Json::array({{{"id", "a"},
                                   {"tool", "bash"},
                                   {"args", {{"command", "touch ran"}, {"background", true}}}}});
  EXPECT_EQ(client.CallTool("pipeline", {{"steps", steps}})["error"]["code"], "INVALID_ARGUMENT");
  const ProgramResult call =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "call", "bash",
                              R"({"command":"touch ran","background":true})", "--enable",
                              "bash,job", "--worker", BuiltProgram("PA_WORKER")},
                  .environment = {"HOME=" + project_.home().string()},
                  .directory = project_.root()});
  EXPECT_EQ(call.exit_code, 125) << call.errors;
  EXPECT_FALSE(Exists("ran"));
}

TEST_F(JobsTest, WithoutTheToolJobNothingBegins) {
  McpClient client({.arguments = {"--root", project_.root(), "--enable", "bash"},
                    .directory = project_.root(),
                    .home = project_.home()});
  client.Initialize();
  const Json refused = client.CallTool("bash", {{"command", "touch ran"}, {"background", true}});
  EXPECT_EQ(refused["error"]["code"], "TOOL_DISABLED") << refused;
  EXPECT_FALSE(Exists("ran"));
  EXPECT_TRUE(client.CallTool("bash", {{"command", "touch ran"}})["success"]);
}

// ---- approvals: before the handle, never after it ----

TEST_F(JobsTest, TheUserIsAskedBeforeTheHandle) {
  Policy("permissions:\n  - {tool: bash, command: ask, decision: ask}\n");
  McpClient client(project_.Server());
  client.Initialize("2025-11-25", kElicitation);
  for (const char* action : {"decline", "accept"}) {
    const int id = client.StartTool("bash", {{"command", "ask; touch ran"}, {"background", true}});
    const Json question = client.Read();
    ASSERT_EQ(question["method"], "elicitation/create") << question;
    EXPECT_FALSE(Exists("ran"));
    client.SendLine(Json{{"jsonrpc", "2.0"},
                         {"id", question["id"]},
                         {"result", {{"action", action}, {"content", kYes}}}}
                        .dump());
    const Json result = client.Await(id)["result"]["structuredContent"];
    if (std::string_view(action) == "decline") {
      EXPECT_EQ(result["error"]["code"], "APPROVAL_DECLINED");
      continue;
    }
    Do(client, "wait", result["data"]["job"]["id"]);
    EXPECT_TRUE(Exists("ran"));
  }
}

TEST_F(JobsTest, AJobOfAClientOf2026AsksNothingMore) {
  Policy("permissions:\n  - {tool: bash, command: ask, decision: ask}\n");
  McpClient client(project_.Server({"--enable", "bash"}));
  const auto call = [&](const char* tool, Json arguments, const Json& state = nullptr) {
    Json params = {
        {"name", tool}, {"arguments", std::move(arguments)}, {"_meta", ModernMeta(kElicitation)}};
    if (!state.is_null()) {
      params["requestState"] = state;
      params["inputResponses"] = {{"approve", {{"action", "accept"}, {"content", kYes}}}};
    }
    return client.Await(client.Start("tools/call", params))["result"];
  };
  const auto wait = [&](const Json& handle) {
    return call("job",
                {{"action", "wait"},
                 {"id", handle["structuredContent"]["data"]["job"]["id"]}})["structuredContent"];
  };
  const Json single = {{"command", "ask; touch ran; echo said"}, {"background", true}};
  const Json asked = call("bash", single);
  ASSERT_EQ(asked["resultType"], "input_required") << asked;
  const Json handle = call("bash", single, asked["requestState"]);
  EXPECT_TRUE(wait(handle)["data"].contains("exit_code"));
  EXPECT_TRUE(Exists("ran"));
  const Json read =
      call("job", {{"action", "read"}, {"id", handle["structuredContent"]["data"]["job"]["id"]}});
  EXPECT_TRUE(read["structuredContent"]["data"]["lines"].get<std::string>().ends_with("said\n"))
      << read;
  const Json steps =
      Json::array({{{"id", "a"}, {"tool", "bash"}, {"args", {{"command", "touch first"}}}},
                   {{"id", "b"}, {"tool", "bash"}, {"args", {{"command", "ask; touch second"}}}}});
  const Json ended = wait(call("pipeline", {{"steps", steps}, {"background", true}}));
  EXPECT_EQ(ended["error"]["code"], "APPROVAL_DECLINED") << ended;
  EXPECT_NE(ended["error"]["message"].get<std::string>().find("cannot ask"), std::string::npos);
  EXPECT_TRUE(Exists("first"));
  EXPECT_FALSE(Exists("second"));
}

}  // namespace
}  // namespace pa::testing
