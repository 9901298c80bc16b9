#include "sandbox/syscall_sets.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <initializer_list>
#include <iterator>
#include <span>

#include "sandbox/argument_lists.h"

namespace pa::sandbox {
namespace {

constexpr std::uint32_t kAllBits = 0xffffffff;

constexpr ArgTest AnyBit(unsigned arg, std::uint32_t mask = kAllBits) {
  return {ArgTest::Op::kAnyBit, arg, mask, 0, {}};
}
constexpr ArgTest Masked(unsigned arg, std::uint32_t mask, std::uint32_t value) {
  return {ArgTest::Op::kMaskedEqual, arg, mask, value, {}};
}
constexpr ArgTest Equal(unsigned arg, std::uint32_t value) { return Masked(arg, kAllBits, value); }
constexpr ArgTest NotIn(unsigned arg, std::uint32_t mask, std::uint32_t bits) {
  return {ArgTest::Op::kNotIn, arg, mask, bits, {}};
}
constexpr ArgTest NotNull(unsigned arg) { return {ArgTest::Op::kNotNull, arg, 0, 0, {}}; }
constexpr ArgTest NotListed(unsigned arg, std::span<const std::uint32_t> list) {
  return {ArgTest::Op::kNotListed, arg, kAllBits, 0, list};
}
constexpr std::uint32_t Set(std::initializer_list<unsigned> numbers) {
  std::uint32_t bits = 0;
  for (const unsigned number : numbers) bits |= 1u << number;
  return bits;
}

constexpr int kTruncateAbi = 3;  // from which on Landlock has a right for it

// Refused whatever the arguments are. ENOSYS where libraries have an older call to fall back to.
constexpr SyscallRule kRefused[] = {
    // clang-format off
    {"clone3", ENOSYS, "CLONE_NEW* is in memory, out of our sight; libc falls back to clone"},
    {"openat2", ENOSYS, "mode and flags are in memory; users fall back to openat"},
    {"io_uring_setup", ENOSYS, "does what other system calls do without passing the filter"},
    {"io_uring_enter", ENOSYS, "as io_uring_setup"},
    {"io_uring_register", ENOSYS, "as io_uring_setup"},
    {"io_setup", ENOSYS, "one command takes the whole machine's share (fs.aio-max-nr)"},
    {"add_key", ENOSYS, "keyrings hold the user's secrets and outlive the command"},
    {"request_key", ENOSYS, "as add_key; also starts a helper program outside the sandbox"},
    {"keyctl", ENOSYS, "as add_key"},
    {"memfd_secret", ENOSYS, "memory that nobody else can see or measure"},
    {"shmget", ENOSYS, "System V memory outlives the command and escapes the memory limit"},
    {"shmat", ENOSYS, "attaches the memory of any other program of the same user, by number"},
    {"shmctl", ENOSYS, "as shmat: lists and removes the segments of others"},

    {"mount", EPERM, "changes what paths mean; Landlock decides by path"},
    {"umount2", EPERM, "as mount: uncovers what lies beneath"},
    {"pivot_root", EPERM, "as mount"},
    {"move_mount", EPERM, "as mount"},
    {"mount_setattr", EPERM, "as mount"},
    {"open_tree", EPERM, "gives a descriptor of a detached mount, which Landlock lets pass"},
    {"fsopen", EPERM, "as open_tree: a file system of the command's own making"},
    {"fsconfig", EPERM, "as fsopen"},
    {"fsmount", EPERM, "as fsopen"},
    {"fspick", EPERM, "as fsopen: changes a file system that is mounted"},
    {"chroot", EPERM, "with a user namespace the first half of many escapes"},
    {"setns", EPERM, "enters the namespaces of other processes"},
    {"open_by_handle_at", EPERM, "opens by inode number, past every directory"},
    {"fanotify_init", EPERM, "sees and can hold up the file accesses of others"},
    {"fanotify_mark", EPERM, "as fanotify_init"},
    {"quotactl", EPERM, "changes what others may store"},
    {"quotactl_fd", EPERM, "as quotactl"},
    {"swapon", EPERM, "a swap device reads the memory of all"},
    {"swapoff", EPERM, "as swapon"},

    {"bpf", EPERM, "code in the kernel; large attack surface"},
    {"perf_event_open", EPERM, "observes other processes and the kernel; large attack surface"},
    {"userfaultfd", EPERM, "holds the kernel at a chosen point, the usual help of kernel exploits"},
    {"modify_ldt", EPERM, "16-bit segments, which only exploits and Wine use"},
    {"lookup_dcookie", EPERM, "kernel profiling"},
    {"syslog", EPERM, "the kernel's log holds addresses and other people's events"},
    {"init_module", EPERM, "code in the kernel"},
    {"finit_module", EPERM, "as init_module"},
    {"delete_module", EPERM, "as init_module"},
    {"kexec_load", EPERM, "another kernel"},
    {"kexec_file_load", EPERM, "as kexec_load"},
    {"iopl", EPERM, "the machine's input and output ports"},
    {"ioperm", EPERM, "as iopl"},

    {"reboot", EPERM, "the machine is not the command's"},
    {"acct", EPERM, "writes a file of its choice for every process that ends"},
    {"sethostname", EPERM, "the machine is not the command's"},
    {"setdomainname", EPERM, "the machine is not the command's"},
    {"settimeofday", EPERM, "the clock is everybody's"},
    {"clock_settime", EPERM, "the clock is everybody's"},
    {"clock_adjtime", EPERM, "the clock is everybody's"},
    {"adjtimex", EPERM, "the clock is everybody's"},
    {"vhangup", EPERM, "hangs up the user's terminal"},

    // chmod and utimes have the same hole but builds cannot live without them.
    {"setxattr", EOPNOTSUPP, "Landlock does not cover it: ACLs outside; fsetxattr stays"},
    {"lsetxattr", EOPNOTSUPP, "as setxattr"},
    {"removexattr", EOPNOTSUPP, "as setxattr; fremovexattr stays"},
    {"lremovexattr", EOPNOTSUPP, "as setxattr"},

    // What Landlock takes care of once it can.
    {"ptrace", EPERM, "only Landlock keeps it within the sandbox", {}, {}, 1},
    {"process_vm_readv", EPERM, "as ptrace", {}, {}, 1},
    {"process_vm_writev", EPERM, "as ptrace", {}, {}, 1},
    {"process_madvise", EPERM, "as ptrace", {}, {}, 1},
    {"pidfd_getfd", EPERM, "as ptrace: takes descriptors out of other processes", {}, {}, 1},
    {"kcmp", EPERM, "as ptrace", {}, {}, 1},
    {"truncate", EPERM, "empties files outside: no right covers it before ABI 3", {}, {},
     kTruncateAbi},
    // clang-format on
};

// Refused to what only reads: what a Makefile runs while it is loaded or printed changes nothing.
// With descriptors too, because one that was opened for reading is enough.
constexpr SyscallRule kRefusedToInspection[] = {
    // clang-format off
    {"chmod", EPERM, "Landlock does not cover modes: a dry run would change them"},
    {"fchmod", EPERM, "as chmod"},
    {"fchmodat", EPERM, "as chmod"},
    {"fchmodat2", EPERM, "as chmod"},
    {"chown", EPERM, "as chmod"},
    {"fchown", EPERM, "as chmod"},
    {"lchown", EPERM, "as chmod"},
    {"fchownat", EPERM, "as chmod"},
    {"utime", EPERM, "as chmod: times decide what make makes"},
    {"utimes", EPERM, "as utime"},
    {"futimesat", EPERM, "as utime"},
    {"utimensat", EPERM, "as utime"},
    {"fsetxattr", EPERM, "as chmod: access lists"},
    {"fremovexattr", EPERM, "as fsetxattr"},
    // clang-format on
};

// Refused for some arguments.
constexpr std::uint32_t kTruncation = O_ACCMODE | O_TRUNC;

constexpr SyscallRule kRefusedArguments[] = {
    // clang-format off
    {"seccomp", EPERM, "NEW_LISTENER: whoever listens answers calls", AnyBit(1, 1u << 3)},
    {"prlimit64", EPERM, "limits of others: a CPU limit of 0 kills, past the signal scope",
     AnyBit(0), NotNull(2)},
    {"setpriority", EPERM, "PRIO_USER: every process of the user", Equal(0, PRIO_USER)},
    {"ioprio_set", EPERM, "IOPRIO_WHO_USER: every process of the user", Equal(0, 3)},
    {"kill", EPERM, "pid -1: every process of the user", Equal(0, kAllBits), {}, 6},

    // Before ABI 3 no right stands for O_TRUNC. Opened for writing it needs the right to write;
    // opened for reading that to read; with access mode 3, which is neither, none at all.
    {"open", EPERM, "O_RDONLY | O_TRUNC", Masked(1, kTruncation, O_TRUNC), {}, kTruncateAbi},
    {"open", EPERM, "access mode 3 | O_TRUNC", Masked(1, kTruncation, 3 | O_TRUNC), {},
     kTruncateAbi},
    {"openat", EPERM, "O_RDONLY | O_TRUNC", Masked(2, kTruncation, O_TRUNC), {}, kTruncateAbi},
    {"openat", EPERM, "access mode 3 | O_TRUNC", Masked(2, kTruncation, 3 | O_TRUNC), {},
     kTruncateAbi},
    // clang-format on
};

// A namespace gives its maker every capability inside, and with them mounts and sockets that none
// of our rules was made for. CLONE_NEWTIME is unshare's only: in clone that bit is part of the exit
// signal.
constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                                      CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
constexpr std::uint32_t kNewTime = 0x80;

// A set-id copy of a shell in the project is somebody else's way in. mkdir drops the bits by
// itself.
constexpr std::uint32_t kSetId = S_ISUID | S_ISGID;
// A mode counts only when a file may be made; without these flags the register is garbage.
constexpr std::uint32_t kCreates = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

constexpr SyscallRule kRefusedFlags[] = {
    {"clone", EPERM, "a new namespace", AnyBit(0, kNamespaces)},
    {"unshare", EPERM, "a new namespace", AnyBit(0, kNamespaces | kNewTime)},
    {"chmod", EPERM, "set-id bits", AnyBit(1, kSetId)},
    {"fchmod", EPERM, "set-id bits", AnyBit(1, kSetId)},
    {"fchmodat", EPERM, "set-id bits", AnyBit(2, kSetId)},
    {"fchmodat2", EPERM, "set-id bits", AnyBit(2, kSetId)},
    {"creat", EPERM, "set-id bits", AnyBit(1, kSetId)},
    {"mknod", EPERM, "set-id bits", AnyBit(1, kSetId)},
    {"mknodat", EPERM, "set-id bits", AnyBit(2, kSetId)},
    {"open", EPERM, "set-id bits", AnyBit(1, kCreates), AnyBit(2, kSetId)},
    {"openat", EPERM, "set-id bits", AnyBit(2, kCreates), AnyBit(3, kSetId)},
};

// What is allowed by name (argument_lists.h). The errors are those for what a kernel does not know.
void AddLists(std::vector<SyscallRule>& rules) {
  // psutil knows a card that cannot say how fast it is, and no other error.
  constexpr std::uint32_t kEthtool = 0x8946;
  rules.push_back({"ioctl", EOPNOTSUPP, "SIOCETHTOOL: the card's driver", Equal(1, kEthtool)});
  rules.push_back({"ioctl", ENOTTY, "request not listed", NotListed(1, IoctlNumbers())});
  rules.push_back({"fcntl", EINVAL, "command not listed", NotListed(1, FcntlNumbers())});
  rules.push_back({"prctl", EINVAL, "option not listed", NotListed(0, PrctlNumbers())});
}

// Where numbers of processes outside mean something. What is lowered there cannot be raised again
// without a capability, so the launcher that a command had slowed down would be slow for every
// later call. 0 is the caller, which is how snapd confines desktop programs, too.
constexpr SyscallRule kRefusedAmongOthers[] = {
    // clang-format off
    {"setpriority", EPERM, "priority of another process", AnyBit(1)},
    {"ioprio_set", EPERM, "as setpriority", AnyBit(1)},
    {"sched_setaffinity", EPERM, "processors of another process", AnyBit(0)},
    {"sched_setscheduler", EPERM, "SCHED_IDLE for another process", AnyBit(0)},
    {"sched_setparam", EPERM, "as sched_setscheduler", AnyBit(0)},
    {"sched_setattr", EPERM, "as sched_setscheduler", AnyBit(0)},
    // clang-format on
};

// socket(2) and socketpair(2): family, type without its flags (SOCK_TYPE_MASK), protocol.
constexpr std::uint32_t kTypeMask = 0xf;
constexpr unsigned kStream = 1, kDatagram = 2, kSequenced = 5;  // SOCK_*, an enum in glibc's header
constexpr unsigned kTcp = 6, kUdp = 17;

// Where docker, dbus and ssh-agent cannot be reached: Landlock guards path sockets, or a view shows
// none. Abstract ones belong to the network namespace, which is the host's when the network is
// full.
bool AllowsUnixSockets(Network network, int landlock_abi, Sight sight) {
  if (landlock_abi >= 9) return true;
  return sight == Sight::kOwnView && (network != Network::kFull || landlock_abi >= 6);
}

void AddSocketRules(Network network, bool unix_sockets, std::vector<SyscallRule>& rules) {
  // NETLINK_ROUTE is interfaces and routes, for getaddrinfo and getifaddrs; changing them takes
  // CAP_NET_ADMIN.
  std::uint32_t families = Set({AF_NETLINK});
  if (unix_sockets) families |= Set({AF_UNIX});
  if (network != Network::kNone) families |= Set({AF_INET, AF_INET6});
  rules.push_back({"socket", EAFNOSUPPORT, "family not granted", NotIn(0, kAllBits, families)});
  rules.push_back(
      {"socket", EAFNOSUPPORT, "NETLINK_ROUTE (0) only", Equal(0, AF_NETLINK), AnyBit(2)});
  // Of AF_INET only TCP and UDP: MPTCP and SCTP pass Landlock's TCP rules, raw sockets pass
  // everything.
  for (const std::uint32_t family : {std::uint32_t{AF_INET}, std::uint32_t{AF_INET6}}) {
    rules.push_back({"socket", EAFNOSUPPORT, "stream and datagram only", Equal(0, family),
                     NotIn(1, kTypeMask, Set({kStream, kDatagram}))});
    rules.push_back({"socket", EAFNOSUPPORT, "TCP and UDP only", Equal(0, family),
                     NotIn(2, kAllBits, Set({0, kTcp, kUdp}))});
  }
  rules.push_back({"socketpair", EAFNOSUPPORT, "AF_UNIX only", NotIn(0, kAllBits, Set({AF_UNIX}))});
  // sendmsg with a path reaches datagram sockets of others from an unconnected pair, without
  // socket(). SOCK_RAW is SOCK_DGRAM by another name.
  if (unix_sockets) return;
  rules.push_back({"socketpair", EAFNOSUPPORT, "no datagrams",
                   NotIn(1, kTypeMask, Set({kStream, kSequenced}))});
}

constexpr AllowedSyscall kFileSyscalls[] = {
    // clang-format off
    {"openat2", "beneath the working directory, by Landlock too"},
    {"fstat", "what was opened"},
    {"newfstatat", "as fstat, which some C libraries have only by this"},
    {"read", "the file"},
    {"write", "its bytes to the supervisor"},
    {"writev", "as write, which is how a C library prints"},
    {"close", "what was opened"},
    {"clock_gettime", "where the kernel's page of shared code does not know the time"},
    {"sendto", "the one packet with what came of it"},
    {"exit_group", "the end"},
    {"exit", "as exit_group"},
    // clang-format on
};

// All of them by a descriptor, or a name in a directory that is one.
constexpr AllowedSyscall kFileChangeSyscalls[] = {
    // clang-format off
    {"mkdirat", "directories on the way"},
    {"getdents64", "what is in a directory that goes"},
    {"lseek", "from its beginning"},
    {"flock", "one writer of a file at a time"},
    {"clock_nanosleep", "until the other one has ended"},
    {"renameat2", "the new content gets the name"},
    {"linkat", "the same, where renameat2 knows no flags"},
    {"unlinkat", "the temporary file, when it failed"},
    {"fsync", "on the disk"},
    {"fchown", "the owner of what is replaced"},
    {"fchmod", "its mode"},
    {"flistxattr", "its extended attributes"},
    {"fgetxattr", "as flistxattr"},
    {"fsetxattr", "as flistxattr"},
    {"recvfrom", "whether the supervisor is still there"},
    {"rt_sigprocmask", "a file size limit is an error, not a death"},
    // clang-format on
};

// What the C library and the allocator of each of these programs need.
constexpr AllowedSyscall kLibrarySyscalls[] = {
    // clang-format off
    {"brk", "memory"},
    {"mmap", "as brk"},
    {"munmap", "as brk"},
    {"mremap", "as brk"},
    {"mprotect", "as brk"},
    {"madvise", "as brk"},
    {"futex", "locks"},
    {"getrandom", "names, keys, what hash tables begin with"},
    {"clock_gettime", "where the kernel's page of shared code does not know the time"},
    {"clock_getres", "as clock_gettime"},
    {"gettimeofday", "as clock_gettime"},
    {"time", "as clock_gettime"},
    {"getpid", "who we are"},
    {"gettid", "as getpid"},
    {"geteuid", "as getpid; whose the files are"},
    {"rt_sigaction", "signals"},
    {"rt_sigprocmask", "as rt_sigaction"},
    {"rt_sigreturn", "as rt_sigaction"},
    {"restart_syscall", "as rt_sigaction"},
    {"exit_group", "the end"},
    {"exit", "of a thread"},
    // clang-format on
};

constexpr AllowedSyscall kFrontDoorSyscalls[] = {
    // clang-format off
    {"accept4", "a connection of the web server"},
    {"getsockopt", "who that is"},
    {"setsockopt", "how much the kernel keeps for it"},
    {"recvfrom", "its requests"},
    {"sendto", "the answers, and lines of the journal"},
    {"shutdown", "the end of a connection"},
    {"getsockname", "what a socket that was passed is"},
    {"fcntl", "that it does not block"},
    {"ioctl", "the same, as libuv does it"},
    {"epoll_create1", "libuv's loop"},
    {"epoll_ctl", "as epoll_create1"},
    {"epoll_wait", "as epoll_create1"},
    {"epoll_pwait", "as epoll_create1"},
    {"timerfd_create", "as epoll_create1"},
    {"timerfd_settime", "as epoll_create1"},
    {"read", "files of tokens; signals"},
    {"pread64", "as read"},
    {"write", "as read; lines of the log"},
    {"writev", "as write, which is how a C library prints"},
    {"open", "tokens and keys, by Landlock those alone; as openat"},
    {"openat", "as open"},
    {"close", "what was opened"},
    {"fstat", "who could have written it"},
    {"stat", "as fstat"},
    {"lstat", "as fstat"},
    {"newfstatat", "as fstat"},
    {"statx", "as fstat"},
    {"readlink", "the names of tenants"},
    {"readlinkat", "as readlink"},
    {"getdents64", "which tenants there are"},
    {"lseek", "as getdents64"},
    {"sigaltstack", "as rt_sigaction"},
    {"tgkill", "a failed assertion ends this process"},
    // clang-format on
};

// Files beneath what Landlock leaves open, and memory. No process, no socket, no signal but to
// itself.
constexpr AllowedSyscall kJanitorSyscalls[] = {
    // clang-format off
    {"open", "beneath the paths of the order, by Landlock; as openat"},
    {"openat", "as open"},
    {"openat2", "as open, without symlinks"},
    {"close", "what was opened"},
    {"read", "content"},
    {"pread64", "as read"},
    {"write", "what is restored; the answer"},
    {"lseek", "as write; directories from their beginning"},
    {"ftruncate", "as write"},
    {"fsync", "on the disk"},
    {"getdents64", "the names in a directory"},
    {"fstat", "what was opened"},
    {"stat", "what is there; as newfstatat"},
    {"lstat", "as stat"},
    {"newfstatat", "as stat"},
    {"statx", "as stat; when it was born"},
    {"access", "whether the user could read it; as faccessat2"},
    {"faccessat", "as access"},
    {"faccessat2", "as access"},
    {"readlink", "where a symlink leads; as readlinkat"},
    {"readlinkat", "as readlink"},
    {"getcwd", "what a relative path begins with"},
    {"fcntl", "leases: who else has it open"},
    {"flock", "whose directory that is"},
    {"fstatfs", "whether somebody else may write that file system"},
    {"inotify_add_watch", "what the server is told of"},
    {"rename", "into the quarantine, and back; as renameat2"},
    {"renameat", "as rename"},
    {"renameat2", "as rename"},
    {"link", "a name for what is restored; as linkat"},
    {"linkat", "as link"},
    {"symlink", "symlinks that are restored; as symlinkat"},
    {"symlinkat", "as symlink"},
    {"mkdir", "directories that are restored; as mkdirat"},
    {"mkdirat", "as mkdir"},
    {"unlink", "what is emptied; as unlinkat"},
    {"unlinkat", "as unlink"},
    {"rmdir", "as unlink"},
    {"chmod", "permissions that are restored; as fchmodat"},
    {"fchmod", "as chmod"},
    {"fchmodat", "as chmod"},
    {"fchmodat2", "as chmod"},
    {"chown", "the owner, as far as that is allowed; as fchownat"},
    {"lchown", "as chown"},
    {"fchown", "as chown"},
    {"fchownat", "as chown"},
    {"utimensat", "the time of a file that is restored"},
    {"recvmsg", "the order, from a socket that is closed then; nothing makes another one"},
    {"sendmsg", "as recvmsg: which process it is"},
    {"pidfd_open", "the same"},
    {"close_range", "that and all other descriptors"},
    {"landlock_create_ruleset", "to confine itself to the paths of the order"},
    {"landlock_add_rule", "as landlock_create_ruleset"},
    {"landlock_restrict_self", "as landlock_create_ruleset"},
    {"prctl", "the name of the process"},
    {"getegid", "as geteuid"},
    {"getuid", "as geteuid"},
    {"getgid", "as geteuid"},
    {"clock_nanosleep", "until something has ended"},
    // clang-format on
};

// What libuv, the C library and our own code need. By Landlock files are those of the server alone;
// what Landlock does not cover (modes, owners, times, attributes by name) is missing here.
constexpr AllowedSyscall kServerSyscalls[] = {
    // clang-format off
    {"read", "clients, files, output of commands"},
    {"readv", "as read"},
    {"pread64", "as read"},
    {"preadv", "as read"},
    {"write", "answers, the log, files of the state"},
    {"writev", "as write"},
    {"pwrite64", "as write"},
    {"pwritev", "as write"},
    {"open", "by Landlock its own files; with O_PATH any; as openat"},
    {"openat", "as open"},
    {"openat2", "as open"},
    {"close", "what was opened"},
    {"close_range", "as close"},
    {"fstat", "what was opened"},
    {"stat", "what is there; as newfstatat"},
    {"lstat", "as stat"},
    {"newfstatat", "as stat"},
    {"statx", "as stat"},
    {"statfs", "on which file system"},
    {"fstatfs", "as statfs"},
    {"access", "whether the user could; as faccessat2"},
    {"faccessat", "as access"},
    {"faccessat2", "as access"},
    {"readlink", "where a symlink leads; as readlinkat"},
    {"readlinkat", "as readlink"},
    {"getcwd", "what a relative path begins with"},
    {"getdents64", "the names in a directory"},
    {"lseek", "from the beginning"},
    {"ftruncate", "memfds and logs"},
    {"fsync", "on the disk"},
    {"fdatasync", "as fsync"},
    {"flock", "one server at a time"},
    {"fcntl", "flags and seals of a descriptor"},
    {"dup", "a second descriptor; as dup3"},
    {"dup2", "as dup"},
    {"dup3", "as dup"},
    {"rename", "a whole file in place of another; as renameat2"},
    {"renameat", "as rename"},
    {"renameat2", "as rename"},
    {"unlink", "files of the state; as unlinkat"},
    {"unlinkat", "as unlink"},
    {"rmdir", "as unlink"},
    {"mkdir", "directories of the state; as mkdirat"},
    {"mkdirat", "as mkdir"},
    {"umask", "which it has"},
    {"fchmod", "of what it could open"},
    {"memfd_create", "orders and answers"},
    {"pipe", "output; as pipe2"},
    {"pipe2", "as pipe"},
    {"eventfd2", "libuv's loop"},
    {"epoll_create1", "as eventfd2"},
    {"epoll_ctl", "as eventfd2"},
    {"epoll_wait", "as eventfd2"},
    {"epoll_pwait", "as eventfd2"},
    {"timerfd_create", "as eventfd2"},
    {"timerfd_settime", "as eventfd2"},
    {"poll", "as eventfd2"},
    {"ppoll", "as poll"},
    {"select", "as poll"},
    {"pselect6", "as poll"},
    {"ioctl", "that a descriptor does not block; what there is to read"},
    {"inotify_init1", "what users change"},
    {"inotify_add_watch", "as inotify_init1"},
    {"inotify_rm_watch", "as inotify_init1"},
    {"socket", "to systemd and the journal; for a port of a job"},
    {"socketpair", "to launchers, workers and the janitor"},
    {"connect", "as socket"},
    {"bind", "a port of a job"},
    {"listen", "as bind"},
    {"accept", "clients; as accept4"},
    {"accept4", "as accept"},
    {"sendto", "packets to helpers; answers"},
    {"sendmsg", "as sendto, with descriptors"},
    {"sendmmsg", "as sendmsg"},
    {"recvfrom", "as sendto"},
    {"recvmsg", "as sendmsg"},
    {"recvmmsg", "as sendmsg"},
    {"shutdown", "the end of a connection"},
    {"getsockopt", "who the other end is"},
    {"setsockopt", "how much the kernel keeps for it"},
    {"getsockname", "where it listens"},
    {"getpeername", "who the other end is"},
    {"landlock_create_ruleset", "rulesets for workers"},
    {"landlock_add_rule", "as landlock_create_ruleset"},
    {"seccomp", "libseccomp asks what there is"},
    {"prctl", "names of threads; whose orphans are adopted"},
    {"kill", "the end of a command"},
    {"tgkill", "a failed assertion ends this process"},
    {"pidfd_open", "a process that can be waited for"},
    {"pidfd_send_signal", "as kill"},
    {"wait4", "those that have ended"},
    {"waitid", "as wait4"},
    {"clone", "threads"},
    {"set_robust_list", "as clone"},
    {"rseq", "as clone"},
    {"membarrier", "as clone"},
    {"sched_yield", "as clone"},
    {"sched_getaffinity", "how many processors there are"},
    {"sched_getscheduler", "as clone"},
    {"sched_getparam", "as clone"},
    {"sched_setscheduler", "as clone: that of a new thread"},
    {"getrlimit", "how much it may have open"},
    {"setrlimit", "as getrlimit"},
    {"prlimit64", "as getrlimit"},
    {"getrusage", "what it has used"},
    {"sysinfo", "how much memory there is"},
    {"uname", "which kernel this is"},
    {"nanosleep", "as clock_nanosleep"},
    {"clock_nanosleep", "until something has ended"},
    {"getppid", "as getpid"},
    {"getpgrp", "as getpid"},
    {"getpgid", "as getpid"},
    {"getsid", "as getpid"},
    {"getuid", "as getpid"},
    {"getgid", "as getpid"},
    {"getegid", "as getpid"},
    {"getgroups", "as getpid"},
    {"sigaltstack", "as rt_sigaction"},
    // clang-format on
};

std::vector<SyscallRule> ServerRules(Network network) {
  constexpr std::uint32_t kThread = CLONE_THREAD;
  std::uint32_t families = Set({AF_UNIX});
  if (network == Network::kFull) families |= Set({AF_INET, AF_NETLINK});
  std::vector<SyscallRule> rules = {
      {"clone", EPERM, "a process", Masked(0, kThread, 0)},
      {"socket", EPERM, "family not needed", NotIn(0, kAllBits, families)},
      // The session's bus, and whatever else starts programs for its user, speak streams.
      {"socket", EPERM, "datagrams to systemd and the journal alone", Equal(0, AF_UNIX),
       NotIn(1, kTypeMask, Set({kDatagram}))},
      {"socketpair", EPERM, "no datagrams", NotIn(1, kTypeMask, Set({kStream, kSequenced}))},
      {"prlimit64", EPERM, "limits of others", AnyBit(0), NotNull(2)},
      {"sched_setscheduler", EPERM, "of another process", AnyBit(0)},
  };
  if (network != Network::kFull) {
    rules.push_back({"bind", EPERM, "no port of a job is served"});
    rules.push_back({"listen", EPERM, "as bind"});
  }
  AddLists(rules);
  return rules;
}

}  // namespace

std::vector<SyscallRule> RulesOfListed(SeccompProfile profile, Network network) {
  return profile == SeccompProfile::kServer ? ServerRules(network) : std::vector<SyscallRule>();
}

namespace {

std::vector<AllowedSyscall> WithLibrary(std::span<const AllowedSyscall> own) {
  std::vector<AllowedSyscall> calls(own.begin(), own.end());
  calls.insert(calls.end(), std::begin(kLibrarySyscalls), std::end(kLibrarySyscalls));
  return calls;
}

}  // namespace

std::vector<AllowedSyscall> OnlySyscalls(SeccompProfile profile) {
  if (profile == SeccompProfile::kFrontDoor) return WithLibrary(kFrontDoorSyscalls);
  if (profile == SeccompProfile::kJanitor) return WithLibrary(kJanitorSyscalls);
  if (profile == SeccompProfile::kServer) return WithLibrary(kServerSyscalls);
  if (profile != SeccompProfile::kFiles && profile != SeccompProfile::kFileChanges) return {};
  std::vector<AllowedSyscall> calls(std::begin(kFileSyscalls), std::end(kFileSyscalls));
  if (profile == SeccompProfile::kFiles) return calls;
  calls.insert(calls.end(), std::begin(kFileChangeSyscalls), std::end(kFileChangeSyscalls));
  return calls;
}

std::vector<SyscallRule> RefusedSyscalls(SeccompProfile profile, Network network, int landlock_abi,
                                         Sight sight) {
  std::vector<SyscallRule> rules;
  // First: of several rules for one call the first says whether arguments matter.
  if (profile == SeccompProfile::kInspect || profile == SeccompProfile::kSearch) {
    rules.assign(std::begin(kRefusedToInspection), std::end(kRefusedToInspection));
  }
  rules.insert(rules.end(), std::begin(kRefused), std::end(kRefused));
  rules.insert(rules.end(), std::begin(kRefusedArguments), std::end(kRefusedArguments));
  rules.insert(rules.end(), std::begin(kRefusedFlags), std::end(kRefusedFlags));
  AddLists(rules);
  if (sight == Sight::kHost) {
    rules.insert(rules.end(), std::begin(kRefusedAmongOthers), std::end(kRefusedAmongOthers));
  }
  AddSocketRules(network, AllowsUnixSockets(network, landlock_abi, sight), rules);
  std::erase_if(rules, [&](const SyscallRule& rule) {
    const bool left_to_us = profile == SeccompProfile::kSearch && rule.below_abi == kTruncateAbi;
    return landlock_abi >= rule.below_abi && !left_to_us;
  });
  return rules;
}

}  // namespace pa::sandbox
