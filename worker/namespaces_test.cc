// The real worker with namespaces of its own: what is in sight, and what is not.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sandbox/view_plan.h"
#include "tests/support/processes.h"
#include "tests/support/run_program.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

namespace fs = std::filesystem;

using sandbox::Mount;
using sandbox::MountKind;
using testing::Eventually;
using testing::ProcessesWith;

class NamespacesTest : public ::testing::TestWithParam<User> {
 protected:
  void SetUp() override {
    if (GetParam() == User::kNobody && geteuid() != 0)
      GTEST_SKIP() << "only root can become nobody";
    scratch_.emplace(GetParam());
    fs::create_directory(scratch_->path("shm"));
    scratch_->Give(scratch_->path("shm"));
    options_.user = GetParam();
    options_.namespaces = true;
    const Finished tried = Run(Order("true"));
    const bool refused = tried.Last().step == Step::kNamespaces && tried.Last().sys_errno == EPERM;
    if (refused) GTEST_SKIP() << "no namespaces here: " << tried.Last().subject;
  }

  WorkerSpec Order(const std::string& script) {
    WorkerSpec spec = Shell(*scratch_, script);
    std::vector<sandbox::PathGrant> system(spec.paths.begin(), spec.paths.end() - 2);
    std::vector<sandbox::PathGrant> own(spec.paths.end() - 2, spec.paths.end() - 1);
    options_.view = sandbox::PlanView({.grants = system,
                                       .names = {"/bin/sh", "/lib64"},
                                       .places = {"/tmp", "/dev/shm", scratch_->path()}})
                        .mounts;
    // As the supervisor has it: all that is granted, much of which is in the view.
    own.insert(own.end(), system.begin(), system.end());
    own.push_back({"/proc", sandbox::Access::kRead, "proc"});
    const sandbox::PathGrant terminal{"/dev/tty", sandbox::kReadWrite | sandbox::Access::kDevice,
                                      ""};
    own.push_back(terminal);
    spec.paths.push_back(terminal);
    spec.mounts = sandbox::PlanOwnMounts({.mounts = options_.view, .found = {}}, own);
    spec.mounts.push_back({MountKind::kWritable, scratch_->tmp(), "/dev/shm"});
    spec.shm_dir = scratch_->path("shm");
    spec.paths.push_back({"/dev/shm", sandbox::kReadWrite, "shm"});
    return spec;
  }

  Finished Run(const WorkerSpec& spec) { return WorkerRun(spec, options_).Wait(); }
  Finished RunShell(const std::string& script) { return Run(Order(script)); }

  std::optional<Scratch> scratch_;
  StartOptions options_;
};

INSTANTIATE_TEST_SUITE_P(Users, NamespacesTest, ::testing::Values(User::kSelf, User::kNobody),
                         [](const auto& user_info) {
                           return user_info.param == User::kSelf ? "Self" : "Nobody";
                         });

TEST_P(NamespacesTest, TheCommandRunsAndItsEndIsReported) {
  const Finished done = RunShell("pwd; echo x > made; exit 7");
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().exit_code, 7) << done.Last().subject << done.err;
  EXPECT_EQ(done.out, scratch_->work() + "\n");
  EXPECT_TRUE(fs::exists(scratch_->path("work/made")));
  EXPECT_EQ(done.Last().tmp_clean, 1u);
}

