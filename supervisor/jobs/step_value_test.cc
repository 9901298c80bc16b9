#include "supervisor/jobs/step_value.h"

#include <gtest/gtest.h>

#include "tests/support/fake_calls.h"

namespace pa {
namespace {

class StepValueTest : public ::testing::Test {
 protected:
  StepValueTest() { step_.tool = calls_.Find("note"); }
  // As JSON, or what is wrong.
  std::string Value(std::string_view text) {
    const std::vector<std::string> ids = {"a"};
    const auto parsed = ParseTemplateText(text, ids, ids);
    EXPECT_TRUE(parsed && parsed->Whole() != nullptr) << text;
    const auto value = StepData(step_, calls_.results()).Value(*parsed->Whole());
    return value ? value->Dump() : value.error();
  }

  FakeCalls calls_;
  FinishedStep step_;
};

TEST_F(StepValueTest, OfDataAndOfItsList) {
  step_.result.data = R"({"text":"one\ntwo\n","n":7,"paths":["p","q"],"o":{"x":null}})";
  EXPECT_EQ(Value("{{a.n}}"), "7");
  EXPECT_EQ(Value("{{a.o}}"), R"({"x":null})");
  EXPECT_EQ(Value("{{a.paths[1]}}"), R"("q")");
  EXPECT_EQ(Value("{{a[0]}}"), R"("one")") << "the lines of the tool's own list";
  EXPECT_EQ(Value("{{a[*]}}"), R"(["one","two"])");
  EXPECT_EQ(Value("{{a}}"), step_.result.data);
  step_.items = "paths";
  EXPECT_EQ(Value("{{a[0]}}"), R"("p")") << "the list that `result` names";
}

TEST_F(StepValueTest, WhatIsMissingIsNamed) {
  step_.result.data = R"({"n":7})";
  EXPECT_EQ(Value("{{a.m}}"), "{{a.m}}: the result of step 'a' does not have it; it has n");
  EXPECT_EQ(Value("{{a[0]}}"), "{{a[0]}} cannot be: the result of the step has no list");
  step_.result.data = "";
  EXPECT_EQ(Value("{{a.m}}"), "{{a.m}}: the result of step 'a' does not have it");
}

TEST_F(StepValueTest, WhatIsShownInPartIsReadAsAWhole) {
  step_.result.data = R"({"text":"one [...] three\n","n":1})";
  step_.result.kept = {{.member = "text", .uri = calls_.Store("one\ntwo\nthree\n")}};
  EXPECT_EQ(Value("{{a.text}}"), R"("one\ntwo\nthree\n")");
  EXPECT_EQ(Value("{{a[1]}}"), R"("two")");
  EXPECT_EQ(Value("{{a.n}}"), "1");
  EXPECT_EQ(Value("{{a}}"), R"({"text":"one\ntwo\nthree\n","n":1})");
  step_.result.data = R"({"text":[1]})";
  step_.result.kept = {{.member = "text", .uri = calls_.Store("[1,\n2]\n")}};
  EXPECT_EQ(Value("{{a.text}}"), "[1,2]");
  EXPECT_EQ(Value("{{a[1]}}"), "2");
}

// The part would be taken for the whole.
TEST_F(StepValueTest, WhatIsNotThereAsAWholeIsNoValue) {
  step_.result.data = R"({"text":"one [...] three\n","n":1})";
  step_.result.kept = {{.member = "text", .uri = "project-actions://results/none"}};
  EXPECT_NE(Value("{{a.text}}").find("no longer kept"), std::string::npos);
  step_.result.kept = {{.member = "text", .uri = calls_.Store("one\n"), .whole = false}};
  EXPECT_NE(Value("{{a[0]}}").find("not all of it was kept"), std::string::npos);
  EXPECT_NE(Value("{{a}}").find("not all of it was kept"), std::string::npos);
  step_.result.kept = {{.member = "text", .uri = calls_.Store(std::string(kMaxValue + 1, 'x'))}};
  EXPECT_NE(Value("{{a.text}}").find("narrow it with `result`"), std::string::npos);
  EXPECT_EQ(Value("{{a.n}}"), "1");
}

TEST_F(StepValueTest, APageIsNotTheList) {
  step_.tool = calls_.Find("list");
  step_.result.data = R"({"paths":["p","q"],"total":3})";
  step_.result.truncated = true;
  step_.page = true;
  for (const char* all : {"{{a[*]}}", "{{a.paths}}", "{{a.paths[*]}}"}) {
    EXPECT_NE(Value(all).find("is a page of a longer list"), std::string::npos) << all;
  }
  EXPECT_EQ(Value("{{a[0]}}"), R"("p")");
  EXPECT_EQ(Value("{{a.total}}"), "3");
  EXPECT_EQ(Value("{{a}}"), step_.result.data) << "which says that it is a page";
  step_.page = false;
  EXPECT_EQ(Value("{{a[*]}}"), R"(["p","q"])") << "as much as was asked for";
}

}  // namespace
}  // namespace pa
