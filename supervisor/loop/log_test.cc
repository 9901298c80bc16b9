#include "supervisor/loop/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/json.h"
#include "base/unique_fd.h"

namespace pa {
namespace {

// What a process that logs so writes to its stderr. A child: the log is one for each process.
std::string Logged(const LogOptions& options, bool to_journal, const std::string& text) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    dup2(in.get(), STDERR_FILENO);
    struct stat file{};
    fstat(in.get(), &file);
    const std::string stream =
        std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino + (to_journal ? 0 : 1));
    setenv("JOURNAL_STREAM", stream.c_str(), 1);
    StartLog(options);
    LogInfo("an aside");
    LogWarning(text);
    LogError("an error");
    _exit(0);
  }
  in = UniqueFd();
  std::string all;
  char chunk[4096];
  for (ssize_t got = 0; (got = read(out.get(), chunk, sizeof chunk)) > 0;) {
    all.append(chunk, static_cast<std::size_t>(got));
  }
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return all;
}

TEST(Log, IsForPeople) {
  EXPECT_EQ(Logged({.program = "p"}, false, "a\nb\x1b[0m"),
            "p: warning: a?b?[0m\np: error: an error\n");
  EXPECT_EQ(Logged({.verbose = true, .program = "p"}, false, "a"),
            "p: info: an aside\np: warning: a\np: error: an error\n");
}

TEST(Log, TellsTheJournalHowBadItIs) {
  EXPECT_EQ(Logged({.verbose = true, .program = "p"}, true, "a"),
            "<6>info: an aside\n<4>warning: a\n<3>error: an error\n");
}

TEST(Log, IsJsonForPrograms) {
  const std::string text = "a \"b\"\n\xff\x1b {}% %v";
  for (const bool to_journal : {false, true}) {
    const std::string all = Logged({.json = true, .program = "p"}, to_journal, text);
    const Result<JsonValue> line = ParseJson(all.substr(0, all.find('\n')));
    ASSERT_TRUE(line) << all;
    EXPECT_EQ(line->Find("level")->AsString(), "warning");
    EXPECT_EQ(line->Find("program")->AsString(), "p");
    EXPECT_EQ(line->Find("message")->AsString(), "a \"b\"?\xef\xbf\xbd? {}% %v");
    EXPECT_TRUE(line->Find("pid")->AsInteger());
    const std::string time = line->Find("time")->AsString();
    EXPECT_EQ(time.size(), std::string("2026-11-28T12:00:00.000Z").size()) << time;
    EXPECT_EQ(all.find("an aside"), std::string::npos);
  }
}

}  // namespace
}  // namespace pa
