#include "sandbox/argument_lists.h"

#include <asm/termbits.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/prctl.h>
#include <linux/random.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace pa::sandbox {
namespace {

#define PA_LISTED(name, reason) {static_cast<std::uint32_t>(name), #name, reason}

// Newer than the headers of Debian 12.
constexpr std::uint32_t kDupFdQuery = 1027;

constexpr auto Ascending(auto list) {
  std::ranges::sort(list, {}, &ListedArgument::number);
  return list;
}

constexpr auto kIoctl = Ascending(std::to_array<ListedArgument>({
    // clang-format off
    // A terminal that the command has made itself; the user's terminal is out of its reach. Never
    // here: TIOCSTI and TIOCLINUX type, TIOCSETD loads a line discipline into the kernel, TIOCCONS
    // takes the console's output.
    PA_LISTED(TCGETS, "isatty(3), tcgetattr(3)"),
    PA_LISTED(TCSETS, "tcsetattr(3)"),
    PA_LISTED(TCSETSW, "tcsetattr(3)"),
    PA_LISTED(TCSETSF, "tcsetattr(3)"),
    PA_LISTED(TCGETS2, "as TCGETS, in newer C libraries"),
    PA_LISTED(TCSETS2, "as TCSETS"),
    PA_LISTED(TCSETSW2, "as TCSETS"),
    PA_LISTED(TCSETSF2, "as TCSETS"),
    PA_LISTED(TCGETA, "as TCGETS, in old programs"),
    PA_LISTED(TCSETA, "as TCSETS"),
    PA_LISTED(TCSETAW, "as TCSETS"),
    PA_LISTED(TCSETAF, "as TCSETS"),
    PA_LISTED(TCSBRK, "tcdrain(3), tcsendbreak(3)"),
    PA_LISTED(TCSBRKP, "tcsendbreak(3)"),
    PA_LISTED(TCXONC, "tcflow(3)"),
    PA_LISTED(TCFLSH, "tcflush(3)"),
    PA_LISTED(TIOCEXCL, "pty libraries: nobody else opens it"),
    PA_LISTED(TIOCNXCL, "the end of TIOCEXCL"),
    PA_LISTED(TIOCSCTTY,
              "login_tty(3): script, expect, node-pty; another session's takes a capability"),
    PA_LISTED(TIOCNOTTY, "daemon(3), setsid"),
    PA_LISTED(TIOCGPGRP, "tcgetpgrp(3): job control"),
    PA_LISTED(TIOCSPGRP, "tcsetpgrp(3): job control"),
    PA_LISTED(TIOCGSID, "tcgetsid(3)"),
    PA_LISTED(TIOCGWINSZ, "how wide to print"),
    PA_LISTED(TIOCSWINSZ, "of a terminal for a child"),
    PA_LISTED(TIOCOUTQ, "what is not yet sent; SIOCOUTQ of sockets"),
    PA_LISTED(TIOCPKT, "expect, script: flow control"),
    PA_LISTED(TIOCGPTN, "ptsname(3)"),
    PA_LISTED(TIOCSPTLCK, "unlockpt(3)"),
    PA_LISTED(TIOCGPTLCK, "whether it is locked"),
    PA_LISTED(TIOCGPTPEER, "the other end without its name"),
    // Any descriptor.
    PA_LISTED(FIONREAD, "how much can be read: make, Java, Python"),
    PA_LISTED(FIONBIO, "O_NONBLOCK: libuv, Rust, Python"),
    PA_LISTED(FIOCLEX, "FD_CLOEXEC: libuv, Rust, Python"),
    PA_LISTED(FIONCLEX, "as FIOCLEX"),
    PA_LISTED(FIOASYNC, "O_ASYNC, as fcntl sets it: nginx"),
    // Files. Into a file that was opened for writing, from one that was opened for reading. Not
    // FIDEDUPERANGE, which changes extents of a file that the user owns and the command may only
    // read.
    PA_LISTED(FICLONE, "cp --reflink, ccache, pnpm, git-lfs"),
    PA_LISTED(FICLONERANGE, "as FICLONE"),
    PA_LISTED(FS_IOC_FIEMAP, "where the holes are: older cp, mke2fs, filefrag"),
    PA_LISTED(FIGETBSZ, "block size: filefrag"),
    PA_LISTED(FIOQSIZE, "size of a file or directory"),
    PA_LISTED(FS_IOC_GETFLAGS, "lsattr, tar, libarchive, rsync; setting them is not here"),
    PA_LISTED(FS_IOC_GETVERSION, "lsattr -v, NFS servers"),
    PA_LISTED(FS_IOC_FSGETXATTR, "xfs_io, mkfs: extent size; setting it is not here"),
    // Sockets: what the network looks like. Changing any of it takes CAP_NET_ADMIN and is not here.
    PA_LISTED(SIOCATMARK, "sockatmark(3)"),
    PA_LISTED(SIOCGIFNAME, "if_indextoname(3)"),
    PA_LISTED(SIOCGIFCONF, "the list of interfaces: Java, Python, older programs"),
    PA_LISTED(SIOCGIFFLAGS, "Java, Python, Erlang"),
    PA_LISTED(SIOCGIFADDR, "as SIOCGIFCONF"),
    PA_LISTED(SIOCGIFDSTADDR, "as SIOCGIFCONF"),
    PA_LISTED(SIOCGIFBRDADDR, "Java"),
    PA_LISTED(SIOCGIFNETMASK, "Java, Erlang"),
    PA_LISTED(SIOCGIFMETRIC, "ifconfig"),
    PA_LISTED(SIOCGIFMTU, "Java, psutil"),
    PA_LISTED(SIOCGIFHWADDR, "uuid libraries, Java"),
    PA_LISTED(SIOCGIFINDEX, "if_nametoindex(3)"),
    PA_LISTED(SIOCGIFTXQLEN, "ifconfig"),
    PA_LISTED(SIOCGIFMAP, "ifconfig"),
    // Devices that everybody has.
    PA_LISTED(RNDGETENTCNT, "whether there are random numbers: GnuPG, haveged"),
    // clang-format on
}));

// Never here: F_SETLEASE and F_SETDELEG hold up everybody who opens a file that the command may
// only read (45 seconds each time), F_NOTIFY watches directories.
constexpr auto kFcntl = Ascending(std::to_array<ListedArgument>({
    // clang-format off
    PA_LISTED(F_DUPFD, "dup(2)"),
    PA_LISTED(F_DUPFD_CLOEXEC, "dup(2)"),
    PA_LISTED(kDupFdQuery, "whether two are the same: systemd's libraries"),
    PA_LISTED(F_GETFD, "FD_CLOEXEC"),
    PA_LISTED(F_SETFD, "FD_CLOEXEC"),
    PA_LISTED(F_GETFL, "O_NONBLOCK, O_APPEND"),
    PA_LISTED(F_SETFL, "O_NONBLOCK, O_APPEND"),
    PA_LISTED(F_GETLK, "locks that ask: databases, package managers"),
    PA_LISTED(F_SETLK, "as F_GETLK; nobody who does not ask waits for one"),
    PA_LISTED(F_SETLKW, "as F_SETLK"),
    PA_LISTED(F_OFD_GETLK, "as F_GETLK"),
    PA_LISTED(F_OFD_SETLK, "as F_SETLK"),
    PA_LISTED(F_OFD_SETLKW, "as F_SETLK"),
    // Whom it may signal is Landlock's to say, as with kill(2).
    PA_LISTED(F_SETOWN, "SIGIO and SIGURG: nginx, socket tests"),
    PA_LISTED(F_GETOWN, "as F_SETOWN"),
    PA_LISTED(F_SETSIG, "as F_SETOWN"),
    PA_LISTED(F_GETSIG, "as F_SETOWN"),
    PA_LISTED(F_SETOWN_EX, "as F_SETOWN"),
    PA_LISTED(F_GETOWN_EX, "as F_SETOWN; glibc's F_GETOWN"),
    PA_LISTED(F_SETPIPE_SZ, "wide pipes: GNU coreutils, node; the user's own budget bounds them"),
    PA_LISTED(F_GETPIPE_SZ, "as F_SETPIPE_SZ"),
    PA_LISTED(F_ADD_SEALS, "memfd_create(2)"),
    PA_LISTED(F_GET_SEALS, "memfd_create(2)"),
    PA_LISTED(F_GET_RW_HINT, "RocksDB: how long data lives"),
    PA_LISTED(F_SET_RW_HINT, "as F_GET_RW_HINT"),
    PA_LISTED(F_GET_FILE_RW_HINT, "as F_GET_RW_HINT"),
    PA_LISTED(F_SET_FILE_RW_HINT, "as F_GET_RW_HINT"),
    // clang-format on
}));

// Of the caller alone. Never here: PR_SET_MM says who one is in /proc, PR_SCHED_CORE and
// PR_SET_MEMORY_MERGE share processors and pages with others, PR_TASK_PERF_EVENTS_* and PR_MCE_KILL
// concern what the machine measures.
constexpr auto kPrctl = Ascending(std::to_array<ListedArgument>({
    // clang-format off
    PA_LISTED(PR_SET_PDEATHSIG, "die with the parent: make, test runners"),
    PA_LISTED(PR_GET_PDEATHSIG, "as PR_SET_PDEATHSIG"),
    PA_LISTED(PR_GET_DUMPABLE, "ssh-agent, browsers"),
    PA_LISTED(PR_SET_DUMPABLE, "as PR_GET_DUMPABLE"),
    PA_LISTED(PR_GET_KEEPCAPS, "libcap"),
    PA_LISTED(PR_SET_KEEPCAPS, "libcap"),
    PA_LISTED(PR_SET_NAME, "the thread's name: everybody"),
    PA_LISTED(PR_GET_NAME, "the thread's name"),
    PA_LISTED(PR_GET_SECCOMP, "a sandbox within ours"),
    PA_LISTED(PR_SET_SECCOMP, "a sandbox within ours"),
    PA_LISTED(PR_CAPBSET_READ, "libcap, sandboxes"),
    PA_LISTED(PR_CAPBSET_DROP, "libcap, sandboxes"),
    PA_LISTED(PR_GET_TSC, "rr"),
    PA_LISTED(PR_SET_TSC, "rr"),
    PA_LISTED(PR_GET_SECUREBITS, "libcap; setting them takes a capability"),
    PA_LISTED(PR_SET_TIMERSLACK, "timers"),
    PA_LISTED(PR_GET_TIMERSLACK, "timers"),
    PA_LISTED(PR_SET_CHILD_SUBREAPER, "tini, test runners: orphans stay within the tree"),
    PA_LISTED(PR_GET_CHILD_SUBREAPER, "as PR_SET_CHILD_SUBREAPER"),
    PA_LISTED(PR_SET_NO_NEW_PRIVS, "a sandbox within ours"),
    PA_LISTED(PR_GET_NO_NEW_PRIVS, "a sandbox within ours"),
    PA_LISTED(PR_GET_TID_ADDRESS, "checkpoints"),
    PA_LISTED(PR_SET_THP_DISABLE, "large pages of its own: Redis, jemalloc"),
    PA_LISTED(PR_GET_THP_DISABLE, "as PR_SET_THP_DISABLE"),
    PA_LISTED(PR_CAP_AMBIENT, "libcap, setpriv: gains nothing that is not permitted"),
    PA_LISTED(PR_SVE_SET_VL, "vectors on arm64"),
    PA_LISTED(PR_SVE_GET_VL, "vectors on arm64"),
    PA_LISTED(PR_GET_SPECULATION_CTRL, "browsers, JavaScript engines"),
    PA_LISTED(PR_SET_SPECULATION_CTRL, "as PR_GET_SPECULATION_CTRL"),
    PA_LISTED(PR_PAC_RESET_KEYS, "pointer keys on arm64"),
    PA_LISTED(PR_SET_TAGGED_ADDR_CTRL, "sanitizers on arm64"),
    PA_LISTED(PR_GET_TAGGED_ADDR_CTRL, "as PR_SET_TAGGED_ADDR_CTRL"),
    PA_LISTED(PR_SET_SYSCALL_USER_DISPATCH, "Wine"),
    PA_LISTED(PR_PAC_SET_ENABLED_KEYS, "as PR_PAC_RESET_KEYS"),
    PA_LISTED(PR_PAC_GET_ENABLED_KEYS, "as PR_PAC_RESET_KEYS"),
    PA_LISTED(PR_SET_VMA, "names of memory: allocators, Go, Java"),
    PA_LISTED(PR_SET_PTRACER, "crash handlers: who may trace, on top of Landlock"),
    {63, "PR_SME_SET_VL", "vectors on arm64"},
    {64, "PR_SME_GET_VL", "vectors on arm64"},
    {65, "PR_SET_MDWE", "no memory that is written and executed"},
    {66, "PR_GET_MDWE", "as PR_SET_MDWE"},
    {0x41555856, "PR_GET_AUXV", "getauxval without /proc: Go, Rust"},
    // clang-format on
}));

template <std::size_t kSize>
constexpr std::array<std::uint32_t, kSize> NumbersOf(
    const std::array<ListedArgument, kSize>& list) {
  std::array<std::uint32_t, kSize> numbers = {};
  std::ranges::transform(list, numbers.begin(), &ListedArgument::number);
  return numbers;
}

constexpr auto kIoctlNumbers = NumbersOf(kIoctl);
constexpr auto kFcntlNumbers = NumbersOf(kFcntl);
constexpr auto kPrctlNumbers = NumbersOf(kPrctl);

}  // namespace

std::span<const ListedArgument> IoctlRequests() { return kIoctl; }
std::span<const ListedArgument> FcntlCommands() { return kFcntl; }
std::span<const ListedArgument> PrctlOptions() { return kPrctl; }
std::span<const std::uint32_t> IoctlNumbers() { return kIoctlNumbers; }
std::span<const std::uint32_t> FcntlNumbers() { return kFcntlNumbers; }
std::span<const std::uint32_t> PrctlNumbers() { return kPrctlNumbers; }

}  // namespace pa::sandbox
