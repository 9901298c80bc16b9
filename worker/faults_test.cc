// Fail closed: whichever step fails, the command does not run and the step is named.
#include "worker/faults.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

class FaultTest : public ::testing::TestWithParam<Step> {};

INSTANTIATE_TEST_SUITE_P(Steps, FaultTest,
                         ::testing::Values(Step::kCloseDescriptors, Step::kReadSpec,
                                           Step::kDecodeSpec, Step::kSession, Step::kUndumpable,
                                           Step::kSubreaper, Step::kCapabilities, Step::kNoNewPrivs,
                                           Step::kGuardianScope, Step::kSpawn,
                                           Step::kWorkingDirectory, Step::kLimits, Step::kLandlock,
                                           Step::kSeccomp, Step::kExecute),
                         [](const auto& step) {
                           std::string name = StepName(step.param);
                           std::erase_if(name, [](char c) { return c == ' ' || c == '_'; });
                           return name;
                         });

Finished RunWithFault(Step step, const WorkerSpec& spec) {
  return WorkerRun(spec, {.worker = "project-actions-worker-faults",
                          .worker_env = {std::string("PA_FAIL_STEP=") + StepName(step)}})
      .Wait();
}

TEST_P(FaultTest, TheCommandDoesNotRunAndTheStepIsNamed) {
  const Scratch scratch;
  const Finished done = RunWithFault(GetParam(), Shell(scratch, "touch ran; echo ran"));
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
  EXPECT_STREQ(StepName(done.Last().step), StepName(GetParam()));
  EXPECT_EQ(done.Last().sys_errno, EPERM);
  EXPECT_EQ(done.out, "");
  EXPECT_NE(access(scratch.path("work/ran").c_str(), F_OK), 0);
  EXPECT_EQ(done.exit_code, kExitSetupFailed);
}

TEST(FaultsTest, WithoutAFaultTheSameWorkerRunsTheCommand) {
  const Scratch scratch;
  const Finished done =
      WorkerRun(Shell(scratch, "echo ran"), {.worker = "project-actions-worker-faults"}).Wait();
  EXPECT_EQ(done.out, "ran\n");
}

TEST(FaultsTest, AKernelWithoutLandlockRunsNothing) {
  const Scratch scratch;
  const Finished done =
      WorkerRun(Shell(scratch, "echo ran"),
                {.worker = "project-actions-worker-faults", .worker_env = {"PA_LANDLOCK_ABI=0"}})
          .Wait();
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().step, Step::kLandlock);
  EXPECT_EQ(done.Last().sys_errno, EOPNOTSUPP);
  EXPECT_STREQ(done.Last().subject, "landlock_create_ruleset");
  EXPECT_EQ(done.out, "");
}

TEST(FaultsTest, ARulesetDescriptorThatDidNotComeRunsNothing) {
  const Scratch scratch;
  WorkerSpec spec = Shell(scratch, "echo ran");
  spec.has_ruleset_fd = true;
  const Finished done = WorkerRun(spec).Wait();
  EXPECT_EQ(done.Last().step, Step::kLandlock);
  // Nothing there, or something that is no ruleset.
  EXPECT_TRUE(done.Last().sys_errno == EBADF || done.Last().sys_errno == EBADFD)
      << done.Last().sys_errno;
  EXPECT_EQ(done.out, "");
}

TEST(FaultsTest, TheReleaseWorkerKnowsNothingOfFaults) {
  std::ifstream file(WorkerPath("project-actions-worker"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(bytes.empty());
  EXPECT_EQ(bytes.find("PA_FAIL_STEP"), std::string::npos);
  EXPECT_EQ(bytes.find("PA_LANDLOCK_ABI"), std::string::npos);
  EXPECT_EQ(bytes.find("PA_PATIENCE"), std::string::npos);
  const Scratch scratch;
  const Finished done =
      WorkerRun(Shell(scratch, "echo ran"), {.worker_env = {"PA_FAIL_STEP=landlock"}}).Wait();
  EXPECT_EQ(done.out, "ran\n");
}

}  // namespace
}  // namespace pa::worker
