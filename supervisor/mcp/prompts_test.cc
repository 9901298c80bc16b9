#include "supervisor/mcp/prompts.h"

#include <gtest/gtest.h>

#include "tests/support/fake_world.h"
#include "tests/support/json.h"

namespace pa {
namespace {

using testing::Json;

class PromptsTest : public ::testing::Test {
 protected:
  PromptsTest() {
    Ask("initialize", {{"protocolVersion", "2025-11-25"},
                       {"capabilities", Json::object()},
                       {"clientInfo", {{"name", "t"}, {"version", "1"}}}});
    world_.Enable({"make"});
  }

  Json Ask(const std::string& method, const Json& params) {
    const std::size_t before = world_.transport.sent.size();
    const Json request = {
        {"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}};
    world_.session().OnLine(request.dump());
    world_.WaitFor(before + 1);
    return Json::parse(world_.transport.sent.back());
  }
  Json Complete(const Json& argument, const std::string& prompt = "make") {
    return Ask("completion/complete",
               {{"ref", {{"type", "ref/prompt"}, {"name", prompt}}}, {"argument", argument}});
  }

  FakeWorld world_;
  int id_ = 0;
};

TEST_F(PromptsTest, AreTheTargets) {
  const Json prompts = Ask("prompts/list", Json::object())["result"]["prompts"];
  ASSERT_EQ(prompts.size(), 3u);
  EXPECT_EQ(prompts[0]["name"], "make");
  EXPECT_EQ(prompts[0]["arguments"][0]["name"], "target");
  EXPECT_EQ(prompts[0]["arguments"][0]["required"], true);
  EXPECT_EQ(prompts[1], Json::parse(R"({"name":"make-test","title":"make test",)"
                                    R"("description":"run it all"})"));
  EXPECT_EQ(prompts[2]["description"], "Runs make lint");
}

TEST_F(PromptsTest, NoneWithoutMake) {
  world_.Enable({});
  EXPECT_EQ(Ask("prompts/list", Json::object())["result"]["prompts"], Json::array());
  EXPECT_EQ(Ask("prompts/get", {{"name", "make-test"}})["error"]["code"], rpc::kInvalidParams);
  EXPECT_EQ(Complete({{"name", "target"}, {"value", ""}})["error"]["code"], rpc::kInvalidParams);
}

// What the Makefile says of a target would be read as the user's own words.
TEST_F(PromptsTest, AMessageNamesTheTargetAndNoDescription) {
  for (const Json& params :
       {Json{{"name", "make-test"}}, Json{{"name", "make"}, {"arguments", {{"target", "test"}}}}}) {
    const Json result = Ask("prompts/get", params)["result"];
    ASSERT_EQ(result["messages"].size(), 1u) << result;
    EXPECT_EQ(result["messages"][0]["role"], "user");
    const std::string text = result["messages"][0]["content"]["text"];
    EXPECT_NE(text.find(R"({"target":"test"})"), std::string::npos) << text;
    EXPECT_EQ(result.dump().find("run it all"), std::string::npos);
  }
}

TEST_F(PromptsTest, AWrongRequestSaysWhatIsWrong) {
  const struct {
    Json params;
    const char* named;
  } kCases[] = {
      {Json::object(), "params.name is missing"},
      {{{"name", "deploy"}}, "there is no prompt 'deploy'"},
      {{{"name", "make-deploy"}}, "there is no target 'deploy'"},
      {{{"name", "make"}}, "params.arguments.target is missing"},
      {{{"name", "make"}, {"arguments", {{"target", 1}}}},
       "params.arguments.target must be a string, not number"},
      {{{"name", "make"}, {"arguments", Json::array()}}, "params.arguments must be an object"},
  };
  for (const auto& c : kCases) {
    const Json error = Ask("prompts/get", c.params)["error"];
    EXPECT_EQ(error["code"], rpc::kInvalidParams);
    EXPECT_NE(error["message"].get<std::string>().find(c.named), std::string::npos) << error;
  }
}

TEST_F(PromptsTest, NamesAreCompleted) {
  EXPECT_EQ(Complete({{"name", "target"}, {"value", "l"}})["result"]["completion"]["values"],
            Json::parse(R"(["lint"])"));
  EXPECT_EQ(
      Complete({{"name", "working_directory"}, {"value", "/t"}})["result"]["completion"]["values"],
      Json::parse(R"(["/tmp"])"));
  EXPECT_EQ(Complete({{"name", "x"}, {"value", ""}}, "make-test")["result"]["completion"]["values"],
            Json::array());
  EXPECT_EQ(Complete({{"name", "x"}, {"value", ""}})["error"]["code"], rpc::kInvalidParams);
  EXPECT_EQ(Complete({{"name", "x"}, {"value", ""}}, "deploy")["error"]["code"],
            rpc::kInvalidParams);
}

TEST(TargetPrompts, AFailureIsNoEmptyList) {
  policy::Policy policy;
  policy.enabled_tools = {"make"};
  const Identity identity{.version = "1"};
  const Prepared list = TargetPrompts().List({kLatestLegacy, identity, policy});
  ASSERT_TRUE(list);
  const AnswerOfCall& call = std::get<AnswerOfCall>(*list);
  EXPECT_EQ(call.tool, "make_targets");
  const auto broken = call.answer(RefusedCall(SandboxUnavailable("no namespaces")));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, rpc::kInternalError);
  EXPECT_NE(broken.error().message.find("no namespaces"), std::string::npos);
  const auto none = call.answer(RefusedCall(NotFound("no Makefile in /p", "Write one.")));
  ASSERT_TRUE(none);
  EXPECT_EQ(Json::parse(*none)["prompts"].size(), 1u);
}

}  // namespace
}  // namespace pa
