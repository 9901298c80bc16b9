#include "supervisor/jobs/templates.h"

#include <gtest/gtest.h>

#include <string>

namespace pa {
namespace {

const std::vector<std::string> kDone = {"build", "grep"};
const std::vector<std::string> kSteps = {"build", "grep", "last"};

JsonValue Parse(const std::string& text) { return ParseJson(text).value(); }

std::expected<JsonValue, std::string> ValueOfStep(const StepReference& reference) {
  if (reference.id == "build") {
    const JsonValue base =
        Parse(reference.OfItems() ? R"(["one","two"])"
                                  : R"({"stdout":"one\ntwo\n","exit_code":0,"none":null})");
    return LookUp(reference, base, reference.path);
  }
  const JsonValue data = Parse(R"({"matches":[{"path":"a b","line":1},{"path":"c"}],"empty":[],)"
                               R"("o":{"x.y":[1.50]},"t":"{{build.stdout}}"})");
  return LookUp(reference, reference.OfItems() ? *data.Find("matches") : data, reference.path);
}

std::string Fill(const std::string& arguments) {
  const auto filled = FillTemplates(Parse(arguments), kDone, kSteps, ValueOfStep);
  return filled ? filled->Dump() : filled.error().argument + ": " + filled.error().message;
}

TEST(Templates, AWholeStringKeepsTheType) {
  EXPECT_EQ(Fill(R"({"n":"{{build.exit_code}}"})"), R"({"n":0})");
  EXPECT_EQ(Fill(R"({"n":"{{ build.none }}"})"), R"({"n":null})");
  EXPECT_EQ(Fill(R"({"l":"{{grep.matches}}"})"), R"({"l":[{"path":"a b","line":1},{"path":"c"}]})");
  EXPECT_EQ(Fill(R"({"l":"{{grep[*].path}}"})"), R"({"l":["a b","c"]})");
  EXPECT_EQ(Fill(R"({"l":"{{grep[*].none}}"})"), R"({"l":[]})");
  EXPECT_EQ(Fill(R"({"l":"{{grep.empty}}"})"), R"({"l":[]})");
  EXPECT_EQ(Fill(R"({"l":"{{grep[0]}}"})"), R"({"l":{"path":"a b","line":1}})");
  EXPECT_EQ(Fill(R"({"l":["{{build[1]}}"]})"), R"({"l":["two"]})");
}

TEST(Templates, InALongerStringTheyAreText) {
  EXPECT_EQ(Fill(R"({"p":"./{{grep[1].path}}:{{grep[0].line}}"})"), R"({"p":"./c:1"})");
  EXPECT_EQ(Fill(R"({"p":"x{{grep.o}}"})"), R"({"p":"x{\"x.y\":[1.50]}"})");
  EXPECT_EQ(Fill(R"({"p":"{{grep.o[\"x.y\"][0]}} "})"), R"({"p":"1.50 "})");
}

TEST(Templates, ValuesAreNotLookedThroughAgain) {
  EXPECT_EQ(Fill(R"({"p":"{{grep.t}}","q":"-{{grep.t}}"})"),
            R"({"p":"{{build.stdout}}","q":"-{{build.stdout}}"})");
}

TEST(Templates, KeysAndOtherValuesStay) {
  EXPECT_EQ(Fill(R"({"{{build}}":1,"a":[true,null,1e3,{"b":"x"}]})"),
            R"({"{{build}}":1,"a":[true,null,1e3,{"b":"x"}]})");
}

TEST(Templates, WhatIsMissingIsNamed) {
  EXPECT_EQ(Fill(R"({"edits":[{"path":"{{grep.path}}"}]})"),
            "edits[0].path: {{grep.path}}: the result of step 'grep' does not have it; it has "
            "matches, empty, o, t");
  EXPECT_EQ(Fill(R"({"p":"{{grep[7].path}}"})"),
            "p: {{grep[7].path}}: the result of step 'grep' does not have it; the list has 2");
}

TEST(Templates, AllThatIsWrongIsFoundBeforeAnythingRuns) {
  const auto errors = CheckTemplates(
      Parse(R"({"a":"{{last.x}}","b":["fine {{build}}",{"c":"{{bulid}}"}],"d":1})"), kDone, kSteps);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].argument, "a");
  EXPECT_EQ(errors[0].message, "step 'last' does not come before this one");
  EXPECT_EQ(errors[1].argument, "b[1].c");
  EXPECT_EQ(errors[1].message, "there is no step 'bulid' - did you mean 'build'?");
  EXPECT_TRUE(CheckTemplates(Parse(R"({"x":"{{.Values.a}}"})"), kDone, kSteps).empty());
}

}  // namespace
}  // namespace pa
