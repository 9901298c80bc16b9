// An order that asks for more than its launcher's ceiling: nothing runs. Each has its twin that
// asks for as much, and the order works where there is no ceiling.
#include "worker/ceiling.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "sandbox/prepared.h"
#include "sandbox/view_plan.h"
#include "tests/support/temp_dir.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

namespace fs = std::filesystem;

using sandbox::Access;
using sandbox::MountKind;
using sandbox::Network;

void ExpectBeyond(const Finished& done, const std::string& what) {
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
  EXPECT_STREQ(StepName(done.Last().step), "ceiling");
  EXPECT_EQ(done.Last().sys_errno, EPERM);
  EXPECT_EQ(done.Last().subject, "beyond the policy \"" + what + "\"");
  EXPECT_EQ(done.out, "");
}

class CeilingTest : public ::testing::Test {
 protected:
  // As much as the order asks for.
  static CeilingSpec CeilingFor(const WorkerSpec& spec) {
    return {.paths = spec.paths, .limits = spec.limits, .programs = {AllowAllProgram()}};
  }
  Finished Run(const WorkerSpec& spec) const { return WorkerRun(spec, options_).Wait(); }

  Scratch scratch_;
  WorkerSpec spec_ = Shell(scratch_, "echo ran");
  StartOptions options_{.ceiling = CeilingFor(spec_)};
};

TEST_F(CeilingTest, AnOrderWithinItRuns) { EXPECT_EQ(Run(spec_).out, "ran\n"); }

TEST_F(CeilingTest, NoProgramButThoseOfThePolicy) {
  std::string other = AllowAllProgram();
  other += AllowAllProgram();
  options_.program = other;
  ExpectBeyond(Run(spec_), "seccomp_program");
  options_.ceiling->programs.push_back(other);
  EXPECT_EQ(Run(spec_).out, "ran\n");
}

// A launcher without a program is for orders that bring their own.
TEST_F(CeilingTest, NoProgramOfAnOrderEither) {
  options_.program = "";
  options_.program_in_spec = AllowAllProgram();
  EXPECT_EQ(Run(spec_).out, "ran\n");
  options_.program_in_spec += AllowAllProgram();
  ExpectBeyond(Run(spec_), "seccomp_program");
}

TEST_F(CeilingTest, NoMoreThanTheLimits) {
  struct Case {
    const char* name;
    std::uint64_t sandbox::ResourceLimits::* limit;
  };
  for (const Case& one : {Case{"cpu_seconds", &sandbox::ResourceLimits::cpu_seconds},
                          {"memory_bytes", &sandbox::ResourceLimits::memory_bytes},
                          {"processes", &sandbox::ResourceLimits::processes},
                          {"open_files", &sandbox::ResourceLimits::open_files},
                          {"file_bytes", &sandbox::ResourceLimits::file_bytes},
                          {"wall_time_ms", &sandbox::ResourceLimits::wall_time_ms},
                          {"grace_ms", &sandbox::ResourceLimits::grace_ms}}) {
    WorkerSpec spec = spec_;
    const std::uint64_t most = 1u << 30;
    options_.ceiling = CeilingFor(spec);
    options_.ceiling->limits.*one.limit = most;
    spec.limits.*one.limit = most;
    EXPECT_EQ(Run(spec).out, "ran\n") << one.name;
    spec.limits.*one.limit = most + 1;
    ExpectBeyond(Run(spec), one.name);
    spec.limits.*one.limit = 0;  // none
    ExpectBeyond(Run(spec), one.name);
  }
}

// Whatever the order grants.
TEST_F(CeilingTest, NoOtherPathThanThoseOfItsRuleset) {
  std::ofstream(scratch_.path("work/own")) << "own\n";
  std::ofstream(scratch_.path("secret")) << "secret\n";
  spec_.argv = {"sh", "-c", "cat own; cat ../secret"};
  spec_.paths.push_back({scratch_.path(), sandbox::kReadWrite, "hostile"});
  EXPECT_EQ(Run(spec_).out, "own\nsecret\n") << "else this shows nothing";
  sandbox::Confinement most{.paths = spec_.paths, .network = Network::kNone};
  most.paths.pop_back();
  const auto prepared = sandbox::PrepareLandlock(most);
  ASSERT_TRUE(prepared);
  options_.ceiling_ruleset = prepared->landlock_ruleset.get();
  EXPECT_EQ(Run(spec_).out, "own\n");
}

TEST_F(CeilingTest, WithoutItsRulesetNothingRuns) {
  options_.ceiling_ruleset = -1;
  const Finished done = Run(spec_);
  EXPECT_STREQ(StepName(done.Last().step), "ceiling") << done.Last().subject;
  EXPECT_EQ(done.out, "");
}

