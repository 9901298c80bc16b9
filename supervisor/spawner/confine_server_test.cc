// A server in an attacker's hands: what it can still do by itself, and what it cannot. (What it can
// have helpers do: serve_spawner_test.cc.)
#include "supervisor/spawner/confine_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "sandbox/landlock.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

// As a server finds it: its own directory, the user's home, and a project in it.
class Machine {
 public:
  Machine() {
    testing::WriteText(Home() / ".ssh/id", "secret");
    testing::WriteText(Home() / ".bashrc", "one\n");
    testing::WriteText(Project() / "file", "text");
    fs::create_directories(Own());
    testing::WriteText(Own() / "mine", "own");
    fs::create_directories(Base() / "tmp/empty");
    testing::WriteText(Read() / "public", "text");
    int ready[2];
    EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
    const UniqueFd begun(ready[0]);
    UniqueFd begins(ready[1]);
    bystander_ = fork();
    if (bystander_ == 0) {
      // Where Yama lets only ancestors trace, a refusal would otherwise not be the confinement's.
      prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
      begins.reset();
      pause();
      _exit(0);
    }
    begins.reset();
    char end = 0;
    EXPECT_EQ(read(begun.get(), &end, 1), 0);
    bus_ = Listening(AF_UNIX, SOCK_STREAM);
    logs_ = Listening(AF_UNIX, SOCK_DGRAM);
    tcp_ = Listening(AF_INET, SOCK_STREAM);
  }
  ~Machine() {
    kill(bystander_, SIGKILL);
    waitpid(bystander_, nullptr, 0);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  fs::path Base() const { return base_; }
  fs::path Home() const { return base_ / "home"; }
  fs::path Project() const { return Home() / "project"; }
  fs::path Own() const { return base_ / "own"; }
  fs::path Read() const { return base_ / "read"; }
  pid_t bystander() const { return bystander_; }
  ServerReach Reach() const {
    return {.read = {Read(), "/proc"}, .write = {Own()}, .list = {Home()}, .base = base_ / "tmp"};
  }
  sockaddr_un Address(int type) const {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const std::string path = base_ / (type == SOCK_STREAM ? "bus" : "logs");
    std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.size() + 1);
    return address;
  }
  sockaddr_in Port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return address;
  }

 private:
  UniqueFd Listening(int family, int type) const {
    UniqueFd fd(socket(family, type | SOCK_CLOEXEC, 0));
    const sockaddr_un local = Address(type);
    sockaddr_in port{};
    port.sin_family = AF_INET;
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_unix = family == AF_UNIX;
    EXPECT_EQ(bind(fd.get(),
                   is_unix ? reinterpret_cast<const sockaddr*>(&local)
                           : reinterpret_cast<const sockaddr*>(&port),
                   is_unix ? sizeof local : sizeof port),
              0);
    if (type == SOCK_STREAM) {
      EXPECT_EQ(listen(fd.get(), 8), 0);
    }
    return fd;
  }

  testing::TempDir dir_;
  fs::path base_ = fs::canonical(dir_.path());
  pid_t bystander_ = -1;
  UniqueFd bus_;
  UniqueFd logs_;
  UniqueFd tcp_;
};

int Code(long result) { return result < 0 ? errno : 0; }

int Opens(const fs::path& path, int flags) {
  return Code(UniqueFd(open(path.c_str(), flags | O_CLOEXEC, 0600)).get());
}

