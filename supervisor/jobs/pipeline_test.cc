#include "supervisor/jobs/pipeline.h"

#include <gtest/gtest.h>

#include "tests/support/fake_calls.h"
#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using testing::ParsedJson;

PipelineStep Step(std::string id, std::string tool, std::string_view args) {
  return {.id = std::move(id), .tool = std::move(tool), .args = ParsedJson(args)};
}

class CheckPipelineTest : public ::testing::Test {
 protected:
  // The message of the error; "" = none.
  std::string Check(std::vector<PipelineStep> steps) { return Check(Pipeline{std::move(steps)}); }
  std::string Check(const Pipeline& pipeline) {
    error_ = CheckPipeline(pipeline, calls_);
    return error_ ? error_->message : "";
  }
  JsonValue Details() const { return ParsedJson(error_->details); }

  FakeCalls calls_;
  std::optional<ToolError> error_;
};

TEST_F(CheckPipelineTest, TakesWhatCanRun) {
  EXPECT_EQ(
      Check({Step("a", "note", R"({"text":"x"})"), Step("b", "list", R"({"paths":"{{a.text}}"})"),
             Step("c", "list", R"({"paths":["{{a.text}}","{{b[0]}}"]})"),
             Step("d", "shell", R"({"command":"echo {{a.text}}","stdin":"{{c}}"})")}),
      "");
}

// JSX, Helm and C++ have such braces, too.
TEST_F(CheckPipelineTest, WhatIsNoTemplateIsText) {
  EXPECT_EQ(
      Check({Step("a", "note", R"({"text":"style={{color: 'red'}} {{ .Values.x }} {{}} $x"})"),
             Step("b", "note", R"({"text":"\\{{a.text}} {x} %x%"})")}),
      "");
}

TEST_F(CheckPipelineTest, RefusesIdsThatNameNothing) {
  for (const char* id : {"", "1a", "-a", "a b", "a.b", "ü", "_validation"}) {
    EXPECT_NE(Check({Step(id, "note", R"({"text":"x"})")}).find("steps[0].id: expected a name"),
              std::string::npos)
        << id;
  }
  EXPECT_EQ(Check({Step("a", "note", R"({"text":"x"})"), Step("a", "note", R"({"text":"x"})")}),
            "steps[1].id: there are two steps 'a'");
  EXPECT_EQ(Check({Step("a-1", "note", R"({"text":"x"})")}), "");
}

TEST_F(CheckPipelineTest, RefusesUnknownAndLaterSteps) {
  EXPECT_EQ(Check({Step("build", "note", R"({"text":"x"})"),
                   Step("b", "note", R"({"text":"{{biuld.text}}"})")}),
            "step 'b': text: there is no step 'biuld' - did you mean 'build'?");
  EXPECT_EQ(Check({Step("a", "note", R"({"text":"{{b.text}}"})"),
                   Step("b", "note", R"({"text":"{{b.text}}"})")}),
            "step 'a': text: step 'b' does not come before this one (and 1 more)");
  const JsonValue details = Details();
  EXPECT_EQ(details.Find("step")->AsString(), "_validation");
  EXPECT_EQ(details.Find("errors")->Items().size(), 2u);
  EXPECT_EQ(details.Find("errors")->Items()[1].Find("step")->AsString(), "b");
  EXPECT_EQ(details.Find("errors")->Items()[1].Find("argument")->AsString(), "text");
}

TEST_F(CheckPipelineTest, RefusesArgumentsThatAreKnownToBeWrong) {
  EXPECT_NE(Check({Step("a", "note", "{}")}).find("step 'a': argument 'text' is required"),
            std::string::npos);
  EXPECT_NE(Check({Step("a", "note", R"({"text":"x"})"),
                   Step("b", "list", R"({"paths":"{{a.text}}","pahts":1})")})
                .find("step 'b': unknown argument"),
            std::string::npos);
  EXPECT_EQ(Check({{.id = "a",
                    .tool = "note",
                    .args = ParsedJson(R"({"text":"x"})"),
                    .result = ParsedJson(R"({"filter":"= x"})")}})
                .substr(0, 40),
            "step 'a': argument 'result.filter': colu");
}

