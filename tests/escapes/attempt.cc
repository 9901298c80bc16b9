// attempt: does one raw thing that a recipe might try, and says whether the kernel let it.
//
//   attempt VERB ARGUMENT...      exit status 0 and `did VERB` on stdout: it worked
//
// Statically linked and copied into the sample project, so that nothing but the attempt itself can
// fail. To add a verb: a function and a line in kVerbs.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

namespace {

using Arguments = std::vector<std::string>;

// The only judgement that is made here: did the system call succeed?
bool Did(long result) { return result >= 0; }

long Number(const std::string& text) {
  long value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// --- files

bool Read(const Arguments& a) {
  int fd = open(a[0].c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char bytes[4096];
  ssize_t got = read(fd, bytes, sizeof bytes);
  return got >= 0 && std::fwrite(bytes, 1, static_cast<std::size_t>(got), stdout) ==
                         static_cast<std::size_t>(got);
}

bool WriteWith(const std::string& path, int flags) {
  int fd = open(path.c_str(), flags | O_CLOEXEC, 0644);
  return fd >= 0 && Did(write(fd, "escaped\n", 8));
}

bool Create(const Arguments& a) { return WriteWith(a[0], O_WRONLY | O_CREAT); }
bool Append(const Arguments& a) { return WriteWith(a[0], O_WRONLY | O_APPEND); }
bool Truncate(const Arguments& a) { return Did(truncate(a[0].c_str(), 0)); }
bool OpenTruncating(const Arguments& a) {
  return Did(open(a[0].c_str(), O_RDONLY | O_TRUNC | O_CLOEXEC));
}
bool Rename(const Arguments& a) { return Did(rename(a[0].c_str(), a[1].c_str())); }
bool Exchange(const Arguments& a) {
  return Did(renameat2(AT_FDCWD, a[0].c_str(), AT_FDCWD, a[1].c_str(), RENAME_EXCHANGE));
}
bool LinkAndWrite(const Arguments& a) {
  return Did(link(a[0].c_str(), a[1].c_str())) && WriteWith(a[1], O_WRONLY | O_APPEND);
}
bool Unlink(const Arguments& a) { return Did(unlink(a[0].c_str())); }
bool MakeDirectory(const Arguments& a) { return Did(mkdir(a[0].c_str(), 0755)); }
bool RemoveDirectory(const Arguments& a) { return Did(rmdir(a[0].c_str())); }
bool MakeFifo(const Arguments& a) { return Did(mkfifo(a[0].c_str(), 0644)); }
bool MakeSymlink(const Arguments& a) { return Did(symlink("/anywhere", a[0].c_str())); }
bool SymlinkAndWrite(const Arguments& a) {
  unlink("through");
  return Did(symlink(a[0].c_str(), "through")) && WriteWith("through", O_WRONLY | O_APPEND);
}
bool ListDirectory(const Arguments& a) {
  int fd = open(a[0].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char bytes[4096];
  long got = fd < 0 ? -1 : syscall(SYS_getdents64, fd, bytes, sizeof bytes);
  if (got <= 0) return false;
  std::fwrite(bytes, 1, static_cast<std::size_t>(got), stdout);
  return true;
}

// Swaps `race` between a directory of ours and a link to the one given, while files are created in
// it.
bool SymlinkRace(const Arguments& a) {
  mkdir("race-real", 0755);
  if (symlink(a[0].c_str(), "race-link") != 0 && errno != EEXIST) return false;
  rename("race-real", "race");
  pid_t swapper = fork();
  if (swapper == 0) {
    for (int i = 0; i < 20000; ++i) {
      renameat2(AT_FDCWD, "race", AT_FDCWD, "race-link", RENAME_EXCHANGE);
    }
    _exit(0);
  }
  std::string target = a[0] + "/raced";
  for (int i = 0; i < 20000 && access(target.c_str(), F_OK) != 0; ++i) {
    int fd = open("race/raced", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd >= 0) close(fd);
  }
  kill(swapper, SIGKILL);
  waitpid(swapper, nullptr, 0);
  return true;
}

bool OpenByHandle(const Arguments& a) {
  alignas(file_handle) unsigned char buffer[sizeof(file_handle) + 128] = {};
  auto* handle = reinterpret_cast<file_handle*>(buffer);
  handle->handle_bytes = 128;
  int mount_id = 0;
  if (name_to_handle_at(AT_FDCWD, a[0].c_str(), handle, &mount_id, 0) != 0) return false;
  int mount_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int fd = open_by_handle_at(mount_fd, handle, O_RDONLY);
  char bytes[256];
  ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
  if (got < 0) return false;
  std::fwrite(bytes, 1, static_cast<std::size_t>(got), stdout);
  return true;
}

bool WriteToDescriptor(const Arguments& a) {
  return Did(write(static_cast<int>(Number(a[0])), "escaped\n", 8));
}

// --- metadata

bool ChangeMode(const Arguments& a) {
  mode_t mode = 0;
  for (char digit : a[1]) mode = mode * 8 + static_cast<mode_t>(digit - '0');
  return Did(chmod(a[0].c_str(), mode));
}
bool ChangeTimes(const Arguments& a) {
  timespec epoch[2] = {{1, 0}, {1, 0}};
  return Did(utimensat(AT_FDCWD, a[0].c_str(), epoch, 0));
}
bool ChangeOwner(const Arguments& a) { return Did(chown(a[0].c_str(), 12345, 12345)); }
bool SetAttribute(const Arguments& a) {
  return Did(setxattr(a[0].c_str(), "user.escaped", "1", 1, 0));
}

// --- network

bool SendOn(int fd, const sockaddr* address, socklen_t size) {
  return fd >= 0 && Did(connect(fd, address, size)) && Did(send(fd, "escaped\n", 8, MSG_NOSIGNAL));
}
sockaddr_in Loopback(const std::string& port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(Number(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}
bool Inet(int type, int protocol, const std::string& port) {
  sockaddr_in address = Loopback(port);
  return SendOn(socket(AF_INET, type | SOCK_CLOEXEC, protocol),
                reinterpret_cast<sockaddr*>(&address), sizeof address);
}
bool Tcp(const Arguments& a) { return Inet(SOCK_STREAM, 0, a[0]); }
bool Udp(const Arguments& a) { return Inet(SOCK_DGRAM, 0, a[0]); }
bool MultipathTcp(const Arguments& a) { return Inet(SOCK_STREAM, IPPROTO_MPTCP, a[0]); }
bool Tcp6(const Arguments& a) {
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(Number(a[0])));
  address.sin6_addr = in6addr_loopback;
  return SendOn(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0),
                reinterpret_cast<sockaddr*>(&address), sizeof address);
}
// Sends with the SYN: connects without connect().
bool TcpFastOpen(const Arguments& a) {
  sockaddr_in address = Loopback(a[0]);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return fd >= 0 && Did(sendto(fd, "escaped\n", 8, MSG_FASTOPEN | MSG_NOSIGNAL,
                               reinterpret_cast<sockaddr*>(&address), sizeof address));
}
// Listens until someone has connected; says on which port in the file given.
bool Listen(const Arguments& a) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback("0");
  socklen_t size = sizeof address;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd, 1) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return false;
  }
  std::FILE* file = std::fopen(a[0].c_str(), "w");
  if (file == nullptr) return false;
  std::fprintf(file, "%d\n", ntohs(address.sin_port));
  std::fclose(file);
  pollfd ready = {fd, POLLIN, 0};
  return poll(&ready, 1, 10000) == 1 && Did(accept(fd, nullptr, nullptr));
}
bool RawSocket(const Arguments&) { return Did(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)); }
bool PacketSocket(const Arguments&) { return Did(socket(AF_PACKET, SOCK_RAW, 0)); }
bool Netlink(const Arguments& a) {
  return Did(socket(AF_NETLINK, SOCK_RAW, static_cast<int>(Number(a[0]))));
}
bool VirtualMachineSocket(const Arguments&) { return Did(socket(AF_VSOCK, SOCK_STREAM, 0)); }
bool CryptoSocket(const Arguments&) { return Did(socket(AF_ALG, SOCK_SEQPACKET, 0)); }

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}
bool UnixPath(const Arguments& a) {
  sockaddr_un address = UnixAddress(a[0]);
  return SendOn(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
                reinterpret_cast<sockaddr*>(&address), sizeof address);
}
// Speaks to a server of ours, and shows whether it answers as to a client.
bool OwnSocket(const Arguments& a) {
  const sockaddr_un address = UnixAddress(a[0]);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  constexpr std::string_view kAsk =
      "GET /mcp HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: mcp-stdio\r\n\r\n";
  char answer[512] = "";
  if (send(fd, kAsk.data(), kAsk.size(), MSG_NOSIGNAL) < 0) return false;
  const ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
  return got > 0 && std::string_view(answer).find(" 101 ") != std::string_view::npos &&
         printf("served\n") > 0;
}
bool UnixAbstract(const Arguments& a) {
  sockaddr_un address = UnixAddress("@" + a[0]);
  address.sun_path[0] = '\0';
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + a[0].size());
  return SendOn(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
                reinterpret_cast<sockaddr*>(&address), size);
}
// No socket() at all: one end of a pair sends to any path.
bool DatagramPair(const Arguments& a) {
  int ends[2];
  sockaddr_un address = UnixAddress(a[0]);
  return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0 &&
         Did(sendto(ends[0], "escaped\n", 8, 0, reinterpret_cast<sockaddr*>(&address),
                    sizeof address));
}
bool StreamPair(const Arguments&) {
  int ends[2];
  return Did(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
}

// --- other processes

pid_t Process(const std::string& text) { return static_cast<pid_t>(Number(text)); }
bool Kill(const Arguments& a) { return Did(kill(Process(a[0]), static_cast<int>(Number(a[1])))); }
bool Queue(const Arguments& a) {
  return Did(sigqueue(Process(a[0]), static_cast<int>(Number(a[1])), {}));
}
bool ThreadKill(const Arguments& a) {
  return Did(syscall(SYS_tgkill, Process(a[0]), Process(a[0]), Number(a[1])));
}
bool PidfdKill(const Arguments& a) {
  int fd = static_cast<int>(syscall(SYS_pidfd_open, Process(a[0]), 0));
  return fd >= 0 && Did(syscall(SYS_pidfd_send_signal, fd, Number(a[1]), nullptr, 0));
}
// The kernel sends the signal for us, when a pipe of ours becomes readable.
bool OwnerSignal(const Arguments& a) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  return Did(fcntl(ends[0], F_SETSIG, Number(a[1]))) &&
         Did(fcntl(ends[0], F_SETOWN, Process(a[0]))) && Did(fcntl(ends[0], F_SETFL, O_ASYNC)) &&
         Did(write(ends[1], "x", 1));
}
bool ReadMemory(const Arguments& a) {
  char bytes[64] = {};
  iovec local = {bytes, sizeof bytes};
  iovec remote = {
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(std::stoull(a[1], nullptr, 16))),
      sizeof bytes};
  if (!Did(process_vm_readv(Process(a[0]), &local, 1, &remote, 1, 0))) return false;
  std::puts(bytes);
  return true;
}
bool ReadMemoryFile(const Arguments& a) {
  int fd = open(("/proc/" + a[0] + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  char bytes[64] = {};
  if (fd < 0 ||
      pread(fd, bytes, sizeof bytes - 1, static_cast<off_t>(std::stoull(a[1], nullptr, 16))) <= 0) {
    return false;
  }
  std::puts(bytes);
  return true;
}
bool Trace(const Arguments& a) {
  pid_t pid = Process(a[0]);
  if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) != 0) return false;
  if (ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) != 0) return false;
  if (waitpid(pid, nullptr, __WALL) != pid) return false;
  bool did =
      ptrace(PTRACE_POKEDATA, pid, std::stoull(a[1], nullptr, 16), 0x2121212121212121UL) == 0;
  ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
  return did;
}
bool TraceChild(const Arguments&) {
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  bool did = ptrace(PTRACE_SEIZE, child, nullptr, nullptr) == 0;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return did;
}
bool LimitOther(const Arguments& a) {
  rlimit limit = {7, 7};
  return Did(prlimit(Process(a[0]), RLIMIT_CORE, &limit, nullptr));
}
bool Renice(const Arguments& a) {
  return Did(setpriority(PRIO_PROCESS, static_cast<id_t>(Number(a[0])), 19));
}
bool Pin(const Arguments& a) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  return Did(sched_setaffinity(Process(a[0]), sizeof cpus, &cpus));
}
bool Idle(const Arguments& a) {
  const sched_param none = {};
  return Did(sched_setscheduler(Process(a[0]), SCHED_IDLE, &none));
}
// IOPRIO_WHO_PROCESS, the class of what nobody waits for.
bool IdleInput(const Arguments& a) {
  return Did(syscall(SYS_ioprio_set, 1, Process(a[0]), 3 << 13));
}
bool SharedMemory(const Arguments& a) {
  int id = shmget(static_cast<key_t>(Number(a[0])), 4096, 0600);
  void* memory = id < 0 ? nullptr : shmat(id, nullptr, 0);
  if (memory == nullptr || memory == reinterpret_cast<void*>(-1)) return false;
  std::memcpy(memory, "escaped", 8);
  return true;
}