// Page counts and the like: their mode keeps them from everybody but root.
TEST_P(NamespacesTest, WhatProcShowsToRootAloneIsShownToNobody) {
  std::string hidden;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    struct stat status;
    if (stat(entry.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if ((status.st_mode & S_IROTH) == 0) hidden += " " + entry.path().string();
  }
  ASSERT_NE(hidden, "");
  const Finished done = RunShell("for file in" + hidden +
                                 "; do (exec <$file) 2>/dev/null && echo $file; done; "
                                 "cat /proc/meminfo /proc/cpuinfo >/dev/null && echo fine");
  EXPECT_EQ(done.out, "fine\n") << done.err;
}

TEST_P(NamespacesTest, WhatIsOutsideIsNotEvenThere) {
  std::ofstream(scratch_->path("outside")) << "secret";
  scratch_->Give(scratch_->path("outside"));
  const Finished done =
      RunShell("cat ../outside; chmod 600 ../outside; ls -A / ..; cat /proc/1/comm");
  EXPECT_NE(done.err.find("No such file"), std::string::npos) << done.err;
  EXPECT_EQ(done.out.find("outside"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("pa-worker"), std::string::npos) << done.out;
}

TEST_P(NamespacesTest, NobodyElseIsInSight) {
  const Finished done = RunShell(
      "set -- /proc/[0-9]*; echo $#; cat /proc/net/dev | tail -n +3 | wc -l; "
      "echo $$; cat /proc/self/uid_map");
  // The guardian and the shell.
  EXPECT_TRUE(done.out.starts_with("2\n1\n2\n")) << done.out << done.err << done.Last().subject;
}

// A terminal of another command, or of the user, has no name here.
TEST_P(NamespacesTest, TerminalsAreTheCommandsOwn) {
  if (access("/usr/bin/script", X_OK) != 0) GTEST_SKIP() << "script(1) is not installed";
  WorkerRun holder(Order("script -qc 'tty; echo typed > /dev/tty; sleep 1' /dev/null > held & "
                         "until grep -q typed held; do sleep 0.01; done; echo held; wait"),
                   options_);
  ASSERT_TRUE(Eventually([&] { return fs::exists(scratch_->path("work/held")); }));
  const Finished other = RunShell("ls /dev/pts; script -qc 'tty; ls /dev/pts' /dev/null");
  EXPECT_EQ(other.out, "ptmx\n/dev/pts/0\r\n0  ptmx\r\n") << other.err;
  EXPECT_EQ(holder.Wait().out, "held\n");
  std::ifstream held(scratch_->path("work/held"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(held), {}), "/dev/pts/0\r\ntyped\r\n");
}

TEST_P(NamespacesTest, OneCommandHasAFewTerminals) {
  const Finished done = RunShell(
      "exec bash -c 'n=0; while [ $n -lt 80 ] && exec {fd}<>/dev/ptmx; do n=$((n+1)); done; "
      "echo $n'");
  EXPECT_EQ(done.out, "64\n") << done.err;
}

// Whether or not its own grants name it too.
TEST_P(NamespacesTest, TheOldRootIsGoneAndNotOnlyCovered) {
  const Finished done =
      // But for what covers single files for root.
      RunShell(
          "grep -v 'null /proc/' /proc/self/mountinfo | cut -d ' ' -f 5 | grep '^/proc'; "
          "stat -c %A /proc");
  EXPECT_EQ(done.out, "/proc\ndr-xr-xr-x\n") << done.err;
}

// By the mount, and not by Landlock alone.
TEST_P(NamespacesTest, TheTopOfTheViewIsReadOnly) {
  const Finished done =
      RunShell("cut -d ' ' -f 4-6 /proc/self/mountinfo | grep '^/ / ' | cut -c 1-6");
  EXPECT_EQ(done.out, "/ / ro\n") << done.err;
}

TEST_P(NamespacesTest, SystemPathsCannotBeChanged) {
  const Finished done = RunShell("touch /usr/bin/env; echo $?; mkdir /new; echo $?");
  EXPECT_EQ(done.out, "1\n1\n") << done.err;
}

TEST_P(NamespacesTest, LoopbackIsThereWhenAskedFor) {
  WorkerSpec spec = Order("cat /sys/class/net/lo/operstate /proc/net/if_inet6");
  spec.network = sandbox::Network::kLoopback;
  const Finished up = Run(spec);
  EXPECT_NE(up.out.find("lo"), std::string::npos) << up.out << up.err;
  const Finished down = RunShell("cat /proc/net/if_inet6");
  EXPECT_EQ(down.out.find("lo"), std::string::npos) << down.out;
}

TEST_P(NamespacesTest, TheWholeTreeEndsWithTheWorker) {
  const std::string seconds = UniqueSeconds();
  WorkerRun run(Order("setsid sleep " + seconds + " & echo ready; exec sleep " + seconds),
                options_);
  ASSERT_TRUE(run.WaitForOutput("ready"));
  kill(run.pid(), SIGKILL);
  run.Wait();
  EXPECT_TRUE(Eventually([&] { return ProcessesWith(seconds).empty(); }));
}

TEST_P(NamespacesTest, StraysEndWhenTheCommandHas) {
  const std::string seconds = UniqueSeconds();
  const Finished done = RunShell("trap '' TERM; setsid sleep " + seconds + " & exit 3");
  EXPECT_EQ(done.Last().exit_code, 3);
  EXPECT_GE(done.Last().strays_killed, 1u);
  EXPECT_TRUE(Eventually([&] { return ProcessesWith(seconds).empty(); }));
}

TEST_P(NamespacesTest, TheTreeCannotCancelItself) {
  const Finished done = RunShell("kill -TERM 1; kill -INT 1; kill -KILL 1; sleep 0.1; echo alive");
  EXPECT_EQ(done.Last().reason, EndReason::kExited) << done.err;
  EXPECT_EQ(done.out, "alive\n");
}

TEST_P(NamespacesTest, ACancelIsHeard) {
  WorkerRun run(Order("echo ready; sleep 100"), options_);
  ASSERT_TRUE(run.WaitForOutput("ready"));
  run.Cancel();
  EXPECT_EQ(run.Wait().Last().reason, EndReason::kCancelled);
}

TEST_P(NamespacesTest, ADirectoryThatWasReplacedIsNotEntered) {
  const WorkerSpec spec = Order("pwd");
  // The descriptor of the working directory is opened from this name, the mount is of the other.
  WorkerSpec swapped = spec;
  fs::create_directory(scratch_->path("other"));
  scratch_->Give(scratch_->path("other"));
  for (Mount& mount : swapped.mounts) {
    if (mount.source == scratch_->work()) mount.source = scratch_->path("other");
  }
  const Finished done = Run(swapped);
  EXPECT_EQ(done.Last().step, Step::kWorkingDirectory) << done.Last().subject;
  EXPECT_EQ(done.Last().sys_errno, ESTALE);
}

TEST_P(NamespacesTest, ALinkInThePlaceOfADirectoryIsNotFollowed) {
  WorkerSpec spec = Order("pwd");
  fs::create_directory_symlink("/etc", scratch_->path("link"));
  spec.mounts.push_back({MountKind::kWritable, scratch_->path("link"), scratch_->path("link")});
  const Finished done = Run(spec);
  EXPECT_EQ(done.Last().step, Step::kMounts) << done.Last().subject;
  EXPECT_EQ(done.Last().sys_errno, ELOOP);
}

// Another command of the project can put one there while mount points are made. Until the view is
// sealed, /proc leads outside.
TEST_P(NamespacesTest, ALinkOnTheWayToAMountPointIsNotFollowed) {
  for (const char* name : {"aside", "other"}) {
    fs::create_directory(scratch_->path(name));
    scratch_->Give(scratch_->path(name));
  }
  const std::string way = scratch_->work() + "/way";
  WorkerSpec spec = Order("echo ran");
  spec.mounts.push_back({MountKind::kReadOnly, scratch_->path("other"), way + "/made"});

  fs::create_directory_symlink("/proc" + scratch_->path("aside"), way);
  const Finished refused = Run(spec);
  EXPECT_EQ(refused.Last().step, Step::kMounts) << refused.Last().subject;
  EXPECT_EQ(refused.Last().sys_errno, ELOOP);
  EXPECT_FALSE(fs::exists(scratch_->path("aside/made")));

  fs::remove(way);
  fs::create_directory(way);
  scratch_->Give(way);
  EXPECT_EQ(Run(spec).out, "ran\n");
}

// Read-only outside, and nobody granted the directory.
TEST_P(NamespacesTest, ACommandChangesACopyOfADirectory) {
  const std::string base = scratch_->path("private: one, two");
  const std::string lower = scratch_->work() + "/lower, of: it";
  for (const std::string& made : {base, base + "/upper", base + "/work", lower, lower + "/sub"}) {
    fs::create_directory(made);
    scratch_->Give(made);
  }
  std::ofstream(lower + "/file") << "as it was\n";
  scratch_->Give(lower + "/file");
  WorkerSpec spec = Order(
      "cd lower*; cat file; echo changed > file; echo new > sub/new; "
      "printf '#!/bin/sh\necho ran\n' > hook; chmod +x hook; ./hook; "
      "cat file; mv sub/new .; ls; rmdir sub");
  spec.mounts.push_back({MountKind::kReadOnly, lower, lower});
  spec.mounts.push_back({MountKind::kOverlay, base, lower});
  const Finished done = Run(spec);
  if (done.Last().step == Step::kOverlay && !pa::testing::OverlaysAreGranted()) {
    GTEST_SKIP() << "no overlay here: " << done.Last().subject << " " << done.Last().sys_errno;
  }
  EXPECT_EQ(done.out, "as it was\nran\nchanged\nfile\nhook\nnew\nsub\n") << done.err;
  EXPECT_EQ(done.err, "");
  std::string lines;
  std::ifstream(lower + "/file") >> lines;
  EXPECT_EQ(lines, "as");
  EXPECT_FALSE(fs::exists(lower + "/new"));
  EXPECT_TRUE(fs::exists(lower + "/sub"));
  EXPECT_TRUE(fs::exists(base + "/upper/new"));
}

TEST_P(NamespacesTest, AnOverlayWithoutItsDirectoriesIsRefused) {
  WorkerSpec spec = Order("echo ran");
  spec.mounts.push_back({MountKind::kOverlay, scratch_->path("shm"), scratch_->work()});
  const Finished done = Run(spec);
  EXPECT_EQ(done.Last().step, Step::kOverlay) << done.Last().subject;
  EXPECT_EQ(done.Last().sys_errno, ENOENT);
  EXPECT_EQ(done.out, "");
}

TEST_P(NamespacesTest, AnOrderWithoutAViewIsRefused) {
  WorkerSpec spec = Order("pwd");
  spec.mounts.clear();
  EXPECT_EQ(Run(spec).Last().step, Step::kDecodeSpec);
}

TEST_P(NamespacesTest, OfAnOrdinaryUserTheProcessesAreCountedByThemselves) {
  if (GetParam() == User::kSelf && geteuid() == 0)
    GTEST_SKIP() << "RLIMIT_NPROC does not bind root";
  WorkerSpec spec = Order("for i in 1 2 3 4 5 6 7 8; do sleep 0.3 & done; wait; echo done");
  spec.limits.processes = 20;
  EXPECT_EQ(Run(spec).out, "done\n");
  spec.limits.processes = 4;
  const Finished exceeded = Run(spec);
  EXPECT_EQ(exceeded.Last().reason, EndReason::kLimitExceeded);
  EXPECT_EQ(exceeded.Last().limit, Limit::kProcesses);
  // And at once, where the guardian would come too late.
  spec = Order("i=0; while [ $i -lt 60 ]; do sleep 9 & i=$((i+1)); done; echo all");
  spec.limits.processes = 4;
  EXPECT_EQ(Run(spec).out, "");
}

}  // namespace
}  // namespace pa::worker
