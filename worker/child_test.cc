// The child by itself, as far as no other test gets it: what a guardian's death leaves in between.
#include "worker/child.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "worker/worker.h"

namespace pa::worker {
namespace {

// Of a child that is told that `guardian` started it. Its working directory is not there, so that
// it ends.
Outcome OutcomeWith(pid_t guardian) {
  void* memory =
      mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  auto* outcome = new (memory) Outcome;
  const pid_t child = fork();
  if (child == 0) {
    SpecView spec;
    spec.working_directory = "/nonexistent";
    ChildOrder order{.spec = &spec, .outcome = outcome, .by_hand = true, .guardian = guardian};
    _exit(RunChild(&order));
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  const Outcome copy = *outcome;
  munmap(memory, sizeof(Outcome));
  return copy;
}

// PR_SET_PDEATHSIG comes too late for a parent that has died before it.
TEST(ChildTest, WhoseGuardianHasDiedGoesNoFurther) {
  const Outcome orphan = OutcomeWith(getppid());
  EXPECT_EQ(orphan.step, Step::kSession);
  EXPECT_EQ(orphan.sys_errno, ESRCH) << orphan.subject;
  const Outcome child = OutcomeWith(getpid());
  EXPECT_EQ(child.step, Step::kWorkingDirectory);
  EXPECT_EQ(child.sys_errno, ENOENT) << child.subject;
}

}  // namespace
}  // namespace pa::worker
