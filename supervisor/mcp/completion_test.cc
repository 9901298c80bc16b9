#include "supervisor/mcp/completion.h"

#include <gtest/gtest.h>

#include "tests/support/json.h"
#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using testing::Json;
using testing::ParsedJson;

const Identity kCompletingServer{.version = "1.2.3"};

TEST(CompletionIn, ReadsBothKinds) {
  const JsonValue params = ParsedJson(
      R"({"ref":{"type":"ref/prompt","name":"make"},"argument":{"name":"target","value":"te"},)"
      R"("context":{"arguments":{"working_directory":"sub","other":1}}})");
  const auto order = CompletionIn(params);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->of, CompletionOrder::Of::kPrompt);
  EXPECT_EQ(order->name, "make");
  EXPECT_EQ(order->argument, "target");
  EXPECT_EQ(order->value, "te");
  EXPECT_EQ(order->Known("working_directory"), "sub");
  EXPECT_EQ(order->Known("other"), "");
  EXPECT_EQ(order->Known("absent"), "");
  const JsonValue of_template = ParsedJson(
      R"({"ref":{"type":"ref/resource","uri":"a://{id}"},"argument":{"name":"id","value":""}})");
  const auto other = CompletionIn(of_template);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->of, CompletionOrder::Of::kTemplate);
  EXPECT_EQ(other->name, "a://{id}");
  EXPECT_EQ(other->Known("id"), "");
}

TEST(CompletionIn, NamesWhatIsWrong) {
  const struct {
    const char* params;
    const char* named;
  } kCases[] = {
      {"{}", "params.ref is missing"},
      {R"({"ref":[]})", "params.ref must be an object, not array"},
      {R"({"ref":{"type":"ref/tool"}})", "params.ref.type must be ref/prompt or ref/resource"},
      {R"({"ref":{"type":"ref/prompt","uri":"x"}})", "params.ref.name is missing"},
      {R"({"ref":{"type":"ref/prompt","name":"x"}})", "params.argument is missing"},
      {R"({"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":1}})",
       "params.argument.value must be a string, not number"},
  };
  for (const auto& c : kCases) {
    const JsonValue params = ParsedJson(c.params);
    const auto order = CompletionIn(params);
    ASSERT_FALSE(order) << c.params;
    EXPECT_EQ(order.error().code, rpc::kInvalidParams);
    EXPECT_EQ(order.error().message, std::string("Invalid params: ") + c.named);
  }
}

Json Completed(const std::vector<std::string>& all, std::string_view value) {
  return Json::parse(CompleteResult(kLatestLegacy, kCompletingServer, all, value));
}

TEST(CompleteResult, PutsWhatBeginsWithTheValueFirst) {
  EXPECT_EQ(Completed({"retest", "lint", "test", "Test-all"}, "te"),
            Json::parse(R"({"completion":{"values":["test","Test-all","retest"],"total":3,)"
                        R"("hasMore":false}})"));
  EXPECT_EQ(Completed({"a", "b"}, "")["completion"]["values"], Json::parse(R"(["a","b"])"));
  EXPECT_EQ(Completed({"a"}, "x")["completion"]["values"], Json::array());
}

TEST(CompleteResult, GivesAHundredAtMost) {
  const Json completion = Completed(std::vector<std::string>(101, "target"), "t")["completion"];
  EXPECT_EQ(completion["values"].size(), 100u);
  EXPECT_EQ(completion["total"], 101);
  EXPECT_EQ(completion["hasMore"], true);
}

}  // namespace
}  // namespace pa
