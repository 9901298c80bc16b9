// The real worker: what the command gets, and what is reported of it. How trees end is in
// guardian_test.cc, failing steps in faults_test.cc.
#include "worker/worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

void SetDisposition(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

class WorkerTest : public ::testing::TestWithParam<User> {
 protected:
  void SetUp() override {
    if (GetParam() == User::kNobody && geteuid() != 0)
      GTEST_SKIP() << "only root can become nobody";
    scratch_.emplace(GetParam());
  }

  Finished Run(const WorkerSpec& spec, StartOptions options = {}) {
    options.user = GetParam();
    return WorkerRun(spec, options).Wait();
  }
  Finished RunShell(const std::string& script) { return Run(Shell(*scratch_, script)); }

  std::optional<Scratch> scratch_;
};

INSTANTIATE_TEST_SUITE_P(Users, WorkerTest, ::testing::Values(User::kSelf, User::kNobody),
                         [](const auto& user_info) {
                           return user_info.param == User::kSelf ? "Self" : "Nobody";
                         });

TEST_P(WorkerTest, RunsTheCommandAndReportsItsExit) {
  const Finished done = RunShell("echo out; echo err >&2; exit 7");
  ASSERT_EQ(done.statuses.size(), 1u) << done.err << done.Last().subject;
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.err, "err\n");
  EXPECT_EQ(done.Last().kind, StatusKind::kEnded);
  EXPECT_EQ(done.Last().reason, EndReason::kExited);
  EXPECT_EQ(done.Last().exit_code, 7);
  EXPECT_EQ(done.Last().strays_killed, 0u);
  EXPECT_EQ(done.Last().tmp_clean, 1u);
  EXPECT_GT(done.Last().wall_us, 0u);
  EXPECT_GT(done.Last().max_rss_kib, 0u);
  EXPECT_EQ(done.exit_code, 0);
}

TEST_P(WorkerTest, ReportsTheSignal) {
  const Finished done = RunShell("kill -SEGV $$");
  EXPECT_EQ(done.Last().reason, EndReason::kSignaled);
  EXPECT_EQ(done.Last().term_signal, SIGSEGV);
  EXPECT_EQ(done.Last().exit_code, -1);
}

TEST_P(WorkerTest, TheEnvironmentIsExactlyTheOneGiven) {
  WorkerSpec spec = Shell(*scratch_, "");
  spec.executable = "/usr/bin/env";
  spec.argv = {"env"};
  spec.env = {"ONE=1", "EMPTY=", "SPACE=a b\nc"};
  const Finished done = Run(spec, {.worker_env = {"LD_PRELOAD=/nowhere.so", "SECRET=x"}});
  EXPECT_EQ(done.out, "ONE=1\nEMPTY=\nSPACE=a b\nc\n");
}

TEST_P(WorkerTest, TheCommandHasDescriptorsZeroToTwoOnly) {
  const UniqueFd stray(dup(0));  // inherited, as from a careless ancestor
  const Finished done = RunShell("ls /proc/self/fd | tr '\\n' ' '");
  EXPECT_EQ(done.out, "0 1 2 3 ");  // 3 is ls reading the directory
}

TEST_P(WorkerTest, StdinIsWhatWasGiven) {
  WorkerSpec spec = Shell(*scratch_, "cat");
  EXPECT_EQ(Run(spec, {.stdin_data = "line\n"}).out, "line\n");
}

TEST_P(WorkerTest, TheWorkingDirectoryIsTheDescriptorNotTheName) {
  WorkerSpec spec = Shell(*scratch_, "pwd -P");
  EXPECT_EQ(Run(spec).out, scratch_->work() + "\n");
}

TEST_P(WorkerTest, NoControllingTerminalAndASessionOfItsOwn) {
  const Finished done = RunShell("cat </dev/tty; cut -d' ' -f1,6,7 /proc/$$/stat");
  EXPECT_NE(done.err.find("/dev/tty"), std::string::npos);
  std::istringstream fields(done.out);
  long pid = 0;
  long session = 0;
  long terminal = -1;
  fields >> pid >> session >> terminal;
  EXPECT_EQ(pid, session);
  EXPECT_EQ(terminal, 0);
}

