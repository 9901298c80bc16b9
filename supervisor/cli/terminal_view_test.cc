#include "supervisor/cli/terminal_view.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

namespace pa {
namespace {

std::string Filtered(std::string_view bytes) { return TerminalFilter().Filter(bytes); }

TEST(TerminalFilter, TextColoursAndUtf8Pass) {
  for (std::string_view text : {"plain\n\ttext\r\n", "\x1b[31mred\x1b[0m", "\x1b[38;5;208mx\x1b[m",
                                "\x1b[38:2::1:2:3mx", "grün · 日本 \xf0\x9f\x9a\x80", "\xc2\xa0"}) {
    EXPECT_EQ(Filtered(text), text);
  }
}

TEST(TerminalFilter, WhatMovesQueriesOrRetitlesIsDropped) {
  EXPECT_EQ(Filtered("a\x1b[2Jb"), "ab");               // clear screen
  EXPECT_EQ(Filtered("a\x1b[1;1Hb"), "ab");             // cursor
  EXPECT_EQ(Filtered("a\x1b[6nb"), "ab");               // report position: types into the shell
  EXPECT_EQ(Filtered("a\x1b]0;title\ab"), "ab");        // title
  EXPECT_EQ(Filtered("a\x1b]52;c;eA==\x1b\\b"), "ab");  // clipboard
  EXPECT_EQ(Filtered("a\x1bP+q\x1b\\b"), "ab");         // DCS
  EXPECT_EQ(Filtered("a\x1b"
                     "cb"),
            "ab");  // reset
  EXPECT_EQ(Filtered("a\xc2\x9b"
                     "2Jb"),
            "a2Jb");  // C1 form of ESC [
  EXPECT_EQ(Filtered("a\b\a\x7f\vb"), "ab");
  EXPECT_EQ(Filtered("a\x1b[?25mb"), "ab");  // private
  EXPECT_EQ(Filtered("a\x1b[" + std::string(500, '1') + "mb"), "ab");
}

TEST(TerminalFilter, StateOutlivesTheChunk) {
  const std::string text =
      "a\x1b[31mb\x1b]0;t\x1b\\c\xc2\x9b"
      "d\x1b[2Je";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    TerminalFilter filter;
    std::string out = filter.Filter(text.substr(0, cut));
    out += filter.Filter(text.substr(cut));
    EXPECT_EQ(out, "a\x1b[31mbcde") << "cut at " << cut;
  }
}

// Both sides of a view as files.
struct Files {
  char out_name[32] = "/tmp/terminal-view-XXXXXX";
  char err_name[32] = "/tmp/terminal-view-XXXXXX";
  UniqueFd out{mkostemp(out_name, O_CLOEXEC)};
  UniqueFd err{mkostemp(err_name, O_CLOEXEC)};
  ~Files() {
    unlink(out_name);
    unlink(err_name);
  }
};

TEST(TerminalView, AFileGetsEveryByteAndNoColour) {
  Files files;
  TerminalView view(files.out.get(), files.err.get());
  EXPECT_FALSE(view.saw_output());
  view.OnOutput(Stream::kStdout, std::string_view("\x1b[2J\0\xff", 6));
  view.OnOutput(Stream::kStderr, "no newline");
  view.Note("make: exit code 0", false);
  EXPECT_TRUE(view.saw_output());
  EXPECT_EQ(ReadFile(files.out_name, 100), std::string("\x1b[2J\0\xff", 6));
  EXPECT_EQ(ReadFile(files.err_name, 100), "no newline\nmake: exit code 0\n");
}

}  // namespace
}  // namespace pa