bool MessageQueue(const Arguments& a) {
  struct {
    long type;
    char text[8];
  } message = {1, "escaped"};
  int id = msgget(static_cast<key_t>(Number(a[0])), 0600);
  return id >= 0 && Did(msgsnd(id, &message, sizeof message.text, IPC_NOWAIT));
}

// --- survivors: each leaves a process that stays for a minute

[[noreturn]] void Stay() {
  for (int second = 0; second < 60; ++second) sleep(1);
  _exit(0);
}
void CloseStandard() {
  for (int fd : {0, 1, 2}) close(fd);
}
// A child in a session of its own: true there. The parent waits for it, because the end of the old
// session's leader may still hang up on who has not left.
bool InNewSession() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) _exit(1);
  if (fork() == 0) {
    setsid();
    // Goes from parent to child and stays until the last is gone: World::Survived looks at it, as
    // soon as the parent has ended.
    flock(open("attempt", O_RDONLY), LOCK_EX);
    close(ends[0]);
    close(ends[1]);
    return true;
  }
  close(ends[1]);
  char byte = 0;
  while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {
  }
  return false;
}
bool Setsid(const Arguments&) {
  if (!InNewSession()) return true;
  CloseStandard();
  Stay();
}
bool DoubleFork(const Arguments&) {
  if (!InNewSession()) return true;
  if (fork() != 0) _exit(0);
  CloseStandard();
  Stay();
}
bool IgnoreSignals(const Arguments&) {
  if (!InNewSession()) return true;
  CloseStandard();
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (int number = 1; number < 32; ++number) sigaction(number, &ignore, nullptr);
  Stay();
}
bool HoldOutput(const Arguments&) {
  if (!InNewSession()) return true;
  Stay();
}
bool Stopped(const Arguments&) {
  if (!InNewSession()) return true;
  CloseStandard();
  raise(SIGSTOP);
  Stay();
}
// Each process forks its successor and ends, so that whoever looks for it finds it gone.
bool Relay(const Arguments&) {
  if (!InNewSession()) return true;
  CloseStandard();
  for (int generation = 0; generation < 20000; ++generation) {
    if (fork() != 0) _exit(0);
    usleep(1000);
  }
  _exit(0);
}

