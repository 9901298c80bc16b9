// The compiled program against the table, for every number; then real calls in children of their
// own.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/keyctl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <functional>
#include <map>
#include <set>

#include "sandbox/bpf_interpreter_for_test.h"
#include "sandbox/child_for_test.h"
#include "sandbox/prepared.h"
#include "sandbox/seccomp_load.h"
#include "sandbox/syscall_sets.h"

namespace pa::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif
constexpr std::uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;

std::string Compiled(Network network, int abi, Sight sight = Sight::kHost) {
  const Result<SeccompProgram> program =
      CompileSeccomp(SeccompProfile::kBuild, network, abi, sight);
  return program ? **program : std::string();
}

// The calls of the table by number; independent of libseccomp.
const std::map<std::string_view, int> kNumbers = {
#define PA_CALL(name) {#name, SYS_##name}
    PA_CALL(clone),
    PA_CALL(clone3),
    PA_CALL(openat),
    PA_CALL(openat2),
    PA_CALL(io_uring_setup),
    PA_CALL(io_uring_enter),
    PA_CALL(io_uring_register),
    PA_CALL(io_setup),
    PA_CALL(add_key),
    PA_CALL(request_key),
    PA_CALL(keyctl),
    PA_CALL(memfd_secret),
    PA_CALL(shmget),
    PA_CALL(shmat),
    PA_CALL(shmctl),
    PA_CALL(mount),
    PA_CALL(umount2),
    PA_CALL(pivot_root),
    PA_CALL(move_mount),
    PA_CALL(mount_setattr),
    PA_CALL(open_tree),
    PA_CALL(fsopen),
    PA_CALL(fsconfig),
    PA_CALL(fsmount),
    PA_CALL(fspick),
    PA_CALL(chroot),
    PA_CALL(setns),
    PA_CALL(open_by_handle_at),
    PA_CALL(fanotify_init),
    PA_CALL(fanotify_mark),
    PA_CALL(quotactl),
    PA_CALL(quotactl_fd),
    PA_CALL(swapon),
    PA_CALL(swapoff),
    PA_CALL(bpf),
    PA_CALL(perf_event_open),
    PA_CALL(userfaultfd),
    PA_CALL(lookup_dcookie),
    PA_CALL(syslog),
    PA_CALL(init_module),
    PA_CALL(finit_module),
    PA_CALL(delete_module),
    PA_CALL(kexec_load),
    PA_CALL(kexec_file_load),
    PA_CALL(reboot),
    PA_CALL(acct),
    PA_CALL(sethostname),
    PA_CALL(setdomainname),
    PA_CALL(settimeofday),
    PA_CALL(clock_settime),
    PA_CALL(clock_adjtime),
    PA_CALL(adjtimex),
    PA_CALL(vhangup),
    PA_CALL(setxattr),
    PA_CALL(lsetxattr),
    PA_CALL(removexattr),
    PA_CALL(lremovexattr),
    PA_CALL(ptrace),
    PA_CALL(process_vm_readv),
    PA_CALL(process_vm_writev),
    PA_CALL(process_madvise),
    PA_CALL(pidfd_getfd),
    PA_CALL(kcmp),
    PA_CALL(truncate),
    PA_CALL(ioctl),
    PA_CALL(fcntl),
    PA_CALL(prctl),
    PA_CALL(sched_setaffinity),
    PA_CALL(sched_setscheduler),
    PA_CALL(sched_setparam),
    PA_CALL(sched_setattr),
    PA_CALL(seccomp),
    PA_CALL(prlimit64),
    PA_CALL(setpriority),
    PA_CALL(ioprio_set),
    PA_CALL(kill),
    PA_CALL(unshare),
    PA_CALL(fchmod),
    PA_CALL(fchmodat),
    {"fchmodat2", 452},
    PA_CALL(mknodat),
    PA_CALL(socket),
    PA_CALL(socketpair),
#if defined(__x86_64__)
    PA_CALL(modify_ldt),
    PA_CALL(iopl),
    PA_CALL(ioperm),
    PA_CALL(open),
    PA_CALL(creat),
    PA_CALL(chmod),
    PA_CALL(mknod),
#endif
#undef PA_CALL
};

