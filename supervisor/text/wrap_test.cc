#include "supervisor/text/wrap.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/unique_fd.h"

namespace pa {
namespace {

TEST(Wrap, LinesAreBrokenAtBlanksAndIndented) {
  EXPECT_EQ(Wrapped("one two three", {.width = 9}), "one two\nthree");
  EXPECT_EQ(Wrapped("one two three", {.width = 11, .indent = 2}), "one two\n  three");
  EXPECT_EQ(Wrapped("one two three", {.width = 9, .indent = 2}), "one two\n  three");
  EXPECT_EQ(Wrapped("one two three", {.width = 8, .indent = 2}), "one\n  two\n  three");
}

TEST(Wrap, LinesStayWhole) {
  EXPECT_EQ(Wrapped("one two three", {}), "one two three");
  EXPECT_EQ(Wrapped("one\ntwo three\n", {.width = 80, .indent = 2}), "one\n  two three\n");
  EXPECT_EQ(Wrapped("", {.width = 5}), "");
}

TEST(Wrap, AWordThatIsTooWideHasALineOfItsOwn) {
  EXPECT_EQ(Wrapped("a /a/long/path b", {.width = 5}), "a\n/a/long/path\nb");
}

TEST(Wrap, CharactersAreCountedAndNotBytes) {
  EXPECT_EQ(Wrapped("\u00e4\u00e4\u00e4 \u00f6\u00f6\u00f6", {.width = 7}),
            "\u00e4\u00e4\u00e4 \u00f6\u00f6\u00f6");
}

TEST(Wrap, ColoursTakeNoColumn) {
  EXPECT_EQ(Wrapped("\x1b[31mone\x1b[0m two three", {.width = 7}), "\x1b[31mone\x1b[0m two\nthree");
}

TEST(Wrap, OnlyATerminalHasAWidth) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(TerminalWidth(null.get()), 0u);
  const UniqueFd terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal);
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 57;
  ASSERT_EQ(ioctl(terminal.get(), TIOCSWINSZ, &size), 0);
  EXPECT_EQ(TerminalWidth(terminal.get()), 57u);
}

}  // namespace
}  // namespace pa
