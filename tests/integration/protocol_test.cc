// The real server's side of the connection: how it opens, what it forgives, how it ends.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

constexpr std::string_view kProtocolMakefile =
    ".PHONY: hello slow\nhello: ## greet\n\t@echo hi\nslow:\n\t@sleep 60\n";
class Protocol : public ::testing::Test {
 protected:
  Project project_{kProtocolMakefile};
  McpClient client_{project_.Server()};

  void ExpectAlive() {
    EXPECT_TRUE(client_.Request("ping").contains("result")) << client_.Errors();
  }
};

class LegacyOpening : public Protocol, public ::testing::WithParamInterface<const char*> {};

TEST_P(LegacyOpening, AgreesOnTheVersionAndListsTools) {
  Json opened = client_.Initialize(GetParam());
  EXPECT_EQ(opened["protocolVersion"], GetParam());
  EXPECT_EQ(opened["serverInfo"]["name"], "project-actions");
  Json reply = client_.Request("tools/list");
  ASSERT_TRUE(reply.contains("result")) << reply;
  EXPECT_EQ(reply["result"]["tools"].size(), 16U);
  Json call = client_.Await(client_.StartTool("make_targets", Json::object()));
  EXPECT_NE(call["result"]["content"][0]["text"].get<std::string>().find("hello"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Versions, LegacyOpening,
                         ::testing::Values("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(Protocol, AnUnknownVersionGetsOurLatestLegacyOne) {
  EXPECT_EQ(client_.Initialize("1999-01-01")["protocolVersion"], "2025-11-25");
}

TEST_F(Protocol, TheModernEraNeedsNoOpening) {
  Json discovered = client_.Request("server/discover", {{"_meta", ModernMeta()}});
  EXPECT_EQ(discovered["result"]["supportedVersions"], Json::array({kModern}));
  Json listed = client_.Request("tools/list", {{"_meta", ModernMeta()}});
  EXPECT_EQ(listed["result"]["resultType"], "complete");
  Json called = client_.Request(
      "tools/call",
      {{"name", "make"}, {"arguments", {{"target", "hello"}}}, {"_meta", ModernMeta()}});
  EXPECT_EQ(called["result"]["structuredContent"]["data"]["stdout"], "hi\n") << called;
}

// Whoever believes the client's own shell to be confined, too, uses it.
TEST_F(Protocol, EitherEraIsToldThatOnlyTheseToolsAreConfined) {
  const Json opened[] = {client_.Request("server/discover", {{"_meta", ModernMeta()}})["result"],
                         client_.Initialize()};
  for (const Json& result : opened) {
    const auto instructions = result.value("instructions", "");
    EXPECT_TRUE(
        instructions.contains("Only these tools are confined: your client's own shell and "
                              "edit tools bypass all this"))
        << result;
    EXPECT_LE(instructions.size(), 4096U) << "beyond that Claude Code cuts";
  }
}

TEST_F(Protocol, BothErasOnOneConnection) {
  client_.Initialize();
  EXPECT_TRUE(client_.Request("tools/list", {{"_meta", ModernMeta()}}).contains("result"));
  EXPECT_TRUE(client_.Request("tools/list").contains("result"));
}

TEST_F(Protocol, AnUnknownModernVersionIsNamed) {
  Json meta = ModernMeta();
  meta["io.modelcontextprotocol/protocolVersion"] = "2099-01-01";
  Json reply = client_.Request("tools/list", {{"_meta", meta}});
  EXPECT_EQ(reply["error"]["code"], -32022);
  EXPECT_EQ(reply["error"]["data"]["supported"], Json::array({kModern}));
}

TEST_F(Protocol, IdsAreEchoedAsWritten) {
  client_.Initialize();
  for (const char* id : {"0", "\"\"", "-7", "\"a b\"", "9007199254740993", "7.0", "\"\\ud83d\""}) {
    client_.SendLine(std::string(R"({"jsonrpc":"2.0","id":)") + id + R"(,"method":"ping"})");
    std::optional<std::string> line = client_.ReadLine();
    ASSERT_TRUE(line);
    EXPECT_NE(line->find(std::string("\"id\":") + id), std::string::npos) << *line;
  }
}

TEST_F(Protocol, WhatIsNoRequestGetsItsErrorAndTheConnectionLivesOn) {
  client_.Initialize();
  const std::pair<const char*, int> cases[] = {
      {"{not json", -32700},
      {"\xff\xfe", -32700},
      {"[]", -32600},
      {"7", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":true,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", -32700},
      {R"({"jsonrpc":"2.0","id":1,"method":"no/such"})", -32601},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such"}})", -32602},
  };
  for (const auto& [line, code] : cases) {
    client_.SendLine(line);
    Json reply = client_.Read();
    EXPECT_EQ(reply["error"]["code"], code) << line << "\n" << reply;
  }
  ExpectAlive();
}

// With the id, wherever it stands: the client waits for it.
TEST_F(Protocol, ALineOverTheLimitIsRefusedWithItsIdAndSkipped) {
  client_.Initialize();
  const std::string filler(17U << 20, 'x');
  for (const std::string& line :
       {R"({"jsonrpc":"2.0","id":"early","method":"ping","params":{"x":")" + filler + "\"}}",
        R"({"method":"ping","params":{"id":1,"x":")" + filler +
            R"("},"jsonrpc":"2.0","id":"late"})"}) {
    client_.SendLine(line);
    const Json reply = client_.Read();
    EXPECT_EQ(reply["error"]["code"], -32600) << reply;
    EXPECT_EQ(reply["id"], line.contains("late") ? "late" : "early") << reply;
  }
  ExpectAlive();
}

