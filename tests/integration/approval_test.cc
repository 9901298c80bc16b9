// Rules that ask: real servers, what they ask, and that nothing runs without a yes.
#include <gtest/gtest.h>

#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kApprovalMakefile = R"(.PHONY: deploy test
deploy:
	@touch deployed; echo done
test:
	@echo tested
)";

class Approval : public ::testing::Test {
 protected:
  Approval() {
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              "version: 1\npermissions:\n"
              "  - {tool: make, target: \"deploy*\", decision: ask, reason: touches production}\n");
  }
  bool Deployed() const { return fs::exists(project_.root() / "deployed"); }

  Project project_{kApprovalMakefile};
};

class LegacyApproval : public Approval {
 protected:
  // The result of a call about which the user says `action`, and in the form `content`.
  Json Deploy(McpClient& client, const std::string& action, const Json& content = kYes) {
    const int id = client.StartTool("make", {{"target", "deploy"}});
    const Json question = client.Read();
    EXPECT_EQ(question["method"], "elicitation/create");
    EXPECT_NE(question["params"]["message"].get<std::string>().find("    make deploy\n"),
              std::string::npos);
    EXPECT_EQ(question["params"]["requestedSchema"]["required"], Json::array({"approve"}));
    const Json result = {{"action", action}, {"content", content}};
    client.SendLine(Json{{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", result}}.dump());
    return client.Await(id)["result"]["structuredContent"];
  }
};

// A list is no place for questions; a prompt is.
TEST_F(Approval, AskedForTheTargetsAListFailsAndAPromptAsks) {
  WriteText(project_.home() / ".config/project-actions/policy.yaml",
            "version: 1\npermissions:\n  - {tool: make_targets, decision: ask}\n");
  McpClient client(project_.Server());
  const auto ask = [&](const char* method, Json params) {
    params["_meta"] = ModernMeta(kElicitation);
    return client.Request(method, std::move(params));
  };
  const Json list = ask("prompts/list", Json::object());
  EXPECT_EQ(list["error"]["code"], -32603) << list;
  EXPECT_NE(list["error"]["message"].get<std::string>().find("APPROVAL_DECLINED"),
            std::string::npos);
  const Json asked = ask("prompts/get", {{"name", "make-test"}})["result"];
  ASSERT_EQ(asked["resultType"], "input_required") << asked;
  const Json other = ask("prompts/get", {{"name", "make-deploy"},
                                         {"requestState", asked["requestState"]},
                                         {"inputResponses", AnswersTo(asked["inputRequests"])}});
  EXPECT_EQ(other["error"]["code"], -32602) << "the answer was about another one: " << other;
  const Json got = ask("prompts/get", {{"name", "make-test"},
                                       {"requestState", asked["requestState"]},
                                       {"inputResponses", AnswersTo(asked["inputRequests"])}});
  EXPECT_EQ(got["result"]["messages"].size(), 1u) << got;
}

TEST_F(LegacyApproval, WithAYesItRuns) {
  McpClient client(project_.Server());
  client.Initialize("2025-11-25", kElicitation);
  for (const char* no : {"decline", "cancel"}) {
    EXPECT_EQ(Deploy(client, no)["error"]["code"], "APPROVAL_DECLINED");
    EXPECT_FALSE(Deployed());
  }
  const Json result = Deploy(client, "accept");
  EXPECT_EQ(result["data"]["stdout"], "done\n");
  EXPECT_NE(result["meta"]["decision"].get<std::string>().find("permissions[0]"),
            std::string::npos);
  EXPECT_TRUE(Deployed());
  EXPECT_EQ(client.CallTool("make", {{"target", "test"}})["data"]["stdout"], "tested\n");
  const std::vector<Json> ends = project_.EndsInTheLog();
  ASSERT_EQ(ends.size(), 4u);
  const char* answers[] = {"decline", "cancel", "accept"};
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& decision = ends[i]["unmapped"]["decision"];
    EXPECT_EQ(decision["approvals"][0]["answer"], answers[i]);
    EXPECT_EQ(decision["allowed"], i == 2);
    EXPECT_EQ(ends[i]["action_id"], i == 2 ? 1 : 2);
  }
  EXPECT_FALSE(ends[3]["unmapped"]["decision"].contains("approvals"));
}

// A client that answers by itself, as Codex with full access does with an empty form, is no person.
TEST_F(LegacyApproval, AnAcceptWithoutTheFieldIsNoYes) {
  McpClient client(project_.Server());
  client.Initialize("2025-11-25", kElicitation);
  for (const Json& content :
       {Json::object(), Json(nullptr), Json{{"approve", false}}, Json{{"approve", "true"}}}) {
    EXPECT_EQ(Deploy(client, "accept", content)["error"]["code"], "APPROVAL_DECLINED") << content;
    EXPECT_FALSE(Deployed());
  }
  EXPECT_EQ(Deploy(client, "accept")["data"]["stdout"], "done\n");
}

TEST_F(LegacyApproval, WhoCannotAskMayNot) {
  McpClient client(project_.Server());
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "deploy"}});
  EXPECT_EQ(result["error"]["code"], "APPROVAL_DECLINED");
  EXPECT_NE(result["error"]["message"].get<std::string>().find("permissions[0]"),
            std::string::npos);
  EXPECT_FALSE(Deployed());
  EXPECT_EQ(project_.EndsInTheLog().at(0)["unmapped"]["decision"]["approvals"][0]["answer"],
            "unavailable");
}