// Its grammar would be evaluated once more.
TEST_F(CheckPipelineTest, RefusesTemplatesInResult) {
  PipelineStep step = Step("b", "note", R"({"text":"x"})");
  step.result = ParsedJson(R"({"filter":". CONTAINS {{a.text}}"})");
  EXPECT_EQ(Check({Step("a", "note", R"({"text":"x"})"), step}),
            "step 'b': result: templates stand in args alone");
  step.result = ParsedJson(R"({"filter":". CONTAINS x"})");
  EXPECT_EQ(Check({Step("a", "note", R"({"text":"x"})"), step}), "");
}

TEST_F(CheckPipelineTest, WhatIsOffIsRefusedBeforeWhatIsWrong) {
  EXPECT_EQ(Check({Step("1", "note", "{}"), Step("b", "off", "{}")}), "step 'b': 'off' is off");
  EXPECT_EQ(error_->code, ErrorCode::kToolDisabled);
  EXPECT_EQ(Details().Find("step")->AsString(), "b");
  EXPECT_EQ(Check({Step("b", "nosuch", "{}")}), "step 'b': tool: there is no tool 'nosuch'");
  EXPECT_EQ(Details().Find("step")->AsString(), "_validation");
}

TEST_F(CheckPipelineTest, RefusesTemplatesThatWouldBecomePrograms) {
  const auto command = [&](std::string_view text) {
    const JsonValue args = JsonValue::Object({{"command", JsonValue::String(std::string(text))}});
    return Check(
        {Step("a", "note", R"({"text":"x"})"), {.id = "b", .tool = "shell", .args = args}});
  };
  for (const char* program :
       {"{{a.text}}", "{{a.text}} x", "eval {{a.text}}", "sh -c {{a.text}}", "echo $(({{a.text}}))",
        "[[ 1 -eq {{a.text}} ]]", "echo ${x:-{{a.text}}}", "true; {{a.text}}",
        "cat <<'E'\n{{a.text}}\nE\n", "x[{{a.text}}]=1", "awk {{a.text}} f"}) {
    EXPECT_NE(command(program).find("cannot stand here"), std::string::npos) << program;
  }
  for (const char* text : {"echo {{a.text}}", "x={{a.text}}; echo \"$x\"", "echo '{{a.text}}'",
                           "cat <<E\n{{a.text}}\nE\n", "f() { echo {{a.text}}; }; f"}) {
    EXPECT_EQ(command(text), "") << text;
  }
}

// A value would become a program, or choose which tool runs.
TEST_F(CheckPipelineTest, OfABatchInAPipeline) {
  const auto batch = [&](std::string_view args) {
    return Check({Step("a", "note", R"({"text":"x"})"), Step("b", "nest", args)});
  };
  for (const char* program : {R"({"tool":"shell","items":"{{a.text}}"})",
                              R"({"tool":"shell","items":[{"command":"echo {{a.text}}"}]})"}) {
    EXPECT_NE(batch(program).find("a template cannot be in command of shell"), std::string::npos)
        << program << batch(program);
  }
  EXPECT_NE(batch(R"({"tool":"{{a.text}}","items":[]})").find("the name of a tool"),
            std::string::npos);
  EXPECT_NE(batch(R"({"tool":"off","items":[]})").find("'off' is off"), std::string::npos);
  EXPECT_EQ(batch(R"({"tool":"shell","items":[{"command":"cat","stdin":"{{a.text}}"}]})"), "");
  EXPECT_EQ(batch(R"({"tool":"note","items":"{{a.text}}"})"), "");
}

TEST_F(CheckPipelineTest, OfReturnAndResult) {
  Pipeline pipeline{.steps = {Step("a", "note", R"({"text":"x"})")}};
  pipeline.returns = ParsedJson(R"({"x":"{{a.text}}","y":["{{b.text}}"]})");
  EXPECT_EQ(Check(pipeline), "return.y[0]: there is no step 'b' - did you mean 'a'?");
  pipeline.returns = ParsedJson(R"({"x":"{{a.text}}"})");
  EXPECT_EQ(Check(pipeline), "");
  pipeline.result = ReadResultOrder(ParsedJson(R"({"items":"x","limit":1})")).value();
  EXPECT_EQ(Check(pipeline), "");
  pipeline.result = ReadResultOrder(ParsedJson(R"({"limit":1})")).value();
  EXPECT_EQ(Check(pipeline), "result.items: expected a member of return");
  pipeline.returns.reset();
  EXPECT_EQ(Check(pipeline), "") << "the last step's own list";
  pipeline.result = ReadResultOrder(ParsedJson(R"({"items":"texts"})")).value();
  EXPECT_NE(Check(pipeline).find("the result has no list 'texts'"), std::string::npos);
}

