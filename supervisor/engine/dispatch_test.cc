#include "supervisor/engine/dispatch.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/fake_world.h"

namespace pa {
namespace {

ToolResult Finish(FakeWorld& world, Task<ToolResult> task) {
  std::optional<ToolResult> result;
  Detach(std::move(task), [&](ToolResult done) { result = std::move(done); });
  world.Wait();
  EXPECT_TRUE(result);
  return result ? *std::move(result) : ToolResult();
}

ToolResult Call(FakeWorld& world, std::string tool, std::string_view json) {
  CancelSource cancel;
  CallContext context = NewContext(world.services(), cancel);
  const JsonValue arguments = ParseJson(json).value();
  return Finish(
      world, Dispatch(world.services(),
                      {.caller = {}, .tool = std::move(tool), .arguments = &arguments}, context));
}

std::string_view CodeOf(const ToolResult& result) {
  return result.error ? CodeText(result.error->code) : "";
}

TEST(Dispatch, RunsTheToolWithItsArguments) {
  FakeWorld world;
  const ToolResult result = Call(world, "note", R"({"text":"hello"})");
  EXPECT_EQ(CodeOf(result), "");
  EXPECT_EQ(result.text, "hello");
}

TEST(Dispatch, ArgumentsThatDoNotFitAreRefusedBeforeAnythingRuns) {
  FakeWorld world;
  EXPECT_EQ(CodeOf(Call(world, "note", R"({"text":1})")), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeOf(Call(world, "wait", R"({"text":"more"})")), "INVALID_ARGUMENT");
  EXPECT_EQ(world.running(), 0U);
}

TEST(Dispatch, ArgumentsCountAsTheyAreMeant) {
  FakeWorld world;
  const ToolResult result = Call(world, "note", R"({"Text":"hello"})");
  EXPECT_EQ(CodeOf(result), "");
  EXPECT_EQ(result.text, "hello");
  const ToolResult two = Call(world, "note", R"({"Text":"hello","text":"bye"})");
  EXPECT_EQ(CodeOf(two), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeOf(Call(world, "off", R"({"Text":"a","text":"b"})")), "TOOL_DISABLED");
}

// Whoever hears of his arguments first mends them, and learns then that it was in vain.
TEST(Dispatch, AToolThatIsOffSaysSoWhateverItsArguments) {
  FakeWorld world;
  EXPECT_EQ(CodeOf(Call(world, "off", R"({"text":"fine"})")), "TOOL_DISABLED");
  EXPECT_EQ(CodeOf(Call(world, "off", R"({"text":1})")), "TOOL_DISABLED");
  world.Enable({"off"});
  EXPECT_EQ(CodeOf(Call(world, "off", R"({"text":"fine"})")), "");
  EXPECT_EQ(CodeOf(Call(world, "off", R"({"text":1})")), "INVALID_ARGUMENT");
}

TEST(Dispatch, AToolThatThereIsNotIsAnsweredWithThoseThatThereAre) {
  FakeWorld world;
  const ToolResult result = Call(world, "nots", "{}");
  EXPECT_EQ(CodeOf(result), "INVALID_ARGUMENT");
  EXPECT_EQ(result.error->message, "there is no tool 'nots' - did you mean 'note'?");
  EXPECT_TRUE(result.error->ai_message.contains("note, fail, long")) << result.error->ai_message;
}

TEST(Dispatch, AMessageThatIsWrongRunsNothing) {
  FakeWorld world;
  const ToolResult result =
      Finish(world, Refuse(world.services(), {.caller = {}, .tool = "wait", .arguments = nullptr},
                           InvalidArgument("no JSON", "Write JSON.")));
  EXPECT_EQ(CodeOf(result), "INVALID_ARGUMENT");
  EXPECT_EQ(world.running(), 0U);
}

}  // namespace
}  // namespace pa