// Others go on while one waits, and its place is not taken for as long.
TEST_F(LegacyApproval, WhoeverWaitsKeepsNobodyBack) {
  McpClient client(project_.Server());
  client.Initialize("2025-11-25", kElicitation);
  for (int i = 0; i < 100; ++i) {
    client.StartTool("make", {{"target", "deploy"}});
    ASSERT_EQ(client.Read()["method"], "elicitation/create");
  }
  EXPECT_EQ(client.CallTool("make", {{"target", "test"}})["data"]["stdout"], "tested\n");
  client.CloseInput();
  EXPECT_TRUE(client.WaitForExit());
  EXPECT_FALSE(Deployed());
}

TEST_F(Approval, OfAClientOf2026) {
  McpClient client(project_.Server());
  const Json meta = ModernMeta(kElicitation);
  const auto call = [&](const char* target, const Json& state, const char* action,
                        const Json& content = kYes) {
    Json params = {{"name", "make"}, {"arguments", {{"target", target}}}, {"_meta", meta}};
    if (!state.is_null()) {
      params["requestState"] = state;
      params["inputResponses"] = {{"approve", {{"action", action}, {"content", content}}}};
    }
    return client.Await(client.Start("tools/call", params));
  };
  const auto ask = [&] { return call("deploy", nullptr, "")["result"]["requestState"]; };
  EXPECT_EQ(call("deploy", ask(), "decline")["result"]["structuredContent"]["error"]["code"],
            "APPROVAL_DECLINED");
  EXPECT_EQ(call("deploy", ask(), "accept",
                 Json::object())["result"]["structuredContent"]["error"]["code"],
            "APPROVAL_DECLINED");
  EXPECT_EQ(call("test", ask(), "accept")["error"]["code"], -32602) << "another call";
  EXPECT_EQ(call("deploy", "1" + std::string(304, '0'), "accept")["error"]["code"], -32602);
  EXPECT_FALSE(Deployed());
  const Json state = ask();
  EXPECT_EQ(call("deploy", state, "accept")["result"]["structuredContent"]["data"]["stdout"],
            "done\n");
  EXPECT_TRUE(Deployed());
  fs::remove(project_.root() / "deployed");
  EXPECT_EQ(call("deploy", state, "accept")["error"]["code"], -32602) << "once more";
  EXPECT_FALSE(Deployed());
}

// A state of one server is none of another's.
TEST_F(Approval, ARestartForgetsWhatWasAsked) {
  const Json params = {
      {"name", "make"}, {"arguments", {{"target", "deploy"}}}, {"_meta", ModernMeta(kElicitation)}};
  Json retry = params;
  {
    McpClient client(project_.Server());
    retry["requestState"] =
        client.Await(client.Start("tools/call", params))["result"]["requestState"];
  }
  retry["inputResponses"] = {{"approve", {{"action", "accept"}, {"content", kYes}}}};
  McpClient client(project_.Server());
  EXPECT_EQ(client.Await(client.Start("tools/call", retry))["error"]["code"], -32602);
  EXPECT_FALSE(Deployed());
}

TEST_F(Approval, OnACommandLineThatNobodyAttends) {
  const ProgramResult result =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "call", "make", R"({"target":"deploy"})",
                              "--enable", "make", "--worker", BuiltProgram("PA_WORKER")},
                  .environment = {"HOME=" + project_.home().string()},
                  .directory = project_.root()});
  EXPECT_EQ(result.exit_code, 125) << result.errors;
  EXPECT_NE(result.errors.find("APPROVAL_DECLINED"), std::string::npos) << result.errors;
  EXPECT_FALSE(Deployed());
}

}  // namespace
}  // namespace pa::testing
