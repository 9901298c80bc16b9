#include "supervisor/text/line_ends.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(LineEnds, OfAText) {
  EXPECT_EQ(LineEndsOf(""), LineEnds::kNone);
  EXPECT_EQ(LineEndsOf("a\r"), LineEnds::kNone);
  EXPECT_EQ(LineEndsOf("a\nb\n"), LineEnds::kLf);
  EXPECT_EQ(LineEndsOf("a\r\nb\r\n"), LineEnds::kCrLf);
  EXPECT_EQ(LineEndsOf("a\r\nb\n"), LineEnds::kMixed);
  EXPECT_EQ(LineEndsOf("\n\r\n"), LineEnds::kMixed);
}

TEST(LineEnds, WhereverTheBytesAreCut) {
  const std::string text = "a\r\n\r\nb\r\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineEndCounter counter;
    counter.Feed(text.substr(0, cut));
    counter.Feed("");
    counter.Feed(text.substr(cut));
    EXPECT_EQ(counter.ends(), LineEnds::kCrLf) << cut;
  }
}

TEST(LineEnds, BecomeCrLf) {
  EXPECT_EQ(WithCrLf("a\n\nb"), "a\r\n\r\nb");
  EXPECT_EQ(WithCrLf(""), "");
}

TEST(LineEnds, HaveNames) {
  EXPECT_EQ(LineEndsName(LineEnds::kCrLf), "\\r\\n");
  EXPECT_EQ(LineEndsName(LineEnds::kLf), "\\n");
  EXPECT_EQ(LineEndsName(LineEnds::kMixed), "\\n and \\r\\n");
}

}  // namespace
}  // namespace pa