// --- the kernel's surface

bool MountTmpfs(const Arguments& a) {
  return Did(mount("none", a[0].c_str(), "tmpfs", 0, nullptr));
}
bool NewMountApi(const Arguments&) { return Did(syscall(SYS_fsopen, "tmpfs", 0)); }
bool OpenTree(const Arguments& a) {
  return Did(syscall(SYS_open_tree, AT_FDCWD, a[0].c_str(), 1 /* CLONE */));
}
bool UserNamespace(const Arguments&) { return Did(unshare(CLONE_NEWUSER)); }
bool MountNamespace(const Arguments&) { return Did(unshare(CLONE_NEWNS)); }
bool CloneNamespace(const Arguments&) {
  long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) _exit(0);
  return Did(pid) && Did(waitpid(static_cast<pid_t>(pid), nullptr, 0));
}
bool Clone3(const Arguments&) {
  struct {
    std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } order = {};
  order.flags = CLONE_NEWUSER;
  order.exit_signal = SIGCHLD;
  long pid = syscall(SYS_clone3, &order, sizeof order);
  if (pid == 0) _exit(0);
  return Did(pid) && Did(waitpid(static_cast<pid_t>(pid), nullptr, 0));
}
bool JoinNamespace(const Arguments& a) {
  int fd = open(("/proc/" + a[0] + "/ns/uts").c_str(), O_RDONLY | O_CLOEXEC);
  return fd >= 0 && Did(setns(fd, 0));
}
bool Chroot(const Arguments& a) { return Did(chroot(a[0].c_str())); }
bool Bpf(const Arguments&) {
  bpf_attr order = {};
  order.map_type = BPF_MAP_TYPE_ARRAY;
  order.key_size = 4;
  order.value_size = 8;
  order.max_entries = 1;
  return Did(syscall(SYS_bpf, BPF_MAP_CREATE, &order, sizeof order));
}
bool Keyring(const Arguments&) {
  return Did(syscall(SYS_add_key, "user", "pa-escape", "x", 1, -3 /* KEY_SPEC_SESSION_KEYRING */));
}
bool IoUring(const Arguments&) {
  io_uring_params parameters = {};
  return Did(syscall(SYS_io_uring_setup, 1, &parameters));
}
bool IoSetup(const Arguments&) {
  unsigned long context = 0;
  return Did(syscall(SYS_io_setup, 1, &context));
}
// Whoever opens the file for writing waits, for up to 45 seconds (/proc/sys/fs/lease-break-time).
bool Lease(const Arguments& a) {
  int fd = open(a[0].c_str(), O_RDONLY | O_CLOEXEC);
  return fd >= 0 && Did(fcntl(fd, F_SETLEASE, F_RDLCK));
}
bool Lock(const Arguments& a) {
  int fd = open(a[0].c_str(), O_RDWR | O_CLOEXEC);
  struct flock all = {};
  all.l_type = F_WRLCK;
  return fd >= 0 && Did(fcntl(fd, F_SETLK, &all));
}
bool Dnotify(const Arguments& a) {
  int fd = open(a[0].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd >= 0 && Did(fcntl(fd, F_NOTIFY, DN_CREATE));
}
// Of no terminal at all. That the kernel was asked is enough.
bool LineDiscipline(const Arguments&) {
  int discipline = 0;
  return Did(ioctl(-1, TIOCSETD, &discipline)) || errno == EBADF;
}
bool Perf(const Arguments&) {
  perf_event_attr event = {};
  event.type = PERF_TYPE_SOFTWARE;
  event.size = sizeof event;
  event.config = PERF_COUNT_SW_TASK_CLOCK;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  return Did(syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
}
bool UserFault(const Arguments&) { return Did(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY)); }
bool ModifyLdt(const Arguments&) {
  char entries[64];
  return Did(syscall(SYS_modify_ldt, 0, entries, sizeof entries));
}
#if defined(__x86_64__)
// Another architecture's numbers would pass a filter written for this one.
bool Int80(const Arguments&) {
  long result = 0;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(20 /* getpid */)
               : "memory", "r8", "r9", "r10", "r11");
  return result == getpid();
}
bool X32(const Arguments&) { return syscall(0x40000000 + SYS_getpid) == getpid(); }
#endif
bool Inotify(const Arguments& a) {
  int fd = inotify_init1(IN_CLOEXEC);
  return fd >= 0 && Did(inotify_add_watch(fd, a[0].c_str(), IN_MODIFY));
}
// Whatever it asks, an int of ours is large enough for the answer.
bool DeviceIoctl(const Arguments& a) {
  int answer = 0;
  int fd = open(a[0].c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
  return fd >= 0 && Did(ioctl(fd, std::stoul(a[1], nullptr, 16), &answer));
}
// Programs that are set-id or have capabilities of their own would get them.
bool MayGainByExecution(const Arguments&) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0; }
bool SetHostName(const Arguments&) {
  char name[256] = {};
  return Did(gethostname(name, sizeof name - 1)) && Did(sethostname(name, std::strlen(name)));
}
bool StuffTerminal(const Arguments&) {
  int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  return fd >= 0 && Did(ioctl(fd, TIOCSTI, "!"));
}
bool WriteTerminal(const Arguments&) {
  int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  return fd >= 0 && Did(write(fd, "escaped\n", 8));
}

