#include "worker/probe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

#include "sandbox/landlock.h"
#include "sandbox/prepared.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

WorkerSpec ProbeSpec(const Scratch& scratch) {
  WorkerSpec spec = Shell(scratch, "");
  spec.action = Action::kProbe;
  spec.executable.clear();
  spec.argv.clear();
  spec.file = scratch.path("canary");
  std::ofstream(spec.file) << "secret";
  return spec;
}

bool Bit(std::uint32_t bits, std::string_view name) {
  for (unsigned n = 0; n < kProbeCount; ++n) {
    if (name == kProbeNames[n]) return (bits >> n & 1) != 0;
  }
  ADD_FAILURE() << "no attempt " << name;
  return false;
}

struct Denied {
  const char* name;
  int from_abi = 1;
};
constexpr Denied kByLandlock[] = {
    {"read a file outside"},         {"write to a file outside"},
    {"truncate a file outside", 3},  {"create a file outside"},
    {"trace a process outside"},     {"read the environment of a process outside"},
    {"signal a process outside", 6},
};

TEST(ProbeTest, LandlockDeniesWhatItMust) {
  const Scratch scratch;
  const Finished done = WorkerRun(ProbeSpec(scratch)).Wait();
  ASSERT_EQ(done.statuses.size(), 1u) << done.Last().subject;
  EXPECT_EQ(done.Last().exit_code, 0);
  for (const auto& [name, from_abi] : kByLandlock) {
    if (sandbox::DetectLandlock().abi < from_abi) continue;
    EXPECT_TRUE(Bit(done.Last().probe_tried, name)) << name;
    EXPECT_TRUE(Bit(done.Last().probe_denied, name)) << name;
  }
  EXPECT_TRUE(Bit(done.Last().probe_denied, "use an inherited descriptor"));
  EXPECT_TRUE(Bit(done.Last().probe_denied, "gain privileges by exec"));
}

TEST(ProbeTest, NothingOfThatIsDeniedWithoutTheSandbox) {
  const Scratch scratch;
  const Finished done =
      WorkerRun(ProbeSpec(scratch), {.worker = "project-actions-worker-unconfined",
                                     .worker_env = {"PA_PROBE_HONEST=1"}})
          .Wait();
  for (const auto& [name, _] : kByLandlock) {
    if (std::string_view(name).find("process") == std::string_view::npos || geteuid() == 0) {
      EXPECT_FALSE(Bit(done.Last().probe_denied, name)) << name;
    }
  }
  std::string kept;
  std::getline(std::ifstream(scratch.path("canary")), kept);
  EXPECT_EQ(kept, "secret");
  EXPECT_NE(access(scratch.path("canary.probe").c_str(), F_OK), 0);
}

// As the supervisor does it: the ruleset made beforehand, the real seccomp program.
TEST(ProbeTest, ThePreparedSandboxDeniesEverythingTried) {
  const Scratch scratch;
  WorkerSpec spec = ProbeSpec(scratch);
  const auto prepared = sandbox::PrepareLandlock({.paths = spec.paths});
  ASSERT_TRUE(prepared) << prepared.error().Message();
  const auto program = sandbox::CompileSeccomp(sandbox::SeccompProfile::kBuild,
                                               sandbox::Network::kNone, prepared->landlock_abi);
  ASSERT_TRUE(program) << program.error().Message();
  spec.paths.clear();
  spec.has_ruleset_fd = true;
  spec.seccomp_program = **program;
  const Finished done = WorkerRun(spec, {.ruleset_fd = prepared->landlock_ruleset.get()}).Wait();
  ASSERT_EQ(done.statuses.size(), 1u) << done.Last().subject;
  for (unsigned n = 0; n < kProbeCount; ++n) {
    const bool tried = (done.Last().probe_tried >> n & 1) != 0;
    EXPECT_EQ((done.Last().probe_denied >> n & 1) != 0, tried) << kProbeNames[n];
  }
  EXPECT_TRUE(Bit(done.Last().probe_tried, "mount a file system"));
  EXPECT_TRUE(Bit(done.Last().probe_tried, "open a TCP socket"));
}

TEST(ProbeTest, ACanaryThatNobodyCouldReadProvesNothing) {
  const Scratch scratch;
  WorkerSpec spec = ProbeSpec(scratch);
  spec.file = scratch.path("missing");
  const Finished done = WorkerRun(spec).Wait();
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
}

}  // namespace
}  // namespace pa::worker