TEST_F(CeilingTest, NoViewWhereLandlockIsTheCeiling) {
  options_.namespaces = true;
  ExpectBeyond(Run(spec_), "namespaces");
}

TEST_F(CeilingTest, WhatIsNoCeilingLetsNothingRun) {
  for (const std::string& raw : {std::string("x"), *EncodeLaunch({}), std::string(5u << 20, 'x')}) {
    options_.raw_ceiling = raw;
    const Finished done = Run(spec_);
    EXPECT_STREQ(StepName(done.Last().step), "ceiling") << done.Last().subject;
    EXPECT_EQ(done.out, "");
  }
}

class CeilingOfViewsTest : public CeilingTest {
 protected:
  void SetUp() override {
    fs::create_directory(scratch_.path("shm"));
    fs::create_directory(Outside());
    std::ofstream(Outside() + "/secret") << "secret\n";
    spec_.seccomp_program = AllowAllProgram();
    std::vector<sandbox::PathGrant> system(spec_.paths.begin(), spec_.paths.end() - 2);
    std::vector<sandbox::PathGrant> own(spec_.paths.end() - 2, spec_.paths.end() - 1);
    options_.namespaces = true;
    options_.view = sandbox::PlanView({.grants = system,
                                       .names = {"/bin/sh", "/lib64"},
                                       .places = {"/tmp", "/dev/shm", scratch_.path()}})
                        .mounts;
    own.insert(own.end(), system.begin(), system.end());
    spec_.mounts = sandbox::PlanOwnMounts({.mounts = options_.view, .found = {}}, own);
    spec_.mounts.push_back({MountKind::kWritable, scratch_.tmp(), "/dev/shm"});
    spec_.shm_dir = scratch_.path("shm");
    options_.ceiling = CeilingFor(spec_);
    options_.ceiling->views = true;
    options_.ceiling->paths.push_back({scratch_.path("shm"), sandbox::kReadWrite, "shm"});
    options_.program_in_spec = AllowAllProgram();
    // Without the ceiling: one that kept from mounting must fail here, and not be skipped.
    StartOptions without = options_;
    without.ceiling.reset();
    const Finished tried = WorkerRun(spec_, without).Wait();
    const bool refused = tried.Last().step == Step::kNamespaces && tried.Last().sys_errno == EPERM;
    if (refused) GTEST_SKIP() << "no namespaces here: " << tried.Last().subject;
    const Finished within = Run(spec_);
    ASSERT_EQ(within.out, "ran\n") << within.Last().subject;
  }
  std::string Outside() const { return scratch_.path("outside"); }
  WorkerSpec With(const sandbox::Mount& mount, const std::string& script) const {
    WorkerSpec spec = spec_;
    spec.argv = {"sh", "-c", script};
    spec.mounts.push_back(mount);
    spec.paths.push_back({Outside(), sandbox::kReadWrite, "outside"});
    spec.paths.push_back({scratch_.path("work"), sandbox::kReadWriteExecute, "work"});
    return spec;
  }
};

TEST_F(CeilingOfViewsTest, AMountShowsNothingElse) {
  const std::string place = scratch_.work() + "/shown";
  const std::string script = "cat shown/secret; echo changed >shown/secret";
  for (const MountKind kind : {MountKind::kReadOnly, MountKind::kWritable, MountKind::kDevice}) {
    fs::create_directories(place);
    const WorkerSpec spec = With({kind, Outside(), place}, script);
    ExpectBeyond(Run(spec), Outside());
    StartOptions without = options_;
    without.ceiling.reset();
    std::ofstream(Outside() + "/secret") << "secret\n";
    EXPECT_EQ(WorkerRun(spec, without).Wait().out, "secret\n") << "else this shows nothing";
  }
  EXPECT_EQ(testing::ReadText(Outside() + "/secret"), "secret\n");
}

TEST_F(CeilingOfViewsTest, ReadableIsNotWritable) {
  const std::string place = scratch_.work() + "/shown";
  fs::create_directories(place);
  options_.ceiling->paths.push_back({Outside(), Access::kRead, "outside"});
  const std::string script = "cat shown/secret; echo changed >shown/secret";
  EXPECT_EQ(Run(With({MountKind::kReadOnly, Outside(), place}, script)).out, "secret\n");
  ExpectBeyond(Run(With({MountKind::kWritable, Outside(), place}, script)), Outside());
  options_.ceiling->paths.push_back({Outside(), sandbox::kReadWrite, "outside"});
  EXPECT_EQ(Run(With({MountKind::kWritable, Outside(), place}, script)).out, "secret\n");
  EXPECT_EQ(testing::ReadText(Outside() + "/secret"), "changed\n");
}