bool Holds(const ArgTest& test, const seccomp_data& data) {
  const std::uint64_t whole = data.args[test.arg];
  const auto masked = static_cast<std::uint32_t>(whole) & test.mask;
  switch (test.op) {
    case ArgTest::Op::kNone:
      return true;
    case ArgTest::Op::kAnyBit:
      return masked != 0;
    case ArgTest::Op::kMaskedEqual:
      return masked == test.value;
    case ArgTest::Op::kNotIn:
      return masked >= 32 || (test.value >> masked & 1) == 0;
    case ArgTest::Op::kNotNull:
      return whole != 0;
    case ArgTest::Op::kNotListed:
      return std::ranges::find(test.list, static_cast<std::uint32_t>(whole)) == test.list.end();
  }
  return false;
}

std::vector<SyscallRule> RulesOf(int number, const std::vector<SyscallRule>& rules) {
  std::vector<SyscallRule> own;
  for (const SyscallRule& rule : rules) {
    const auto known = kNumbers.find(rule.name);
    if (known != kNumbers.end() && known->second == number) own.push_back(rule);
  }
  return own;
}

// What the table says about a known call.
std::uint32_t Expected(const std::vector<SyscallRule>& own, const seccomp_data& data) {
  for (const SyscallRule& rule : own) {
    if (Holds(rule.first, data) && Holds(rule.second, data)) {
      return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(rule.error);
    }
  }
  return SECCOMP_RET_ALLOW;
}

// Values that make and break the rules, those of lists if they are wanted, with and without garbage
// in the upper half.
std::vector<std::uint64_t> Interesting(const std::vector<SyscallRule>& own, bool lists = true) {
  std::set<std::uint64_t> values = {0, 1, 2, 3, 5, 6, 10, 16, 17, 31, 32, 0xffffffff, 0x80002};
  for (const SyscallRule& rule : own) {
    for (const ArgTest& test : {rule.first, rule.second}) {
      for (unsigned bit = 0; bit < 32; ++bit) values.insert(test.mask & (1u << bit));
      values.insert(test.value);
      values.insert(test.value ^ 1);
      if (!lists) continue;
      for (const std::uint32_t listed : test.list) values.insert({listed - 1, listed, listed + 1});
    }
  }
  std::vector<std::uint64_t> all(values.begin(), values.end());
  for (const std::uint64_t value : values) all.push_back(value | 0x5a00000000000000);
  return all;
}

class EveryConfiguration : public ::testing::TestWithParam<std::tuple<Network, int, Sight>> {};

void ExpectSameAnswers(const std::string& program, int number,
                       const std::vector<SyscallRule>& own) {
  const std::vector<std::uint64_t> few = Interesting(own, /*lists=*/false);
  for (const std::uint64_t a : Interesting(own)) {
    for (const std::uint64_t b : few) {
      for (const seccomp_data& data : {seccomp_data{number, kArchitecture, 0, {a, b, a, b}},
                                       seccomp_data{number, kArchitecture, 0, {b, a, a, b}}}) {
        ASSERT_EQ(RunBpf(program, data), Expected(own, data)) << number << " " << a << " " << b;
      }
    }
  }
}