TEST_F(Protocol, WhatCannotBeReadIsAnsweredWithItsId) {
  client_.Initialize();
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  for (const std::string& rest :
       {std::string(R"("params":{"name":"read","arguments":{"path":"a","path":"b"}}})"),
        R"("params":{"name":"read","arguments":)" + deep + "}}",
        std::string("\"params\":{\"name\":\"\xff\"}}"), std::string(R"("params":[1,]})")}) {
    client_.SendLine(R"({"jsonrpc":"2.0","id":7.0,"method":"tools/call",)" + rest);
    const std::optional<std::string> line = client_.ReadLine();
    ASSERT_TRUE(line);
    EXPECT_NE(line->find(R"("id":7.0,"error":{"code":-32700)"), std::string::npos) << *line;
  }
  client_.SendLine(R"({"jsonrpc":"2.0","id":1,"method":"tools/call",)"
                   R"("params":{"name":"bash","arguments":{"command":"printf %s 'cut \ud83d'"}}})");
  const Json reply = client_.Read();
  EXPECT_EQ(reply["result"]["structuredContent"]["data"]["stdout"], "cut \uFFFD") << reply;
}

TEST_F(Protocol, UnknownNotificationsAndStrayResponsesAreIgnored) {
  client_.Initialize();
  client_.Notify("notifications/no_such", Json::object());
  client_.Notify("notifications/cancelled", {{"requestId", 12345}});
  client_.SendLine(R"({"jsonrpc":"2.0","id":77,"result":{}})");
  client_.SendLine("\r");
  ExpectAlive();
}

TEST_F(Protocol, AnIdThatIsInUseIsRefused) {
  client_.Initialize();
  client_.SendLine(R"({"jsonrpc":"2.0","id":"x","method":"tools/call",)"
                   R"("params":{"name":"make","arguments":{"target":"slow"}}})");
  client_.SendLine(R"({"jsonrpc":"2.0","id":"x","method":"ping"})");
  Json reply = client_.Read();
  EXPECT_EQ(reply["error"]["code"], -32600) << reply;
  ExpectAlive();
}

TEST_F(Protocol, BadArgumentsAreAToolResultThatNamesThem) {
  client_.Initialize();
  Json result = client_.CallTool("make", {{"target", 7}});
  EXPECT_EQ(result["error"]["code"], "INVALID_ARGUMENT") << result;
  result = client_.CallTool("make", {{"target", "hello"}, {"taget", "hello"}});
  EXPECT_EQ(result["error"]["code"], "INVALID_ARGUMENT") << result;
  EXPECT_NE(result["error"]["message"].get<std::string>().find("taget"), std::string::npos);
}

// The smallest arguments that the tool's schema takes, with `name` as long as no order to a worker
// can be.
Json WithLong(const Json& schema, const std::string& name) {
  const std::string text(9 << 20, 'x');
  Json arguments = Json::object();
  std::vector<std::string> names = schema.value("required", std::vector<std::string>());
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  for (const std::string& one : names) {
    if (one.empty()) continue;
    const Json& property = schema["properties"][one];
    const std::string value = one == name ? text : "x";
    if (property["type"] == "string") {
      arguments[one] = property.contains("enum") && one != name ? property["enum"][0] : Json(value);
    } else if (property["type"] == "array" && property["items"]["type"] == "string") {
      arguments[one] = {value};
    } else if (property["type"] == "array" && !property["items"].contains("properties")) {
      arguments[one] = Json::array({{{"path", value}}});  // any objects
    } else if (property["type"] == "array") {
      const bool path = property["items"]["properties"].contains("path");
      const char* longest = path ? "path" : "tool";
      arguments[one] = Json::array({WithLong(property["items"], one == name ? longest : "")});
    }
  }
  return arguments;
}

