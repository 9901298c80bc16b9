#include "supervisor/jobs/run_pipeline.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/failing_calls.h"
#include "tests/support/fake_calls.h"
#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using testing::ParsedJson;

class RunPipelineTest : public ::testing::Test {
 protected:
  static PipelineStep Step(std::string id, std::string tool, std::string_view args) {
    return {.id = std::move(id), .tool = std::move(tool), .args = ParsedJson(args)};
  }
  ToolResult Run(Pipeline pipeline) {
    const auto error = CheckPipeline(pipeline, calls_);
    EXPECT_FALSE(error) << error->message;
    return calls_.Await(RunPipeline(std::move(pipeline), calls_.outer()));
  }
  ToolResult Run(std::vector<PipelineStep> steps) { return Run(Pipeline{std::move(steps)}); }
  void FailOn(const std::string& text) {
    calls_.On("note", [text](const JsonValue& arguments, CallContext&) {
      ToolResult result;
      result.data = arguments.Dump();
      result.text = "note: done";
      if (arguments.Find("text")->AsString() == text) {
        result.error = ToolError{.code = ErrorCode::kCommandFailed,
                                 .message = "it failed",
                                 .details = R"({"exit_code":2})"};
      }
      return result;
    });
  }

  FakeCalls calls_;
};

TEST_F(RunPipelineTest, LaterStepsHaveValuesOfEarlierOnes) {
  const ToolResult result = Run({Step("a", "note", R"({"text":"one"})"),
                                 Step("b", "note", R"({"text":"{{a.text}} two"})"),
                                 Step("c", "list", R"({"paths":["{{a.text}}","{{b.text}}"]})")});
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.data, R"({"paths":["one","one two"]})");
  EXPECT_EQ(calls_.made().at(1), R"(note {"text":"one two"})");
  EXPECT_EQ(result.data_of, calls_.Find("list"));
  EXPECT_TRUE(result.text.starts_with("pipeline: success, 3 of 3 steps in ")) << result.text;
}

TEST_F(RunPipelineTest, ReturnsWhatIsAskedFor) {
  Pipeline pipeline{.steps = {Step("a", "note", R"({"text":"one"})"),
                              Step("b", "list", R"({"paths":["x","y"]})")}};
  pipeline.returns =
      ParsedJson(R"({"text":"<{{a.text}}>","paths":"{{b.paths}}","first":"{{b[0]}}","n":1})");
  const ToolResult result = Run(std::move(pipeline));
  EXPECT_EQ(result.data, R"({"text":"<one>","paths":["x","y"],"first":"x","n":1})");
  EXPECT_EQ(result.data_of, nullptr);
}

TEST_F(RunPipelineTest, StopsAtAFailureAndTellsAllThatWasDone) {
  FailOn("two");
  const ToolResult result =
      Run({Step("a", "note", R"({"text":"one"})"), Step("b", "note", R"({"text":"two"})"),
           Step("c", "note", R"({"text":"three"})")});
  EXPECT_EQ(calls_.made().size(), 2u);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, ErrorCode::kCommandFailed);
  EXPECT_EQ(result.error->message, "step 'b': it failed");
  EXPECT_EQ(result.error->details, R"({"step":"b","exit_code":2})");
  const JsonValue data = ParsedJson(result.data);
  EXPECT_EQ(data.Find("completed")->AsInteger(), 1);
  EXPECT_EQ(data.Find("total")->AsInteger(), 3);
  const JsonValue& steps = *data.Find("step_results");
  ASSERT_EQ(steps.Members().size(), 2u);
  EXPECT_TRUE(steps.Find("a")->Find("success")->AsBool());
  EXPECT_EQ(steps.Find("a")->Find("result")->Find("data")->Dump(), R"({"text":"one"})");
  EXPECT_FALSE(steps.Find("b")->Find("success")->AsBool());
  EXPECT_EQ(steps.Find("b")->Find("result")->Find("error")->Find("code")->AsString(),
            "COMMAND_FAILED");
  EXPECT_NE(result.text.find("--- a ---\nnote: done\n--- b ---\n"), std::string::npos)
      << result.text;
}