TEST_P(EveryConfiguration, ProgramAnswersAsTheTableSays) {
  const auto [network, abi, sight] = GetParam();
  const std::vector<SyscallRule> rules =
      RefusedSyscalls(SeccompProfile::kBuild, network, abi, sight);
  const std::string program = Compiled(network, abi, sight);
  ASSERT_FALSE(program.empty());
  for (int number = 0; number <= 1024; ++number) {
    const std::vector<SyscallRule> own = RulesOf(number, rules);
    const seccomp_data plain{number, kArchitecture, 0, {}};
    if (number > kLastReviewed) {
      ASSERT_EQ(RunBpf(program, plain), kNoSuchCall) << number;
    } else if (own.empty()) {  // libseccomp knows it, or it does not exist
      const std::uint32_t answer = RunBpf(program, plain).value_or(0);
      ASSERT_TRUE(answer == SECCOMP_RET_ALLOW || answer == kNoSuchCall) << number;
    } else {
      ExpectSameAnswers(program, number, own);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seccomp, EveryConfiguration,
                         ::testing::Combine(::testing::Values(Network::kNone, Network::kFull),
                                            ::testing::Values(0, 1, 2, 3, 5, 6, 7, 9, 10),
                                            ::testing::Values(Sight::kHost, Sight::kOwnView)));

TEST(SeccompCompile, EveryNameOfTheTableHasItsNumber) {
  for (const SyscallRule& rule : RefusedSyscalls(SeccompProfile::kBuild, Network::kFull, 0)) {
    EXPECT_TRUE(kNumbers.contains(rule.name)) << rule.name << " is not covered by this test";
  }
}

// What programs need every day, and what a nested sandbox needs.
TEST(SeccompCompile, OrdinaryCallsAreAllowed) {
  const std::string program = Compiled(Network::kNone, 7);
  for (const long number : {SYS_read,
                            SYS_write,
                            SYS_openat,
                            SYS_execve,
                            SYS_wait4,
                            SYS_mmap,
                            SYS_futex,
                            SYS_pipe2,
                            SYS_renameat2,
                            SYS_statx,
                            SYS_close_range,
                            SYS_faccessat2,
                            SYS_epoll_pwait2,
                            SYS_pidfd_open,
                            SYS_landlock_create_ruleset,
                            SYS_landlock_add_rule,
                            SYS_landlock_restrict_self,
                            SYS_memfd_create,
                            SYS_copy_file_range,
                            SYS_getrandom,
                            SYS_rseq,
                            SYS_execveat,
                            SYS_fsetxattr,
                            SYS_ptrace,
                            SYS_process_vm_readv,
                            SYS_utimensat,
                            SYS_linkat,
                            SYS_symlinkat,
                            SYS_clone}) {
    EXPECT_EQ(RunBpf(program, {static_cast<int>(number), kArchitecture, 0, {}}), SECCOMP_RET_ALLOW)
        << number;
  }
}

std::string CompiledFor(SeccompProfile profile) {
  const auto program = CompileSeccomp(profile, Network::kNone, 7);
  return program ? **program : std::string();
}

// Each profile of files, and what it allows.
struct ListOfCalls {
  SeccompProfile profile;
  std::set<long> allowed;
};
std::vector<ListOfCalls> ListsOfCalls() {
  const std::set<long> reads = {SYS_openat2, SYS_fstat,      SYS_newfstatat,   SYS_read,
                                SYS_write,   SYS_writev,     SYS_close,        SYS_sendto,
                                SYS_exit,    SYS_exit_group, SYS_clock_gettime};
  std::set<long> changes = {
      SYS_getdents64, SYS_lseek,          SYS_mkdirat,    SYS_flock,
      SYS_renameat2,  SYS_linkat,         SYS_unlinkat,   SYS_fsync,
      SYS_fchown,     SYS_fchmod,         SYS_flistxattr, SYS_fgetxattr,
      SYS_fsetxattr,  SYS_rt_sigprocmask, SYS_recvfrom,   SYS_clock_nanosleep};
  changes.insert(reads.begin(), reads.end());
  return {{SeccompProfile::kFiles, reads}, {SeccompProfile::kFileChanges, changes}};
}

class SeccompOfFiles : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Profiles, SeccompOfFiles, ::testing::Values(0, 1));

TEST_P(SeccompOfFiles, IsAShortListAndDeath) {
  const auto [profile, allowed] = ListsOfCalls()[static_cast<std::size_t>(GetParam())];
  ASSERT_EQ(OnlySyscalls(profile).size(), allowed.size());
  const std::string program = CompiledFor(profile);
  ASSERT_FALSE(program.empty());
  for (int number = -2; number <= 1024; ++number) {
    EXPECT_EQ(RunBpf(program, {number, kArchitecture, 0, {}}),
              allowed.contains(number) ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS)
        << number;
  }
  EXPECT_EQ(RunBpf(program, {0x40000000, kArchitecture, 0, {}}), SECCOMP_RET_KILL_PROCESS);
}

TEST_P(SeccompOfFiles, KillsWhateverElseIsTried) {
  const std::string program =
      CompiledFor(ListsOfCalls()[static_cast<std::size_t>(GetParam())].profile);
  const auto with = [&](const std::function<void()>& call) {
    return InChild([&] {
      if (!LoadSeccomp(program)) return kSetupFailed;
      call();
      syscall(SYS_exit_group, 7);  // _exit is more than that under a sanitizer
      return kSetupFailed;
    });
  };
  EXPECT_EQ(with([] { syscall(SYS_write, -1, "", 0); }), 7);
  const std::function<void()> others[] = {[] { socket(AF_INET, SOCK_STREAM, 0); },
                                          [] { syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); },
                                          [] { execl("/bin/true", "true", nullptr); },
                                          [] { open("/etc/passwd", O_RDONLY); },
                                          [] { chmod("/nonexistent", 0); },
                                          [] { kill(getppid(), 0); },
                                          [] { ptrace(PTRACE_ATTACH, 1, 0, 0); }};
  for (const auto& other : others) EXPECT_EQ(with(other), kBySignal + SIGSYS);
}