// The caller's mistake, whatever the tool makes of it; never ours.
TEST_F(Protocol, AnArgumentThatDoesNotFitIsNoFaultOfTheServer) {
  client_.Initialize();
  const Json tools = client_.Request("tools/list")["result"]["tools"];
  int tried = 0;
  for (const Json& tool : tools) {
    for (const auto& [name, property] : tool["inputSchema"]["properties"].items()) {
      if (property["type"] != "string" && property["type"] != "array") continue;
      if (name == "working_directory" && tool["name"] != "bash") continue;  // the same for all
      const Json result =
          client_.CallTool(tool["name"].get<std::string>(), WithLong(tool["inputSchema"], name));
      ASSERT_TRUE(result.is_object()) << tool["name"] << " " << name;
      EXPECT_NE(result.value("error", Json::object()).value("code", ""), "INTERNAL")
          << tool["name"] << " " << name << ": " << result["error"];
      EXPECT_LT(result.dump().size(), 128U << 10) << tool["name"] << " " << name;
      ++tried;
    }
  }
  EXPECT_GT(tried, 12);
  const Json refused = client_.CallTool("bash", {{"command", std::string(128 << 10, ' ') + ":"}});
  EXPECT_EQ(refused["error"]["code"], "INVALID_ARGUMENT") << refused["error"];
  EXPECT_NE(refused["error"]["message"].get<std::string>().find("'command'"), std::string::npos);
  EXPECT_NE(refused["error"]["ai_message"].get<std::string>().find("stdin"), std::string::npos);
  const Json longest =
      client_.CallTool("bash", {{"command", std::string((128 << 10) - 8, ' ') + "echo ok"}});
  EXPECT_EQ(longest["data"]["stdout"], "ok\n") << longest;
}

// What it had to say is lost with the cancel: neither a fault of ours nor of the disk.
TEST_F(Protocol, AWriteThatTheEndOfInputCutsShortSaysSo) {
  client_.Initialize();
  WriteText(project_.root() / "there", "x");
  const int call =
      client_.StartTool("write", {{"path", "there"}, {"content", std::string(3 << 20, 'y')}});
  client_.CloseInput();
  const Json error = client_.Await(call)["result"]["structuredContent"]["error"];
  EXPECT_TRUE(error["code"] == "CANCELLED" || error["code"] == "STALE_FILE") << error;
}

TEST_F(Protocol, EndOfInputEndsTheServer) {
  client_.Initialize();
  client_.CloseInput();
  std::optional<int> status = client_.WaitForExit();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0) << *status;
}

// A client that reads nothing is still heard.
class NotReading : public Protocol {
 protected:
  NotReading() {
    client_.Initialize();
    call_ = client_.StartTool("make", {{"target", "slow"}});
    EXPECT_TRUE(Eventually([&] { return !WorkersOf(client_.pid()).empty(); }));
    for (int i = 0; i < 300; ++i) client_.Start("tools/list");  // more than pipe and queue hold
  }
  int call_ = 0;
};

TEST_F(NotReading, MayCancel) {
  client_.Notify("notifications/cancelled", {{"requestId", call_}});
  EXPECT_TRUE(Eventually([&] { return WorkersOf(client_.pid()).empty(); }));
  ExpectAlive();
}

TEST_F(NotReading, MayEndItsInput) {
  client_.CloseInput();
  std::optional<int> status = client_.WaitForExit();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0) << *status;
}

class EndingSignal : public Protocol, public ::testing::WithParamInterface<int> {};

TEST_P(EndingSignal, EndsTheServerAndItsWork) {
  client_.Initialize();
  int call = client_.StartTool("make", {{"target", "slow"}}, {{"progressToken", 1}});
  ExpectAlive();
  client_.Signal(GetParam());
  Json reply = client_.Await(call);
  EXPECT_EQ(reply["result"]["structuredContent"]["error"]["code"], "CANCELLED") << reply;
  std::optional<int> status = client_.WaitForExit();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0) << *status;
}

INSTANTIATE_TEST_SUITE_P(Signals, EndingSignal, ::testing::Values(SIGINT, SIGTERM));

TEST_F(Protocol, StartingLeavesNoTrace) {
  client_.Initialize();
  client_.Request("tools/list");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::recursive_directory_iterator(project_.root())) {
    ++files;
  }
  EXPECT_EQ(files, 1U) << "only the Makefile was there";
  // Its own directories are there as long as it is, because it can reach no others.
  client_.Signal(SIGTERM);
  EXPECT_TRUE(client_.WaitForExit());
  EXPECT_TRUE(std::filesystem::is_empty(project_.home()));
}

}  // namespace
}  // namespace pa::testing