TEST_F(RunPipelineTest, AMissingFieldFailsItsStep) {
  const ToolResult result =
      Run({Step("a", "note", R"({"text":"one"})"), Step("b", "note", R"({"text":"{{a.txt}}"})")});
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParsedJson(result.error->details).Find("step")->AsString(), "b");
  EXPECT_EQ(ParsedJson(result.error->details).Find("argument")->AsString(), "text");
  EXPECT_EQ(ParsedJson(result.error->details).Find("path")->AsString(), "{{a.txt}}");
  EXPECT_NE(result.error->message.find("{{a.txt}}"), std::string::npos) << result.error->message;
  EXPECT_EQ(calls_.made().size(), 1u);
}

TEST_F(RunPipelineTest, AMissingFieldOfReturnLosesNothing) {
  Pipeline pipeline{.steps = {Step("a", "note", R"({"text":"one"})")}};
  pipeline.returns = ParsedJson(R"({"x":"{{a.txt}}"})");
  const ToolResult result = Run(std::move(pipeline));
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message.find("return.x"), std::string::npos) << result.error->message;
  const JsonValue data = ParsedJson(result.data);
  EXPECT_EQ(data.Find("completed")->AsInteger(), 1);
  EXPECT_TRUE(data.Find("step_results")->Find("a")->Find("success")->AsBool());
}

TEST_F(RunPipelineTest, AnEmptyListIsSkipped) {
  calls_.On("list", [](const JsonValue&, CallContext&) {
    ToolResult result;
    result.data = R"({"paths":[]})";
    return result;
  });
  const ToolResult result =
      Run({Step("a", "list", R"({"paths":["x"]})"), Step("b", "list", R"({"paths":"{{a.paths}}"})"),
           Step("c", "note", R"({"text":"{{b.skipped}}"})")});
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.data, R"({"text":"empty paths"})");
  EXPECT_EQ(calls_.made().size(), 2u);
}

TEST_F(RunPipelineTest, TheTimeIsLookedAtBeforeEachStep) {
  calls_.On("list", [](const JsonValue& arguments, CallContext&) {
    std::this_thread::sleep_for(milliseconds(30));
    ToolResult result;
    result.data = arguments.Dump();
    return result;
  });
  Pipeline pipeline{
      .steps = {Step("a", "list", R"({"paths":["x"]})"), Step("b", "note", R"({"text":"x"})")},
      .timeout = milliseconds(10)};
  const ToolResult result = Run(std::move(pipeline));
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, ErrorCode::kTimedOut);
  EXPECT_EQ(ParsedJson(result.error->details).Find("step")->AsString(), "b");
  EXPECT_EQ(calls_.made().size(), 1u);
  EXPECT_TRUE(ParsedJson(result.data).Find("step_results")->Find("a")->Find("success")->AsBool())
      << "the step that ran was not interrupted";
}

TEST_F(RunPipelineTest, WaitingForTheUserIsNoTimeOfThePipelines) {
  calls_.On("list", [](const JsonValue& arguments, CallContext& context) {
    std::this_thread::sleep_for(milliseconds(30));
    context.record.approvals.push_back(
        {.answer = "accept", .rule = "", .waited = milliseconds(30)});
    ToolResult result;
    result.data = arguments.Dump();
    return result;
  });
  Pipeline pipeline{
      .steps = {Step("a", "list", R"({"paths":["x"]})"), Step("b", "note", R"({"text":"x"})")},
      .timeout = milliseconds(25)};
  EXPECT_FALSE(Run(std::move(pipeline)).error);
}

