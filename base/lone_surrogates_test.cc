#include "base/lone_surrogates.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace pa {
namespace {

TEST(LoneSurrogates, BecomeTheReplacementCharacter) {
  const struct {
    std::string_view text, value;
  } cases[] = {
      {R"("\ud800")", "\uFFFD"},
      {R"("\udc00")", "\uFFFD"},
      {R"("\uDBFF")", "\uFFFD"},
      {R"("\uD800A")", "\uFFFDA"},
      {R"("\ud800\u0041")", "\uFFFDA"},
      {R"("\udc00\ud800")", "\uFFFD\uFFFD"},
      {R"("\ud800\ud83d\ude00")", "\uFFFD\U0001F600"},
      {R"("\ud83d\ude00\ude00")", "\U0001F600\uFFFD"},
      {R"("\ud800\n\"\ud83d")", "\uFFFD\n\"\uFFFD"},
      {R"("\\\ud800")", "\\\uFFFD"},
  };
  for (const auto& c : cases) {
    EXPECT_FALSE(ParseJson(c.text)) << c.text;
    const std::optional<std::string> mended = ReplaceLoneSurrogates(c.text);
    ASSERT_TRUE(mended) << c.text;
    const Result<JsonValue> value = ParseJson(*mended);
    ASSERT_TRUE(value) << *mended;
    EXPECT_EQ(value->AsString(), c.value) << c.text;
  }
}

TEST(LoneSurrogates, WhatIsWholeStays) {
  for (std::string_view text :
       {R"("\ud83d\ude00")", R"("\\ud800")", R"("\ud7ff\ue000")", R"("\\\\udc00")", "{}", ""}) {
    EXPECT_FALSE(ReplaceLoneSurrogates(text)) << text;
  }
}

TEST(LoneSurrogates, WhatIsNoJsonStaysNone) {
  for (std::string_view text : {R"("\ud8)", R"("\ud800)", R"(\ud800)", R"("\ud80g")", R"("\ud800\)",
                                R"(\)", R"(\u)", R"("\ud800\u")"}) {
    const std::optional<std::string> mended = ReplaceLoneSurrogates(text);
    EXPECT_FALSE(ParseJson(mended ? *mended : text)) << text;
  }
}

}  // namespace
}  // namespace pa
