#include "supervisor/cli/terminal_view.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

namespace pa {
namespace {

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

TEST(TerminalView, AFileGetsEveryByteButNoColour) {
  Files files;
  TerminalView view(files.out.get(), files.err.get());
  EXPECT_FALSE(view.saw_output());
  view.OnOutput(Stream::kStdout, std::string_view("\x1b[31m\0\x1b", 7));
  view.OnOutput(Stream::kStdout, "[2J\xff");
  view.OnOutput(Stream::kStderr, "no newline");
  view.Note("make: exit code 0", false);
  EXPECT_TRUE(view.saw_output());
  EXPECT_EQ(ReadFile(files.out_name, 100), std::string("\0\xff", 2));
  EXPECT_EQ(ReadFile(files.err_name, 100), "no newline\nmake: exit code 0\n");
}

}  // namespace
}  // namespace pa