// --- limits: bounded by their argument, whatever the sandbox does

// Who looks does so after a time that grows with the load. What is within the limit, and what
// nobody limits, has the shorter one.
void GiveTimeToNotice(bool exceeds) {
  const bool somebody_looks = std::getenv("PA_NOBODY_LOOKS") == nullptr;
  usleep(exceeds && somebody_looks ? 15'000'000 : 1'500'000);
}

bool Fork(const Arguments& a) {
  std::vector<pid_t> children;
  bool refused = false;
  for (long i = 0; i < Number(a[0]) && !refused; ++i) {
    pid_t child = fork();
    if (child == 0) Stay();
    if (child > 0) children.push_back(child);
    refused = child < 0;
  }
  if (!refused) GiveTimeToNotice(Number(a[0]) > 60);
  for (pid_t child : children) kill(child, SIGKILL);
  for (pid_t child : children) waitpid(child, nullptr, 0);
  return !refused;
}
bool Allocate(const Arguments& a) {
  auto bytes = static_cast<std::size_t>(Number(a[0])) << 20;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  std::memset(memory, 1, bytes);
  GiveTimeToNotice(Number(a[0]) > 64);
  return true;
}
// Memory that belongs to no mapping of anybody.
bool FillMemfd(const Arguments& a) {
  static const char kBlock[1 << 20] = {};
  int fd = memfd_create("escape", MFD_CLOEXEC);
  for (long i = 0; i < Number(a[0]); ++i) {
    if (fd < 0 || write(fd, kBlock, sizeof kBlock) != ssize_t{sizeof kBlock}) return false;
  }
  usleep(1500 * 1000);
  return true;
}
bool OpenMany(const Arguments& a) {
  for (long i = 0; i < Number(a[0]); ++i) {
    if (!Did(open("/dev/null", O_RDONLY | O_CLOEXEC))) return false;
  }
  return true;
}
bool Grow(const Arguments& a) {
  int fd = open(a[0].c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  return fd >= 0 && Did(lseek(fd, (Number(a[1]) << 20) - 1, SEEK_SET)) && Did(write(fd, "", 1));
}
bool Burn(const Arguments& a) {
  timespec used = {};
  while (used.tv_sec < Number(a[0])) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return true;
}

struct Verb {
  std::string_view name;
  std::size_t arguments;
  bool (*act)(const Arguments&);
};
constexpr Verb kVerbs[] = {
    {"read", 1, Read},
    {"create", 1, Create},
    {"append", 1, Append},
    {"truncate", 1, Truncate},
    {"open-truncating", 1, OpenTruncating},
    {"rename", 2, Rename},
    {"exchange", 2, Exchange},
    {"link-and-write", 2, LinkAndWrite},
    {"unlink", 1, Unlink},
    {"mkdir", 1, MakeDirectory},
    {"rmdir", 1, RemoveDirectory},
    {"mkfifo", 1, MakeFifo},
    {"symlink", 1, MakeSymlink},
    {"symlink-and-write", 1, SymlinkAndWrite},
    {"list", 1, ListDirectory},
    {"symlink-race", 1, SymlinkRace},
    {"open-by-handle", 1, OpenByHandle},
    {"write-to-descriptor", 1, WriteToDescriptor},
    {"chmod", 2, ChangeMode},
    {"utimens", 1, ChangeTimes},
    {"chown", 1, ChangeOwner},
    {"setxattr", 1, SetAttribute},
    {"tcp", 1, Tcp},
    {"udp", 1, Udp},
    {"mptcp", 1, MultipathTcp},
    {"tcp6", 1, Tcp6},
    {"tcp-fast-open", 1, TcpFastOpen},
    {"listen", 1, Listen},
    {"raw-socket", 0, RawSocket},
    {"packet-socket", 0, PacketSocket},
    {"netlink", 1, Netlink},
    {"vsock", 0, VirtualMachineSocket},
    {"alg", 0, CryptoSocket},
    {"unix-path", 1, UnixPath},
    {"own-socket", 1, OwnSocket},
    {"unix-abstract", 1, UnixAbstract},
    {"datagram-pair", 1, DatagramPair},
    {"stream-pair", 0, StreamPair},
    {"kill", 2, Kill},
    {"sigqueue", 2, Queue},
    {"tgkill", 2, ThreadKill},
    {"pidfd-kill", 2, PidfdKill},
    {"owner-signal", 2, OwnerSignal},
    {"read-memory", 2, ReadMemory},
    {"read-memory-file", 2, ReadMemoryFile},
    {"trace", 2, Trace},
    {"trace-child", 0, TraceChild},
    {"limit-other", 1, LimitOther},
    {"renice", 1, Renice},
    {"pin", 1, Pin},
    {"idle", 1, Idle},
    {"idle-input", 1, IdleInput},
    {"shared-memory", 1, SharedMemory},
    {"message-queue", 1, MessageQueue},
    {"setsid", 0, Setsid},
    {"double-fork", 0, DoubleFork},
    {"ignore-signals", 0, IgnoreSignals},
    {"hold-output", 0, HoldOutput},
    {"stopped", 0, Stopped},
    {"relay", 0, Relay},
    {"mount", 1, MountTmpfs},
    {"fsopen", 0, NewMountApi},
    {"open-tree", 1, OpenTree},
    {"user-namespace", 0, UserNamespace},
    {"mount-namespace", 0, MountNamespace},
    {"clone-namespace", 0, CloneNamespace},
    {"clone3", 0, Clone3},
    {"setns", 1, JoinNamespace},
    {"chroot", 1, Chroot},
    {"bpf", 0, Bpf},
    {"keyring", 0, Keyring},
    {"io-uring", 0, IoUring},
    {"io-setup", 0, IoSetup},
    {"lease", 1, Lease},
    {"lock", 1, Lock},
    {"dnotify", 1, Dnotify},
    {"line-discipline", 0, LineDiscipline},
    {"perf", 0, Perf},
    {"userfaultfd", 0, UserFault},
    {"modify-ldt", 0, ModifyLdt},
#if defined(__x86_64__)
    {"int80", 0, Int80},
    {"x32", 0, X32},
#endif
    {"inotify", 1, Inotify},
    {"ioctl", 2, DeviceIoctl},
    {"may-gain-by-execution", 0, MayGainByExecution},
    {"set-host-name", 0, SetHostName},
    {"stuff-terminal", 0, StuffTerminal},
    {"write-terminal", 0, WriteTerminal},
    {"fork", 1, Fork},
    {"allocate", 1, Allocate},
    {"fill-memfd", 1, FillMemfd},
    {"open-many", 1, OpenMany},
    {"grow", 2, Grow},
    {"burn", 1, Burn},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const Arguments arguments(argv + 2, argv + argc);
  for (const Verb& verb : kVerbs) {
    if (verb.name != argv[1] || verb.arguments != arguments.size()) continue;
    if (!verb.act(arguments)) {
      std::fprintf(stderr, "%s: %s\n", argv[1], std::strerror(errno));
      return 1;
    }
    std::printf("did %s\n", argv[1]);
    return 0;
  }
  std::fprintf(stderr, "no verb %s with %zu arguments\n", argv[1], arguments.size());
  return 2;
}