#if defined(__x86_64__)
TEST(SeccompCompile, OtherCallingConventionsDie) {
  const std::string program = Compiled(Network::kFull, 7);
  EXPECT_EQ(RunBpf(program, {1, AUDIT_ARCH_I386, 0, {}}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(RunBpf(program, {0x40000000, kArchitecture, 0, {}}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(RunBpf(program, {0x40000001, kArchitecture, 0, {}}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(RunBpf(program, {-2, kArchitecture, 0, {}}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(RunBpf(program, {-1, kArchitecture, 0, {}}), kNoSuchCall);
}

TEST(SeccompCompile, Int80KillsTheProcess) {
  const auto getpid32 = [] {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would report it instead
    long result = 20;          // i386's getpid
    asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result > 0 ? 0 : 1;
  };
  const std::string program = Compiled(Network::kNone, 7);
  const int unfiltered = InChild(getpid32);
  if (unfiltered == kBySignal + SIGSEGV) {
    GTEST_SKIP()
        << "this kernel has no int 0x80 (ia32_emulation=0, or a host of 64-bit code alone)";
  }
  EXPECT_EQ(unfiltered, 0);
  EXPECT_EQ(InChild([&] { return LoadSeccomp(program) ? getpid32() : kSetupFailed; }),
            kBySignal + SIGSYS);
}
#endif

// One attempt: refused with `error` under the filter, while its twin goes through.
struct Attempt {
  const char* name;
  int error;
  std::function<long()> refused;
  std::function<long()> twin;  // null: the call is refused whatever its arguments are
  Network network = Network::kNone;
  int abi = 7;
};

std::string Temporary() {
  return (std::filesystem::temp_directory_path() / "seccomp-test").string();
}

long MakeFile(int flags, mode_t mode) {
  const std::string path = Temporary() + std::to_string(getpid());
  const long fd = openat(AT_FDCWD, path.c_str(), flags, mode);
  const int error = errno;
  unlink(path.c_str());
  errno = error;
  return fd;
}
long ChangeMode(long number, mode_t mode) {
  const std::string path = Temporary() + std::to_string(getpid());
  const int fd = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  long result = -1;
  if (number == SYS_fchmod) result = syscall(SYS_fchmod, fd, mode);
  if (number == SYS_fchmodat) result = syscall(SYS_fchmodat, AT_FDCWD, path.c_str(), mode);
  const int error = errno;
  unlink(path.c_str());
  errno = error;
  return result;
}
long Limit(pid_t pid) {
  struct rlimit limit;
  if (prlimit(pid, RLIMIT_CORE, nullptr, &limit) != 0) return -1;
  return syscall(SYS_prlimit64, pid, RLIMIT_CORE, &limit, nullptr);
}
long Clone(unsigned long flags) {
  const long pid = syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) _exit(0);
  return pid;
}

long Pin(pid_t pid) {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) != 0) return -1;
  return sched_setaffinity(pid, sizeof(processors), &processors);
}
long Idle(pid_t pid) {
  const sched_param none = {};
  return sched_setscheduler(pid, SCHED_IDLE, &none);
}
long Fcntl(int command, long argument) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  return fcntl(ends[0], command, argument);
}
// For what cannot succeed here: the kernel has been asked.
long AsExpected(long result, int error) { return result < 0 && errno == error ? 0 : -1; }

const Attempt kAttempts[] = {
    {"clone3", ENOSYS, [] { return syscall(SYS_clone3, nullptr, 0); }, nullptr},
    {"openat2", ENOSYS, [] { return syscall(SYS_openat2, AT_FDCWD, "/", nullptr, 0); }, nullptr},
    {"io_uring", ENOSYS, [] { return syscall(SYS_io_uring_setup, 1, nullptr); }, nullptr},
    {"keyring", ENOSYS, [] { return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -1, 0); }, nullptr},
    {"shmget", ENOSYS, [] { return long{shmget(IPC_PRIVATE, 4096, 0600)}; }, nullptr},
    {"future", ENOSYS, [] { return syscall(600); }, nullptr},
    {"mount", EPERM, [] { return long{syscall(SYS_mount, "none", "/", "tmpfs", 0, nullptr)}; },
     nullptr},
    {"fsopen", EPERM, [] { return syscall(SYS_fsopen, "tmpfs", 0); }, nullptr},
    {"open_tree", EPERM, [] { return syscall(SYS_open_tree, AT_FDCWD, "/", 1); }, nullptr},
    {"chroot", EPERM, [] { return syscall(SYS_chroot, "/"); }, nullptr},
    {"setns", EPERM, [] { return syscall(SYS_setns, -1, 0); }, nullptr},
    {"bpf", EPERM, [] { return syscall(SYS_bpf, 0, nullptr, 0); }, nullptr},
    {"perf", EPERM, [] { return syscall(SYS_perf_event_open, nullptr, 0, 0, -1, 0); }, nullptr},
    {"userfaultfd", EPERM, [] { return syscall(SYS_userfaultfd, 0); }, nullptr},
    {"handle", EPERM, [] { return syscall(SYS_open_by_handle_at, -1, nullptr, 0); }, nullptr},
    {"syslog", EPERM, [] { return syscall(SYS_syslog, 10, nullptr, 0); }, nullptr},
    {"clock", EPERM, [] { return syscall(SYS_clock_settime, CLOCK_REALTIME, nullptr); },
     [] {
       timespec now;
       return syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
     }},
    {"xattr", EOPNOTSUPP, [] { return long{setxattr("/", "user.x", "", 0, 0)}; },
     [] { return long{listxattr("/", nullptr, 0)}; }},
    {"tiocsti", ENOTTY, [] { return long{ioctl(0, TIOCSTI, "x")}; },
     [] {
       int waiting;
       int ends[2];
       return long{pipe(ends) + ioctl(ends[0], FIONREAD, &waiting)};
     }},
    {"tiocsti, upper half set", ENOTTY,
     [] { return syscall(SYS_ioctl, 0, 0xff00000000000000ul | TIOCSTI, "x"); },
     [] {
       int ends[2];
       return pipe(ends) + syscall(SYS_ioctl, ends[0], 0xff00000000000000ul | FIOCLEX);
     }},
    {"no such request", ENOTTY, [] { return long{ioctl(-1, 0xdead, 0)}; },
     [] { return AsExpected(ioctl(-1, TCGETS, 0), EBADF); }},
    {"snapshot", ENOTTY, [] { return long{ioctl(-1, BTRFS_IOC_SNAP_CREATE_V2, 0)}; },
     [] { return AsExpected(ioctl(-1, FICLONE, 0), EBADF); }},
    {"card", EOPNOTSUPP, [] { return long{ioctl(-1, SIOCETHTOOL, 0)}; },
     [] { return AsExpected(ioctl(-1, SIOCGIFMTU, 0), EBADF); }},
    {"lease", EINVAL, [] { return Fcntl(F_SETLEASE, F_RDLCK); },
     [] { return Fcntl(F_SETPIPE_SZ, 4096); }},
    {"watch", EINVAL, [] { return Fcntl(F_NOTIFY, DN_MODIFY); },
     [] { return Fcntl(F_DUPFD_CLOEXEC, 3); }},
    {"memory map", EINVAL, [] { return long{prctl(PR_SET_MM, 1, 0, 0, 0)}; },
     [] { return long{prctl(PR_SET_NAME, "x", 0, 0, 0)}; }},
    {"aio", ENOSYS,
     [] {
       unsigned long context = 0;
       return syscall(SYS_io_setup, 1, &context);
     },
     nullptr},
    {"namespace", EPERM, [] { return Clone(CLONE_NEWUSER); }, [] { return Clone(0); }},
    {"unshare", EPERM, [] { return long{unshare(CLONE_NEWNS)}; },
     [] { return long{unshare(CLONE_FS)}; }},
    {"set-id open", EPERM, [] { return MakeFile(O_CREAT | O_RDWR, 04755); },
     [] { return MakeFile(O_CREAT | O_RDWR, 0755); }},
    {"set-id fchmod", EPERM, [] { return ChangeMode(SYS_fchmod, 04755); },
     [] { return ChangeMode(SYS_fchmod, 01755); }},
    {"set-id fchmodat", EPERM, [] { return ChangeMode(SYS_fchmodat, 02755); },
     [] { return ChangeMode(SYS_fchmodat, 0700); }},
    {"listener", EPERM, [] { return syscall(SYS_seccomp, 1, 1ul << 3, nullptr); },
     [] {
       std::uint32_t action = SECCOMP_RET_ERRNO;
       return syscall(SYS_seccomp, 2, 0, &action);
     }},
    {"limits of others", EPERM, [] { return Limit(getppid()); }, [] { return Limit(0); }},
    {"priority of the user", EPERM, [] { return long{setpriority(PRIO_USER, getuid(), 1)}; },
     [] { return long{setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0))}; }},
    {"priority of another", EPERM,
     [] { return long{setpriority(PRIO_PROCESS, static_cast<id_t>(getppid()), 19)}; },
     [] { return long{setpriority(PRIO_PROCESS, 0, 19)}; }},
    {"processors of another", EPERM, [] { return Pin(getppid()); }, [] { return Pin(0); }},
    {"policy of another", EPERM, [] { return Idle(getppid()); }, [] { return Idle(0); }},
    {"io priority of another", EPERM, [] { return syscall(SYS_ioprio_set, 1, getppid(), 3 << 13); },
     [] { return syscall(SYS_ioprio_set, 1, 0, 3 << 13); }},
    {"inet", EAFNOSUPPORT, [] { return long{socket(AF_INET, SOCK_STREAM, 0)}; },
     [] { return long{socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)}; }},
    {"inet6", EAFNOSUPPORT, [] { return long{socket(AF_INET6, SOCK_DGRAM, 0)}; }, nullptr},
    {"other netlink", EAFNOSUPPORT, [] { return long{socket(AF_NETLINK, SOCK_RAW, 15)}; }, nullptr},
    {"alg", EAFNOSUPPORT, [] { return long{socket(AF_ALG, SOCK_SEQPACKET, 0)}; }, nullptr},
    {"vsock", EAFNOSUPPORT, [] { return long{socket(AF_VSOCK, SOCK_STREAM, 0)}; }, nullptr},
    {"unix", EAFNOSUPPORT, [] { return long{socket(AF_UNIX, SOCK_STREAM, 0)}; },
     [] {
       int ends[2];
       return long{socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)};
     }},
    {"unix, Landlock guards it", EAFNOSUPPORT, [] { return long{socket(AF_INET, SOCK_STREAM, 0)}; },
     [] { return long{socket(AF_UNIX, SOCK_DGRAM, 0)}; }, Network::kNone, 9},
    // The kernel's own answer is another one.
    {"pair of another family", EAFNOSUPPORT,
     [] {
       int ends[2];
       return long{socketpair(AF_INET, SOCK_STREAM, 0, ends)};
     },
     nullptr},
    {"datagram pair", EAFNOSUPPORT,
     [] {
       int ends[2];
       return long{socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)};
     },
     [] {
       int ends[2];
       return long{socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)};
     }},
    {"raw pair", EAFNOSUPPORT,
     [] {
       int ends[2];
       return long{socketpair(AF_UNIX, SOCK_RAW | SOCK_NONBLOCK, 0, ends)};
     },
     nullptr},
    {"raw", EAFNOSUPPORT, [] { return long{socket(AF_INET, SOCK_RAW, IPPROTO_TCP)}; },
     [] { return long{socket(AF_INET, SOCK_STREAM, IPPROTO_TCP)}; }, Network::kFull},
    {"mptcp", EAFNOSUPPORT, [] { return long{socket(AF_INET, SOCK_STREAM, 262)}; },
     [] { return long{socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }, Network::kFull},
    {"sctp", EAFNOSUPPORT, [] { return long{socket(AF_INET6, SOCK_SEQPACKET, 0)}; },
     [] { return long{socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP)}; }, Network::kFull},
    {"ping", EAFNOSUPPORT, [] { return long{socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP)}; },
     [] { return long{socket(AF_INET, SOCK_DGRAM, 0)}; }, Network::kFull},
    {"packet by its old name", EAFNOSUPPORT, [] { return long{socket(AF_INET, 10, 0)}; }, nullptr,
     Network::kFull},
    {"truncate, ABI 2", EPERM, [] { return long{truncate("/nonexistent", 0)}; }, nullptr,
     Network::kNone, 2},
    {"reading truncation, ABI 2", EPERM,
     [] { return long{open("/dev/null", O_RDONLY | O_TRUNC | O_CLOEXEC)}; },
     [] { return long{open("/dev/null", O_WRONLY | O_TRUNC | O_CLOEXEC)}; }, Network::kNone, 2},
    {"access mode 3, ABI 2", EPERM, [] { return long{open("/dev/null", 3 | O_TRUNC | O_CLOEXEC)}; },
     [] { return long{open("/dev/null", O_RDONLY | O_CLOEXEC)}; }, Network::kNone, 2},
    {"kill everybody, ABI 5", EPERM, [] { return long{kill(-1, 0)}; },
     [] { return long{kill(getpid(), 0)}; }, Network::kNone, 5},
    {"ptrace, no Landlock", EPERM, [] { return ptrace(PTRACE_TRACEME, 0, 0, 0); }, nullptr,
     Network::kNone, 0},
};