template <typename Address>
int Connects(int family, int type, const Address& address) {
  const UniqueFd fd(socket(family, type | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  return Code(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

std::string OfBystander(const Machine& machine, const char* name) {
  return "/proc/" + std::to_string(machine.bystander()) + "/" + name;
}

int Executes(const fs::path& path) {
  const pid_t child = vfork();
  if (child < 0) return errno;
  if (child == 0) {
    execl(path.c_str(), path.c_str(), nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : EACCES;
}

struct Attempt {
  const char* what;
  int (*code)(const Machine& machine);  // 0: it succeeds, else its errno
  bool only_root = false;               // nobody else can, confined or not
  // A kernel, a file system or a container may refuse it to everybody; then it proves nothing.
  bool may_lack = false;
};

// NOLINTBEGIN(readability-function-size): a table
const Attempt kItsWork[] = {
    {"read its own file", [](const Machine& m) { return Opens(m.Own() / "mine", O_RDWR); }},
    {"make a file", [](const Machine& m) { return Opens(m.Own() / "new", O_WRONLY | O_CREAT); }},
    {"make one without a name",
     [](const Machine& m) { return Opens(m.Own(), O_TMPFILE | O_RDWR); }},
    {"replace its own file",
     [](const Machine& m) {
       testing::WriteText(m.Own() / "next", "new");
       return Code(rename((m.Own() / "next").c_str(), (m.Own() / "mine").c_str()));
     }},
    {"move it to another directory",
     [](const Machine& m) {
       mkdir((m.Own() / "deep").c_str(), 0700);
       return Code(rename((m.Own() / "mine").c_str(), (m.Own() / "deep/mine").c_str()));
     }},
    {"read what is public", [](const Machine& m) { return Opens(m.Read() / "public", O_RDONLY); }},
    {"look at a file", [](const Machine& m) { return Opens(m.Project() / "file", O_PATH); }},
    {"watch a directory",
     [](const Machine& m) {
       const UniqueFd fd(inotify_init1(IN_CLOEXEC));
       return Code(inotify_add_watch(fd.get(), m.Project().c_str(), IN_MODIFY));
     }},
    {"remove an empty TMPDIR",
     [](const Machine& m) { return Code(rmdir((m.Base() / "tmp/empty").c_str())); }},
    {"make a thread",
     [](const Machine&) {
       std::thread([] {}).join();
       return 0;
     }},
    {"make a memory file", [](const Machine&) { return Code(memfd_create("x", MFD_CLOEXEC)); }},
    {"tell systemd or the journal",
     [](const Machine& m) { return Connects(AF_UNIX, SOCK_DGRAM, m.Address(SOCK_DGRAM)); }},
};

const Attempt kClosed[] = {
    {"read a secret", [](const Machine& m) { return Opens(m.Home() / ".ssh/id", O_RDONLY); }},
    {"read it by its descriptor",
     [](const Machine& m) {
       const UniqueFd fd(open((m.Home() / ".ssh/id").c_str(), O_PATH | O_CLOEXEC));
       return Opens("/proc/self/fd/" + std::to_string(fd.get()), O_RDONLY);
     }},
    {"read the project", [](const Machine& m) { return Opens(m.Project() / "file", O_RDONLY); }},
    {"write the project", [](const Machine& m) { return Opens(m.Project() / "file", O_WRONLY); }},
    {"make a file in the home",
     [](const Machine& m) { return Opens(m.Home() / ".profile", O_WRONLY | O_CREAT); }},
    {"make one beside its TMPDIR",
     [](const Machine& m) { return Opens(m.Base() / "tmp/new", O_WRONLY | O_CREAT); }},
    {"write what it may read",
     [](const Machine& m) { return Opens(m.Read() / "public", O_WRONLY); }},
    {"append to a shell's file",
     [](const Machine& m) { return Opens(m.Home() / ".bashrc", O_WRONLY | O_APPEND); }},
    {"truncate",
     [](const Machine& m) { return Code(truncate((m.Home() / ".bashrc").c_str(), 0)); }},
    {"put its file there",
     [](const Machine& m) {
       return Code(rename((m.Own() / "mine").c_str(), (m.Home() / ".bashrc").c_str()));
     }},
    {"link a secret to its own",
     [](const Machine& m) {
       return Code(link((m.Home() / ".ssh/id").c_str(), (m.Own() / "id").c_str()));
     }},
    {"make a symlink",
     [](const Machine& m) {
       return Code(symlink("/etc/passwd", (m.Home() / ".bash_login").c_str()));
     }},
    {"remove", [](const Machine& m) { return Code(unlink((m.Project() / "file").c_str())); }},
    {"make a directory",
     [](const Machine& m) { return Code(mkdir((m.Project() / ".vscode").c_str(), 0700)); }},
    {"change a mode", [](const Machine& m) { return Code(chmod(m.Project().c_str(), 0777)); }},
    {"change an owner",
     [](const Machine& m) { return Code(chown(m.Project().c_str(), geteuid(), getegid())); }},
    {"change times",
     [](const Machine& m) {
       return Code(utimensat(AT_FDCWD, (m.Project() / "file").c_str(), nullptr, 0));
     }},
    {"set an attribute",
     [](const Machine& m) {
       return Code(setxattr((m.Project() / "file").c_str(), "user.x", "y", 1, 0));
     },
     false, true},
    {"execute", [](const Machine&) { return Executes("/bin/true"); }},
    {"become another program",
     [](const Machine&) {
       execl("/bin/true", "/bin/true", nullptr);
       return errno;
     }},
    {"make a process",
     [](const Machine&) {
       const pid_t child = fork();
       if (child == 0) _exit(0);
       if (child > 0) waitpid(child, nullptr, 0);
       return Code(child);
     }},
    {"trace a process",
     [](const Machine& m) { return Code(ptrace(PTRACE_ATTACH, m.bystander(), nullptr, nullptr)); },
     false, true},
    {"read its memory", [](const Machine& m) { return Opens(OfBystander(m, "mem"), O_RDONLY); }},
    {"read its environment",
     [](const Machine& m) { return Opens(OfBystander(m, "environ"), O_RDONLY); }},
    {"learn where it stands",
     [](const Machine& m) {
       char path[256];
       return Code(readlink(OfBystander(m, "cwd").c_str(), path, sizeof path));
     }},
    {"ask the session's bus",
     [](const Machine& m) { return Connects(AF_UNIX, SOCK_STREAM, m.Address(SOCK_STREAM)); }},
    {"connect", [](const Machine& m) { return Connects(AF_INET, SOCK_STREAM, m.Port()); }},
    {"send a datagram", [](const Machine& m) { return Connects(AF_INET, SOCK_DGRAM, m.Port()); }},
    {"ask the kernel's network",
     [](const Machine&) { return Code(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)); }},
    {"make a namespace", [](const Machine&) { return Code(unshare(CLONE_NEWUSER)); }, false, true},
    {"mount",
     [](const Machine& m) { return Code(mount("x", m.Own().c_str(), "tmpfs", 0, nullptr)); }, true,
     true},
    {"change its root", [](const Machine& m) { return Code(chroot(m.Base().c_str())); }, true,
     true},
    {"type on a terminal",
     [](const Machine&) {
       int primary = -1;
       int secondary = -1;
       // Opened before, as its own stderr may be.
       if (openpty(&primary, &secondary, nullptr, nullptr, nullptr) != 0) return errno;
       setsid();
       if (ioctl(secondary, TIOCSCTTY, 0) != 0) return errno;
       return Code(ioctl(secondary, TIOCSTI, "x"));
     },
     false, true},
    {"count its events",
     [](const Machine&) {
       struct {
         std::uint32_t type = 1;  // PERF_TYPE_SOFTWARE
         std::uint32_t size = 64;
         std::uint64_t config = 0;
         std::uint64_t rest[6] = {};
       } attributes;
       return Code(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
     },
     true, true},
    {"keep a key",
     [](const Machine&) { return Code(syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -3, 1)); }, false,
     true},
};

// What is left, and said in SECURITY.md.
const Attempt kOpen[] = {
    {"learn that a file is there",
     [](const Machine& m) { return Code(access((m.Home() / ".ssh/id").c_str(), F_OK)); }},
    {"list the names in the home",
     [](const Machine& m) { return Opens(m.Home() / ".ssh", O_RDONLY | O_DIRECTORY); }},
    {"signal a process of its user", [](const Machine& m) { return Code(kill(m.bystander(), 0)); }},
    {"read the arguments of one",
     [](const Machine& m) { return Opens(OfBystander(m, "cmdline"), O_RDONLY); }},
};
// NOLINTEND(readability-function-size)

// 0: it succeeded; else its errno; 200: it could not be confined; above: it was killed.
int InChild(const Attempt& attempt, bool confined) {
  const Machine machine;
  const pid_t child = fork();
  if (child == 0) {
    if (confined && !ConfineServer(machine.Reach())) _exit(200);
    _exit(attempt.code(machine));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

class ConfineServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (sandbox::DetectLandlock().abi < 2) GTEST_SKIP() << "this kernel cannot confine the server";
  }
};

TEST_F(ConfineServerTest, TheServerCanDoItsWork) {
  for (const Attempt& attempt : kItsWork) EXPECT_EQ(InChild(attempt, true), 0) << attempt.what;
}

TEST_F(ConfineServerTest, AndNothingElse) {
  // Without the list of system calls, which their reports would need more of.
  if (testing::kAddressSanitizer) GTEST_SKIP() << "sanitizers leave files alone confined";
  for (const Attempt& attempt : kClosed) {
    if (attempt.only_root && geteuid() != 0) continue;
    const int confined = InChild(attempt, true);
    EXPECT_TRUE(confined > 0 && confined < 200) << attempt.what << ": " << confined;
    const int free = InChild(attempt, false);
    if (free != 0 && attempt.may_lack) {
      std::cout << "not shown here, where nobody can " << attempt.what << "\n";
      continue;
    }
    EXPECT_EQ(free, 0) << attempt.what << ": else this shows nothing";
  }
}

TEST_F(ConfineServerTest, ButThis) {
  for (const Attempt& attempt : kOpen) EXPECT_EQ(InChild(attempt, true), 0) << attempt.what;
}

TEST_F(ConfineServerTest, OneThatServesPortsCan) {
  const Machine machine;
  const pid_t child = fork();
  if (child == 0) {
    ServerReach reach = machine.Reach();
    reach.ports = true;
    if (!ConfineServer(reach)) _exit(200);
    const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in port{};
    port.sin_family = AF_INET;
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool serves =
        bind(fd.get(), reinterpret_cast<const sockaddr*>(&port), sizeof port) == 0 &&
        listen(fd.get(), 1) == 0;
    // That is left open (docs/adr/0062): it connects wherever it likes, too.
    _exit(serves && Connects(AF_INET, SOCK_STREAM, machine.Port()) == 0 ? 0 : errno);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(ConfineServerTest, NotWithThreads) {
  const Machine machine;
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { pause(); }).detach();
    const Result<bool> confined = ConfineServer(machine.Reach());
    _exit(!confined && confined.error().sys_errno == EBUSY ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace pa
