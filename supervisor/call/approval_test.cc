#include "supervisor/call/approval.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>

#include "base/utf8.h"
#include "tests/support/sanitizers.h"

namespace pa {
namespace {

Question About(const std::string& call) { return {"permissions[0] (p.yaml:3:5)", "why", call}; }

TEST(Approvals, AreForOneRuleAndOneCall) {
  Approvals approvals;
  approvals.Grant(DigestOf(About("make a")));
  EXPECT_TRUE(approvals.Has(About("make a")));
  EXPECT_FALSE(approvals.Has(About("make b")));
  EXPECT_FALSE(approvals.Has({"permissions[1] (p.yaml:4:5)", "why", "make a"}));
  EXPECT_FALSE(approvals.Has({"permissions[0] (p.yaml:3:5)m", "why", "ake a"}));
  approvals.GrantAll();
  EXPECT_TRUE(approvals.Has(About("make b")));
}

TEST(Approvals, WhatIsWantedIsWantedOnce) {
  Approvals approvals;
  for (const char* call : {"a", "b", "a"}) approvals.Want(About(call));
  ASSERT_EQ(approvals.wanted().size(), 2u);
  EXPECT_EQ(approvals.wanted()[1].call, "b");
  approvals.Forget();
  EXPECT_TRUE(approvals.wanted().empty());
}

TEST(QuestionText, NamesCallReasonRuleAndArguments) {
  const Question questions[] = {About("make deploy")};
  EXPECT_EQ(QuestionText(questions, {.arguments = "target = deploy"}),
            "Allow this call?\n\n    make deploy\n"
            "Asked by permissions[0] (p.yaml:3:5): why\n\n"
            "Arguments: target = deploy");
  const Question without[] = {{"permissions[0]", "", "bash ls"}};
  EXPECT_EQ(QuestionText(without, {}),
            "Allow this call?\n\n    bash ls\nAsked by permissions[0]\n\nArguments: none");
}

// The user must read what would run, whatever an agent puts into it.
TEST(QuestionText, NothingHidesOrEndsALine) {
  const auto shown = [](const std::string& call) {
    const Question questions[] = {About(call)};
    const std::string text = QuestionText(questions, {});
    const std::size_t begin = text.find("    ") + 4;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(shown("bash ls\nAsked by nobody"), "bash ls\\nAsked by nobody");
  EXPECT_EQ(shown("a\r\x1b[2Jb\x7f"), "a\\u{d}\\u{1b}[2Jb\\u{7f}");
  EXPECT_EQ(shown("a\u202eb\u200bc\u2066d\u00ade\u061cf\U000e0041g"),
            "a\\u{202e}b\\u{200b}c\\u{2066}d\\u{ad}e\\u{61c}f\\u{e0041}g");
  EXPECT_EQ(shown("l\ufe0fs\U000e0100 \u034fx\u180e\ufff9\u3164"),
            "l\\u{fe0f}s\\u{e0100} \\u{34f}x\\u{180e}\\u{fff9}\\u{3164}");
  EXPECT_EQ(shown("caf\u00e9 \u4e2d \U0001f600"), "caf\u00e9 \u4e2d \U0001f600");
  EXPECT_EQ(shown("a\xff"), "a\ufffd");
  const std::string longer = shown("x" + std::string(3000, 'y') + "; rm -rf .");
  EXPECT_TRUE(longer.ends_with("y; rm -rf .")) << longer;
  EXPECT_NE(longer.find("yyy [... 1011 bytes are not shown ...] yyy"), std::string::npos) << longer;
  constexpr std::size_t kMany = testing::Volume(20'000'000);
  const std::string endless = shown(std::string(kMany, 'y'));
  EXPECT_NE(
      endless.find("yyy [... " + std::to_string(kMany - 2000) + " bytes are not shown ...] yyy"),
      std::string::npos);
  const std::string marks = shown("x" + std::string(1900, '\x1b') + "; rm -rf .");
  EXPECT_TRUE(marks.starts_with("x\\u{1b}"));
  EXPECT_TRUE(marks.ends_with("\\u{1b}; rm -rf .")) << marks;
  EXPECT_LT(marks.size(), 2100u);
}

// Padding pushes nothing off the screen.
TEST(QuestionText, GapsAreCounted) {
  const auto shown = [](const std::string& call) {
    const Question questions[] = {About(call)};
    const std::string text = QuestionText(questions, {});
    const std::size_t begin = text.find("    ") + 4;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(shown("ls" + std::string(8, ' ') + "x"), "ls        x");
  for (const char* blank : {" ", "\n", "\t", "\r", "\u00a0", "\u2003", "\u200b", "\u2800", "\u3000",
                            "\u3164", "\u202e"}) {
    std::string gap;
    for (int i = 0; i < 4000; ++i) gap += blank;
    EXPECT_EQ(shown("ls" + gap + "; rm -rf ." + gap), "ls [4000 blanks] ; rm -rf . [4000 blanks] ");
  }
  EXPECT_EQ(shown("ls" + std::string(3000, ' ') + std::string(3000, '\n') + "x"),
            "ls [6000 blanks] x");
}

TEST(QuestionText, ManyAreCounted) {
  std::vector<Question> questions;
  for (int i = 0; i < 205; ++i) questions.push_back(About("edit /p/" + std::to_string(i)));
  const std::string text = QuestionText(questions, {});
  EXPECT_NE(text.find("edit /p/199\n"), std::string::npos);
  EXPECT_EQ(text.find("edit /p/200\n"), std::string::npos);
  EXPECT_NE(text.find("and 5 more that are not shown"), std::string::npos);
}

TEST(QuestionText, SaysWhatACallIsPartOf) {
  const std::vector<Question> questions = {{"permissions[0]", "", "make deploy"}};
  EXPECT_EQ(QuestionText(questions, {.part_of = "step 'a' of a pipeline"}),
            "Allow step 'a' of a pipeline?\n\n    make deploy\nAsked by permissions[0]\n\n"
            "Arguments: none");
}

TEST(ShownArguments, AreWrittenOut) {
  const auto shown = [](std::string_view json) {
    const JsonValue arguments = ParseJson(json).value();
    return ShownArguments(&arguments);
  };
  EXPECT_EQ(shown("{}"), "none");
  EXPECT_EQ(ShownArguments(nullptr), "none");
  EXPECT_EQ(shown(R"({"command":"sh","stdin":"rm -rf .\n","n":7,"l":["a\u202e"]})"),
            "command = sh, stdin = rm -rf .\\n, n = 7, l = [\"a\\u{202e}\"]");
  const std::string much = shown(R"({"content":")" + std::string(9000, 'x') + R"(","path":"a"})");
  EXPECT_NE(much.find("[... 7000 bytes are not shown ...] "), std::string::npos) << much;
  EXPECT_TRUE(much.ends_with("xxx, path = a")) << much;
  // A long one does not hide the next.
  const std::string big = '"' + std::string(9000, 'x') + '"';
  const std::string all = shown(R"({"a":)" + big + R"(,"b":)" + big + R"(,"c":)" + big +
                                R"(,"d":)" + big + R"(,"command":"rm -rf ."})");
  EXPECT_TRUE(all.ends_with(", command = rm -rf .")) << all;
}

TEST(NotApproved, SaysWhatHappenedAndByWhichRule) {
  const Question questions[] = {About("make deploy"), About("make x")};
  const std::pair<Answer, const char*> cases[] = {{Answer::kDecline, "declined"},
                                                  {Answer::kCancel, "dismissed"},
                                                  {Answer::kTimeout, "within 5 minutes"},
                                                  {Answer::kUnavailable, "this client cannot ask"}};
  for (const auto& [answer, word] : cases) {
    const ToolError error = NotApproved(answer, questions);
    EXPECT_EQ(CodeText(error.code), "APPROVAL_DECLINED");
    EXPECT_NE(error.message.find(word), std::string::npos) << error.message;
    EXPECT_NE(
        error.message.find("'make deploy': why - by permissions[0] (p.yaml:3:5) (and 1 more)"),
        std::string::npos)
        << error.message;
    EXPECT_NE(error.ai_message.find("permissions[0] (p.yaml:3:5)"), std::string::npos);
  }
}

}  // namespace
}  // namespace pa