class PrepareStepTest : public ::testing::Test {
 protected:
  std::expected<PreparedStep, TemplateError> Prepare(const std::string& tool, std::string_view args,
                                                     const JsonValue& value) {
    return PrepareStep(Step("b", tool, args), *calls_.Find(tool), std::span(ids_).first(1), ids_,
                       [&](const StepReference&) { return value; });
  }
  std::string Arguments(const std::string& tool, std::string_view args, const JsonValue& value) {
    const auto prepared = Prepare(tool, args, value);
    return prepared ? prepared->arguments.Dump() : prepared.error().message;
  }

  const std::vector<std::string> ids_ = {"a", "b"};
  FakeCalls calls_;
};

TEST_F(PrepareStepTest, FillsArguments) {
  EXPECT_EQ(Arguments("list", R"({"paths":"{{a.paths}}"})", ParsedJson(R"(["x","y"])")),
            R"({"paths":["x","y"]})");
  EXPECT_EQ(Arguments("note", R"({"text":"<{{a.n}}> \\{{a.n}}"})", ParsedJson("7")),
            R"({"text":"<7> {{a.n}}"})");
  EXPECT_EQ(Arguments("note", R"({"text":"{{a.text}}"})", JsonValue::String("{{a.text}} $[x]")),
            R"({"text":"{{a.text}} $[x]"})")
      << "a value is not looked through again";
}

TEST_F(PrepareStepTest, AListThatCameOutEmptyHasNothingToDo) {
  const auto empty = Prepare("list", R"({"paths":"{{a.paths}}"})", ParsedJson("[]"));
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->empty, "paths");
  EXPECT_EQ(Prepare("list", R"({"paths":["{{a.paths}}"]})", ParsedJson("[]"))->empty, "");
  EXPECT_EQ(Prepare("list", R"({"paths":"{{a.paths}}"})", ParsedJson(R"([""])"))->empty, "");
  EXPECT_EQ(Prepare("note", R"({"text":"{{a.paths}}"})", ParsedJson("[]"))->empty, "");
}

TEST_F(PrepareStepTest, ValuesAreNoPartOfAProgram) {
  const std::string hostile = "'; touch pwned; echo \"$(touch pwned)\n`x`";
  const auto step =
      Prepare("shell", R"({"command":"grep -- {{a.x}} \"{{a.y}}\"","stdin":"{{a.x}}"})",
              JsonValue::String(hostile));
  ASSERT_TRUE(step);
  ASSERT_TRUE(step->shell);
  EXPECT_EQ(step->shell->program.find("touch"), std::string::npos) << step->shell->program;
  EXPECT_EQ(step->shell->values, (std::vector<std::string>{hostile, hostile}));
  EXPECT_NE(step->arguments.Find("command")->AsString().find("touch pwned"), std::string::npos)
      << "people see it";
  EXPECT_EQ(step->arguments.Find("stdin")->AsString(), hostile);
  EXPECT_FALSE(Prepare("shell", R"({"command":"echo x"})", {})->shell);
}

TEST_F(PrepareStepTest, WhatNoProgramTakesGoesToStdin) {
  const char* echo = R"({"command":"echo {{a.x}}"})";
  EXPECT_NE(Arguments("shell", echo, JsonValue::String(std::string("a\0b", 3))).find("stdin"),
            std::string::npos);
  EXPECT_NE(
      Arguments("shell", echo, JsonValue::String(std::string((100U << 10) + 1, 'x'))).find("stdin"),
      std::string::npos);
  EXPECT_TRUE(Prepare("shell", echo, JsonValue::String(std::string(100U << 10, 'x'))));
}

}  // namespace
}  // namespace pa
