#include "supervisor/text/columns.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(Columns, AreThoseOfATerminal) {
  EXPECT_EQ(ColumnsOf(""), 0u);
  EXPECT_EQ(ColumnsOf("caf\u00e9"), 4u);
  EXPECT_EQ(ColumnsOf("\u4e2d\u6587 \U0001f600"), 7u) << "two each";
  EXPECT_EQ(ColumnsOf("\x1b[31mred\x1b[0m"), 3u) << "colours take none";
  EXPECT_EQ(ColumnsOf("a\xff"), 2u);
}

TEST(Columns, CutWithAnEllipsis) {
  EXPECT_EQ(FirstColumns("makefile", 8), "makefile");
  EXPECT_EQ(FirstColumns("makefile", 7), "makefi\u2026");
  EXPECT_EQ(FirstColumns("makefile", 1), "\u2026");
  EXPECT_EQ(FirstColumns("makefile", 0), "");
  EXPECT_EQ(FirstColumns("a\u4e2d\u6587b", 5), "a\u4e2d\u2026") << "no half of a character";
  EXPECT_EQ(LastColumns("makefile", 8), "makefile");
  EXPECT_EQ(LastColumns("makefile", 5), "\u2026file");
  EXPECT_EQ(LastColumns("makefile", 1), "\u2026");
  EXPECT_EQ(LastColumns("makefile", 0), "");
  EXPECT_EQ(LastColumns("a\u4e2d\u6587b", 5), "\u2026\u6587b");
}

TEST(Columns, AreFilledWithBlanks) {
  EXPECT_EQ(Padded("\u4e2d", 4), "\u4e2d  ");
  EXPECT_EQ(Padded("long", 3), "long");
}

}  // namespace
}  // namespace pa