TEST_P(WorkerTest, SignalsAreDefaultAndUnblocked) {
  SetDisposition(SIGPIPE, SIG_IGN);
  SetDisposition(SIGHUP, SIG_IGN);
  const Finished done = RunShell("grep -E '^Sig(Blk|Ign)' /proc/self/status");
  SetDisposition(SIGPIPE, SIG_DFL);
  SetDisposition(SIGHUP, SIG_DFL);
  EXPECT_EQ(done.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_P(WorkerTest, TheUmaskIsTheUsersOrTheOrders) {
  const mode_t before = umask(0027);
  WorkerSpec spec = Shell(*scratch_, "umask");
  EXPECT_EQ(Run(spec).out, "0027\n");
  spec.umask = 0002;
  EXPECT_EQ(Run(spec).out, "0002\n");
  umask(before);
}

TEST_P(WorkerTest, NoNewPrivilegesAndNoCapabilitiesBeyondOwnership) {
  const Finished done = RunShell("grep -E '^(NoNewPrivs|CapEff|CapAmb):' /proc/self/status");
  const bool root = GetParam() == User::kSelf && geteuid() == 0;
  // CHOWN, DAC_OVERRIDE, FOWNER, FSETID: sandbox/capabilities.h.
  EXPECT_EQ(done.out, std::string("CapEff:\t00000000000000") + (root ? "1b" : "00") +
                          "\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n");
}

TEST_P(WorkerTest, FilesOutsideAreDeniedAndInsideAllowed) {
  const std::string secret = scratch_->path("secret");
  std::ofstream(secret) << "key\n";
  scratch_->Give(secret);
  const Finished done = RunShell("cat " + secret + "; echo x > " + secret +
                                 "; echo mine > file && cat file; mkdir a b; "
                                 "mv file a/file; mv a/file b/ && cat b/file");
  EXPECT_EQ(done.out, "mine\nmine\n");
  EXPECT_NE(done.err.find("Permission denied"), std::string::npos);
  std::string kept;
  std::getline(std::ifstream(secret), kept);
  EXPECT_EQ(kept, "key");
}

TEST_P(WorkerTest, WithoutTheSandboxTheSameFileIsRead) {
  const std::string secret = scratch_->path("secret");
  std::ofstream(secret) << "key\n";
  scratch_->Give(secret);
  const Finished done =
      Run(Shell(*scratch_, "cat " + secret), {.worker = "project-actions-worker-unconfined"});
  EXPECT_EQ(done.out, "key\n");
  EXPECT_EQ(done.Last().tmp_clean, 1u);
}

// Each of the seals is needed: without one it can be changed, cut short, or made longer.
TEST_P(WorkerTest, ASpecThatIsNotWhollySealedIsRefused) {
  constexpr int kAll = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  for (const int missing : {kAll, F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE}) {
    const Finished done = Run(Shell(*scratch_, "echo ran"), {.seals = kAll & ~missing});
    EXPECT_EQ(done.out, "");
    ASSERT_EQ(done.statuses.size(), 1u);
    EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
    EXPECT_EQ(done.Last().step, Step::kReadSpec);
    EXPECT_STREQ(done.Last().subject, "spec is not sealed") << missing;
    EXPECT_EQ(done.exit_code, kExitSetupFailed);
  }
}

TEST_P(WorkerTest, ABrokenSpecNamesItsField) {
  std::string bytes = *EncodeSpec(Shell(*scratch_, "echo ran"));
  bytes.pop_back();
  const Finished done = Run(Shell(*scratch_, ""), {.raw_spec = bytes});
  EXPECT_EQ(done.Last().step, Step::kDecodeSpec);
  EXPECT_STREQ(done.Last().subject, "decode spec \"mounts\"");
  EXPECT_EQ(done.out, "");
}

// Half of the truth about who loads the program must never run anything.
TEST_P(WorkerTest, OneOfLauncherAndSpecHasTheSeccompProgram) {
  const WorkerSpec spec = Shell(*scratch_, "echo ran; grep ^Seccomp: /proc/self/status");
  EXPECT_EQ(Run(spec).out, "ran\nSeccomp:\t2\n");
  EXPECT_EQ(Run(spec, {.program = "", .program_in_spec = AllowAllProgram()}).out,
            "ran\nSeccomp:\t2\n");
  for (const bool both : {true, false}) {
    const std::string program = both ? AllowAllProgram() : "";
    const Finished done = Run(spec, {.program = program, .program_in_spec = program});
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(done.Last().step, Step::kDecodeSpec);
    EXPECT_STREQ(done.Last().subject, "decode spec \"seccomp_program\"");
  }
}

// It is for the server, or for nobody; a guardian that found it later would take it for a cancel.
TEST_P(WorkerTest, ASignalBeforeTheOrderCancelsNothing) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    const Finished done = Run(Shell(*scratch_, "echo ran"), {.signal_before_order = signal});
    EXPECT_EQ(done.out, "ran\n");
    EXPECT_EQ(done.Last().reason, EndReason::kExited) << strsignal(signal);
  }
}

TEST_P(WorkerTest, AProgramThatTheKernelRefusesRunsNothing) {
  const Finished done = Run(Shell(*scratch_, "echo ran"), {.program = std::string(8, '\xff')});
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.Last().step, Step::kSeccomp);
  EXPECT_EQ(done.Last().sys_errno, EINVAL);
}

TEST_P(WorkerTest, AMissingExecutableIsASetupFailure) {
  WorkerSpec spec = Shell(*scratch_, "");
  spec.executable = "/usr/bin/no-such-program";
  const Finished done = Run(spec);
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
  EXPECT_EQ(done.Last().step, Step::kExecute);
  EXPECT_EQ(done.Last().sys_errno, ENOENT);
  EXPECT_STREQ(done.Last().subject, "execve \"/usr/bin/no-such-program\"");
}

}  // namespace
}  // namespace pa::worker
