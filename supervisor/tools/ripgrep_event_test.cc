#include "supervisor/tools/ripgrep_event.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(RipgrepEvent, MatchAndContext) {
  const auto match = ParseRipgrepEvent(
      R"({"type":"match","data":{"path":{"text":"a.txt"},"lines":{"text":"two x\n"},)"
      R"("line_number":2,"absolute_offset":4,)"
      R"("submatches":[{"match":{"text":"x"},"start":4,"end":5}]}})");
  ASSERT_TRUE(match);
  EXPECT_TRUE(match->match);
  EXPECT_EQ(match->path, "a.txt");
  EXPECT_EQ(match->line, 2);
  EXPECT_EQ(match->text, "two x\n");
  const auto context = ParseRipgrepEvent(
      R"({"type":"context","data":{"path":{"bytes":"Yf8="},"lines":{"bytes":"/3g="},)"
      R"("line_number":9}})");
  ASSERT_TRUE(context);
  EXPECT_FALSE(context->match);
  EXPECT_EQ(context->path, "a\xff");
  EXPECT_EQ(context->text, "\xffx");
}

TEST(RipgrepEvent, WhatIsNone) {
  for (const char* line :
       {"", "{}", "x", "[]", R"({"type":7})", R"({"type":"match"})", R"({"type":"end","data":{}})",
        R"({"type":"match","data":{"path":{"text":"a"},"lines":{"text":"b"},"line_number":null}})",
        R"({"type":"match","data":{"path":{"text":"a"},"lines":{},"line_number":1}})",
        R"({"type":"match","data":{"path":{"bytes":"!"},"lines":{"text":"b"},"line_number":1}})",
        R"({"type":"match","data":7})"}) {
    EXPECT_FALSE(ParseRipgrepEvent(line)) << line;
  }
}

}  // namespace
}  // namespace pa