TEST_F(RunPipelineTest, EndsWhenItIsCancelled) {
  calls_.On("list", [this](const JsonValue&, CallContext& context) {
    calls_.cancel().Cancel();
    EXPECT_TRUE(context.cancel.cancelled()) << "the step hears of it";
    return RefusedCall(Cancelled("list"));
  });
  const ToolResult result =
      Run({Step("a", "list", R"({"paths":["x"]})"), Step("b", "note", R"({"text":"x"})")});
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, ErrorCode::kCancelled);
  EXPECT_EQ(calls_.made().size(), 1u);
}

TEST_F(RunPipelineTest, SaysWhichStepRuns) {
  std::string seen;
  calls_.On("note", [&](const JsonValue&, CallContext& context) {
    context.record.asks_user = true;
    seen = WaitingText(calls_.outer().record);
    EXPECT_EQ(context.shown.part_of, "step 'b' of a pipeline");
    return ToolResult{};
  });
  Run({Step("a", "list", R"({"paths":["x"]})"), Step("b", "note", R"({"text":"x"})")});
  EXPECT_EQ(seen, "step b (2 of 2): waiting for the user's approval");
  EXPECT_EQ(WaitingText(calls_.outer().record), "");
}

TEST_F(RunPipelineTest, ValuesAreArgumentsOfAShell) {
  calls_.On("shell", [](const JsonValue& arguments, CallContext& context) {
    EXPECT_EQ(arguments.Find("command")->AsString(), "echo 'a b'");
    EXPECT_TRUE(context.shell != nullptr && context.shell->values.at(0) == "a b");
    return ToolResult{};
  });
  EXPECT_FALSE(Run({Step("a", "note", R"({"text":"a b"})"),
                    Step("b", "shell", R"({"command":"echo {{a.text}}"})")})
                   .error);
}

// 4 MiB, written out a thousand times, would be four thousand.
TEST_F(RunPipelineTest, ValuesHaveABoundTogether) {
  calls_.On("note", [](const JsonValue&, CallContext&) {
    ToolResult result;
    result.data =
        JsonValue::Object({{"text", JsonValue::String(std::string(1U << 20, 'x'))}}).Dump();
    return result;
  });
  std::string text;
  for (int i = 0; i < 20; ++i) text += "{{a.text}}";
  const JsonValue args = JsonValue::Object({{"text", JsonValue::String(text)}});
  const ToolResult result =
      Run({Step("a", "note", R"({"text":"x"})"), {.id = "b", .tool = "note", .args = args}});
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message.find("the values of one step"), std::string::npos);
}

TEST_F(RunPipelineTest, AStepHasALimitedNumberOfTemplates) {
  std::string text;
  for (int i = 0; i < 201; ++i) text += "{{a.text}}";
  const JsonValue args = JsonValue::Object({{"text", JsonValue::String(text)}});
  const ToolResult result =
      Run({Step("a", "note", R"({"text":"x"})"), {.id = "b", .tool = "note", .args = args}});
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message.find("more than 200 templates"), std::string::npos);
}

TEST_F(RunPipelineTest, ACancelThatEndsItAtOnce) {
  calls_.Hang("note");
  std::optional<ToolResult> result;
  Detach(RunPipeline({.steps = {Step("a", "note", R"({"text":"x"})"),
                                Step("b", "note", R"({"text":"x"})")}},
                     calls_.outer()),
         [&](ToolResult value) { result = std::move(value); });
  EXPECT_FALSE(result);
  calls_.cancel().Cancel();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error->code, ErrorCode::kCancelled);
  EXPECT_EQ(calls_.made().size(), 1u);
}

// Each allocation that there is fails once.
TEST(RunPipelineMemory, IsEndedAndNotTheServer) {
  testing::EachAllocationFailsOnce([](FakeCalls& calls) {
    const auto step = [](const char* id, std::string_view args) {
      return PipelineStep{.id = id, .tool = "note", .args = ParsedJson(args)};
    };
    Pipeline pipeline{.steps = {step("a", R"({"text":"x"})"), step("b", R"({"text":"{{a[0]}}"})")}};
    return RunPipeline(std::move(pipeline), calls.outer());
  });
}

}  // namespace
}  // namespace pa
