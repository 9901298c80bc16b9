#include "supervisor/run/orphans.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

#include "tests/support/failing_new.h"
#include "tests/support/few_descriptors.h"

namespace pa {
namespace {

[[noreturn]] void Forever() {
  for (;;) pause();
}

// `tree`: with a grandchild that has left session and parent, as a worker's command might.
pid_t Child(bool no_new_privs, bool tree) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    if (no_new_privs) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (tree && fork() == 0) {
      setsid();
      if (fork() > 0) _exit(0);
    }
    (void)!write(ready[1], "x", 1);
    Forever();
  }
  // Written by the child and, of a tree, by the grandchild: both are there.
  char byte = 0;
  for (int i = 0; i < (tree ? 2 : 1); ++i) EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

void End(pid_t pid) {
  kill(pid, SIGKILL);
  EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
}

TEST(Orphans, KillsATreeToTheLastAndSparesWorkersAndStrangers) {
  const pid_t before = Child(true, false);
  Orphans orphans;
  ASSERT_TRUE(orphans.Adopt());
  const pid_t worker = Child(true, true);
  const pid_t stranger = Child(false, false);
  const pid_t stray = Child(true, true);
  while (orphans.Kill([&](pid_t pid) { return pid == worker; })) {
  }
  EXPECT_EQ(waitpid(stray, nullptr, WNOHANG), -1);  // killed and reaped
  for (const pid_t spared : {before, worker, stranger}) {
    EXPECT_EQ(waitpid(spared, nullptr, WNOHANG), 0);
    End(spared);
  }
  // What those left behind is ours now.
  while (orphans.Kill([](pid_t) { return false; })) {
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

// A command may bring it about, and would outlive its call.
TEST(Orphans, WithoutDescriptorsNobodyIsForgotten) {
  Orphans orphans;
  {
    const testing::FewDescriptors none(0);
    EXPECT_FALSE(orphans.Adopt());
  }
  ASSERT_TRUE(orphans.Adopt());
  const pid_t stray = Child(true, false);
  const auto nobody = [](pid_t) { return false; };
  {
    const testing::FewDescriptors none(0);
    EXPECT_TRUE(orphans.Kill(nobody)) << "call again";
    EXPECT_EQ(waitpid(stray, nullptr, WNOHANG), 0);
  }
  while (orphans.Kill(nobody)) {
  }
  EXPECT_EQ(waitpid(stray, nullptr, WNOHANG), -1);
}

// Nor does the server end: the loop calls it, where nobody takes an exception.
TEST(Orphans, NorWithoutMemory) {
  Orphans orphans;
  ASSERT_TRUE(orphans.Adopt());
  const pid_t stray = Child(true, false);
  const auto nobody = [](pid_t) { return false; };
  for (std::size_t nth = 1;; ++nth) {
    testing::FailingNew failing(nth);
    const bool again = orphans.Kill(nobody);
    failing.Stop();
    if (!failing.failed()) break;
    EXPECT_TRUE(again) << nth;
  }
  while (orphans.Kill(nobody)) {
  }
  EXPECT_EQ(waitpid(stray, nullptr, WNOHANG), -1);
}

TEST(Orphans, ASigchldThatWasIgnoredIsNotAnyMore) {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &action, nullptr);
  ASSERT_TRUE(Orphans().Adopt());
  const pid_t pid = fork();
  if (pid == 0) _exit(7);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace pa
