#include "supervisor/mcp/subscriptions.h"

#include <gtest/gtest.h>

#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using testing::ParsedJson;

rpc::Id IdOf(const std::string& token) { return rpc::Id::FromJson(ParsedJson(token)).value(); }

TEST(Subscriptions, AcknowledgesOnlyWhatIsHonoured) {
  Subscriptions subscriptions;
  EXPECT_EQ(subscriptions.Add(IdOf("0"),
                              ParsedJson(R"({"notifications":{"toolsListChanged":true,)"
                                         R"("promptsListChanged":true,"resourcesListChanged":true,)"
                                         R"("resourceSubscriptions":["file:///x","a:b"]}})"),
                              {}, {"a:b"}),
            R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",)"
            R"("params":{"_meta":{"io.modelcontextprotocol/subscriptionId":0},)"
            R"("notifications":{"toolsListChanged":true,"promptsListChanged":true,)"
            R"("resourcesListChanged":true,"resourceSubscriptions":["a:b"]}}})");
  EXPECT_EQ(
      subscriptions.Add(IdOf(R"("")"),
                        ParsedJson(R"({"notifications":{"toolsListChanged":false}})")),
      R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",)"
      R"("params":{"_meta":{"io.modelcontextprotocol/subscriptionId":""},"notifications":{}}})");
}

TEST(Subscriptions, TellsOnlyThoseThatAskedAndStillListen) {
  Subscriptions subscriptions;
  const JsonValue tools = ParsedJson(R"({"notifications":{"toolsListChanged":true}})");
  subscriptions.Add(IdOf("1"), tools);
  subscriptions.Add(IdOf(R"("a")"), tools);
  subscriptions.Add(IdOf("2"), ParsedJson(R"({"notifications":{}})"));
  EXPECT_EQ(subscriptions.Changed(ListKind::kTools).size(), 2u);
  EXPECT_TRUE(subscriptions.Has(IdOf("1")));
  EXPECT_TRUE(subscriptions.Remove(IdOf("1")));
  EXPECT_FALSE(subscriptions.Remove(IdOf("1")));
  EXPECT_FALSE(subscriptions.Has(IdOf("1")));
  EXPECT_EQ(subscriptions.Changed(ListKind::kTools),
            std::vector<std::string>{
                R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed",)"
                R"("params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"a"}}})"});
}

TEST(Subscriptions, TheListOfResourcesIsAnother) {
  Subscriptions subscriptions;
  subscriptions.Add(IdOf("1"), ParsedJson(R"({"notifications":{"toolsListChanged":true}})"));
  subscriptions.Add(IdOf("2"), ParsedJson(R"({"notifications":{"resourcesListChanged":true}})"));
  EXPECT_EQ(subscriptions.Changed(ListKind::kResources),
            std::vector<std::string>{
                R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed",)"
                R"("params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}})"});
}

TEST(Subscriptions, AResourceIsToldToThoseThatNamedIt) {
  Subscriptions subscriptions;
  const JsonValue none = ParsedJson(R"({"notifications":{}})");
  subscriptions.Add(IdOf("1"), none, {}, {"a:b"});
  subscriptions.Add(IdOf("2"), none, {}, {"a:c"});
  EXPECT_EQ(subscriptions.ResourceUpdated("a:b"),
            std::vector<std::string>{
                R"({"jsonrpc":"2.0","method":"notifications/resources/updated",)"
                R"("params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"uri":"a:b"}})"});
}

TEST(Subscriptions, EndsEachWithItsResult) {
  Subscriptions subscriptions;
  subscriptions.Add(IdOf("7"), ParsedJson(R"({"notifications":{}})"));
  EXPECT_EQ(subscriptions.End(),
            std::vector<std::string>{R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"complete",)"
                                     R"("_meta":{"io.modelcontextprotocol/subscriptionId":7}}})"});
  EXPECT_TRUE(subscriptions.End().empty());
}

TEST(CheckListenParams, AcceptsEveryFilterOfTheSpecification) {
  EXPECT_EQ(CheckListenParams(ParsedJson(R"({"notifications":{}})")), "");
  EXPECT_EQ(CheckListenParams(ParsedJson(R"({"notifications":{"toolsListChanged":true,)"
                                         R"("resourceSubscriptions":["a"],"taskIds":["b"]}})")),
            "");
}

TEST(CheckListenParams, NamesWhatIsWrong) {
  const struct {
    const char* params;
    const char* named;
  } kCases[] = {
      {"{}", "params.notifications is missing"},
      {R"({"notifications":[]})", "params.notifications must be an object"},
      {R"({"notifications":{"toolsListChanged":1}})", "toolsListChanged must be a boolean"},
      {R"({"notifications":{"resourceSubscriptions":"a"}})",
       "resourceSubscriptions must be an array"},
      {R"({"notifications":{"promptsListChanged":0}})", "promptsListChanged must be a boolean"},
      {R"({"notifications":{"resourceSubscriptions":[1]}})",
       "resourceSubscriptions must have only strings"},
      {R"({"notifications":{"taskIds":{}}})", "taskIds must be an array"},
      {R"({"notifications":{"taskIds":["a",1]}})", "taskIds must have only strings"},
  };
  for (const auto& c : kCases) {
    EXPECT_NE(CheckListenParams(ParsedJson(c.params)).find(c.named), std::string::npos) << c.params;
  }
}

}  // namespace
}  // namespace pa