TEST_F(CeilingOfViewsTest, NoNameLeadsAround) {
  const std::string place = scratch_.work() + "/shown";
  fs::create_directories(place);
  for (const std::string& source :
       {scratch_.work() + "/../outside", scratch_.work() + "/./../outside", scratch_.work() + "x",
        scratch_.work() + "//x", scratch_.path()}) {
    ExpectBeyond(Run(With({MountKind::kReadOnly, source, place}, "true")), source);
  }
  // Names are compared, and no link is followed.
  fs::create_directory_symlink(Outside(), scratch_.work() + "/link");
  const Finished linked =
      Run(With({MountKind::kReadOnly, scratch_.work() + "/link", place}, "cat shown/secret"));
  EXPECT_EQ(linked.out, "");
}

// As long as the view is made, /proc is the root of this machine.
TEST_F(CeilingOfViewsTest, NothingIsMadeOutsideTheView) {
  for (const MountKind kind : {MountKind::kSymlink, MountKind::kDirectory}) {
    const std::string made = Outside() + "/made";
    const WorkerSpec spec =
        With({kind, kind == MountKind::kSymlink ? "/evil" : "", "/proc" + made}, "true");
    ExpectBeyond(Run(spec), "/proc" + made);
    EXPECT_FALSE(fs::exists(fs::symlink_status(made)));
    StartOptions without = options_;
    without.ceiling.reset();
    WorkerRun(spec, without).Wait();
    EXPECT_TRUE(fs::exists(fs::symlink_status(made))) << "else this shows nothing";
    fs::remove(made);
  }
  options_.view.push_back({MountKind::kSymlink, "/evil", "/proc" + Outside() + "/made"});
  ExpectBeyond(Run(spec_), "/proc" + Outside() + "/made");
  options_.view.back().target = "/usr/../proc" + Outside() + "/made";
  ExpectBeyond(Run(spec_), options_.view.back().target);
}

TEST_F(CeilingOfViewsTest, NoOtherFileIsOpenedForAProbe) {
  WorkerSpec spec = spec_;
  spec.action = Action::kProbe;
  spec.executable.clear();
  spec.argv.clear();
  spec.file = Outside() + "/secret";
  ExpectBeyond(Run(spec), spec.file);
  options_.ceiling->paths.push_back({Outside(), sandbox::kReadWrite, "outside"});
  EXPECT_STRNE(StepName(Run(spec).Last().step), "ceiling");
}

TEST_F(CeilingOfViewsTest, TheViewOfTheLauncherIsWithinItToo) {
  options_.view.push_back({MountKind::kReadOnly, Outside(), Outside()});
  ExpectBeyond(Run(spec_), Outside());
  options_.ceiling->paths.push_back({Outside(), Access::kRead, "outside"});
  EXPECT_EQ(Run(spec_).out, "ran\n");
}

TEST_F(CeilingOfViewsTest, NothingElseIsEmptied) {
  const auto shared = [&] {
    WorkerSpec spec = spec_;
    spec.tmp_dir = Outside();
    spec.shm_dir = "";
    return spec;
  };
  ExpectBeyond(Run(shared()), Outside());
  EXPECT_TRUE(fs::exists(Outside() + "/secret"));
  StartOptions without = options_;
  without.ceiling.reset();
  WorkerRun(shared(), without).Wait();
  EXPECT_FALSE(fs::exists(Outside() + "/secret")) << "else this shows nothing";
}

TEST_F(CeilingOfViewsTest, TheNetworkOfThisMachineIsThePolicys) {
  spec_.network = Network::kLoopback;
  EXPECT_EQ(Run(spec_).out, "ran\n");
  spec_.network = Network::kFull;
  ExpectBeyond(Run(spec_), "network");
  options_.ceiling->network = Network::kFull;
  EXPECT_EQ(Run(spec_).out, "ran\n");
}

TEST_F(CeilingOfViewsTest, AnOverlayOfSomethingElse) {
  const WorkerSpec spec = With({MountKind::kOverlay, scratch_.tmp(), Outside()}, "true");
  ExpectBeyond(Run(spec), Outside());
  options_.ceiling->paths.push_back({Outside(), Access::kRead, "outside"});
  const Finished within = Run(spec);
  EXPECT_STRNE(StepName(within.Last().step), "ceiling") << within.Last().subject;
  ExpectBeyond(Run(With({MountKind::kOverlay, Outside(), scratch_.work()}, "true")), Outside());
}

TEST_F(CeilingOfViewsTest, WithoutNamespacesNothingRuns) {
  options_.namespaces = false;
  options_.view.clear();
  ExpectBeyond(Run(spec_), "namespaces");
}

}  // namespace
}  // namespace pa::worker