class RealCall : public ::testing::TestWithParam<Attempt> {};

int Try(const Attempt& attempt, const std::function<long()>& call) {
  const std::string program = Compiled(attempt.network, attempt.abi);
  return InChild([&] {
    if (!LoadSeccomp(program)) return kSetupFailed;
    return AttemptErrno(call());
  });
}

TEST_P(RealCall, IsRefused) { EXPECT_EQ(Try(GetParam(), GetParam().refused), GetParam().error); }

class AllowedTwin : public ::testing::TestWithParam<Attempt> {};

TEST_P(AllowedTwin, GoesThrough) { EXPECT_EQ(Try(GetParam(), GetParam().twin), 0); }

std::vector<Attempt> WithTwin() {
  std::vector<Attempt> attempts(std::begin(kAttempts), std::end(kAttempts));
  std::erase_if(attempts, [](const Attempt& attempt) { return !attempt.twin; });
  return attempts;
}

std::string AttemptName(const ::testing::TestParamInfo<Attempt>& attempt) {
  std::string name = attempt.param.name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name + "_" + std::to_string(attempt.index);
}

INSTANTIATE_TEST_SUITE_P(Seccomp, RealCall, ::testing::ValuesIn(kAttempts), AttemptName);
INSTANTIATE_TEST_SUITE_P(Seccomp, AllowedTwin, ::testing::ValuesIn(WithTwin()), AttemptName);

}  // namespace
}  // namespace pa::sandbox
