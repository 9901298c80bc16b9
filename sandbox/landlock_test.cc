// Each right allowed in one directory and refused in another, at every ABI that this kernel can
// play.
#include "sandbox/landlock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "sandbox/capabilities.h"
#include "sandbox/child_for_test.h"
#include "sandbox/landlock_abi.h"
#include "sandbox/unreachable.h"

namespace pa::sandbox {
namespace {

using namespace landlock;

int KernelAbi() { return DetectLandlock().abi; }

// Two directories with the same content, "in" and "out"; only "in" is granted.
class Trees {
 public:
  Trees() {
    for (const char* side : {"in", "out"}) {
      const std::filesystem::path top = base_ / side;
      std::filesystem::create_directories(top / "empty");
      std::filesystem::create_directories(top / "sub");
      std::ofstream(top / "file") << "content";
      std::filesystem::copy_file("/bin/true", top / "program");
    }
  }
  std::string Path(const char* side, const char* name) const {
    return base_ / (std::string(side) + "/" + name);
  }
  const TemporaryDirectory& base() const { return base_; }

 private:
  TemporaryDirectory base_;
};

// In a child: grants `access` on "in", then makes the attempt on `side`. Returns its errno.
int Confined(const Trees& trees, int abi, Access access, const std::function<int()>& attempt,
             Network network = Network::kNone) {
  return InChild([&] {
    SysResult<UniqueFd> ruleset = CreateRuleset(abi, network);
    if (!ruleset) return kSetupFailed;
    if (!AddPath(ruleset->get(), trees.Path("in", "").c_str(), access, abi)) return kSetupFailed;
    for (const char* path : {"/usr", "/lib", "/lib64"}) {  // the loader and libc of "program"
      (void)AddPath(ruleset->get(), path, kReadExecute, abi);
    }
    if (!Enforce(ruleset->get())) return kSetupFailed;
    return attempt();
  });
}

struct Attempt {
  const char* name;
  Access needs;  // the least that allows it
  Access lacks;  // everything but that
  int since;     // the ABI that refuses it
  std::function<int(const Trees&, const char* side)> make;
};

int Open(const std::string& path, int flags) {
  return AttemptErrno(open(path.c_str(), flags | O_CLOEXEC, 0600));
}

constexpr Access kAll = kReadWriteExecute | Access::kDevice;
constexpr Access kAllButWrite = kReadExecute | Access::kDevice;
constexpr Access kAllButRead = Access::kWrite | Access::kExecute | Access::kDevice;

const Attempt kAttempts[] = {
    {"read_file", Access::kRead, kAllButRead, 1,
     [](const Trees& t, const char* s) { return Open(t.Path(s, "file"), O_RDONLY); }},
    {"read_directory", Access::kRead, kAllButRead, 1,
     [](const Trees& t, const char* s) { return Open(t.Path(s, "sub"), O_RDONLY | O_DIRECTORY); }},
    {"execute", kReadExecute, kReadWrite, 1,
     [](const Trees& t, const char* s) {
       execl(t.Path(s, "program").c_str(), "program", nullptr);
       return errno;
     }},
    {"write_file", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) { return Open(t.Path(s, "file"), O_WRONLY); }},
    {"create", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) { return Open(t.Path(s, "new"), O_WRONLY | O_CREAT); }},
    {"make_directory", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) {
       return AttemptErrno(mkdir(t.Path(s, "new").c_str(), 0700));
     }},
    {"make_symlink", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) {
       return AttemptErrno(symlink("x", t.Path(s, "new").c_str()));
     }},
    {"make_fifo", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) {
       return AttemptErrno(mkfifo(t.Path(s, "new").c_str(), 0600));
     }},
    {"make_socket", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) {
       return AttemptErrno(mknod(t.Path(s, "new").c_str(), S_IFSOCK | 0600, 0));
     }},
    {"unlink", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) { return AttemptErrno(unlink(t.Path(s, "file").c_str())); }},
    {"rmdir", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) { return AttemptErrno(rmdir(t.Path(s, "empty").c_str())); }},
    {"rename_within", Access::kWrite, kAllButWrite, 1,
     [](const Trees& t, const char* s) {
       return AttemptErrno(rename(t.Path(s, "file").c_str(), t.Path(s, "renamed").c_str()));
     }},
    {"truncate", Access::kWrite, kAllButWrite, 3,
     [](const Trees& t, const char* s) {
       return AttemptErrno(truncate(t.Path(s, "file").c_str(), 1));
     }},
    {"truncation_without_access_mode", Access::kWrite, kAllButWrite, 3,
     [](const Trees& t, const char* s) { return Open(t.Path(s, "file"), 3 | O_TRUNC); }},
};

class Right : public ::testing::TestWithParam<std::tuple<Attempt, int>> {
 protected:
  void SetUp() override {
    if (KernelAbi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  }
  const Attempt& attempt() const { return std::get<0>(GetParam()); }
  int abi() const { return std::get<1>(GetParam()); }
};

TEST_P(Right, AllowedWhereGranted) {
  const Trees trees;
  const int result =
      Confined(trees, abi(), attempt().needs, [&] { return attempt().make(trees, "in"); });
  EXPECT_EQ(result, 0);
}

TEST_P(Right, RefusedOutside) {
  const Trees trees;
  const int result = Confined(trees, abi(), kAll, [&] { return attempt().make(trees, "out"); });
  EXPECT_EQ(result, abi() >= attempt().since ? EACCES : 0);
}

TEST_P(Right, RefusedWithEveryOtherRight) {
  const Trees trees;
  const int result =
      Confined(trees, abi(), attempt().lacks, [&] { return attempt().make(trees, "in"); });
  EXPECT_EQ(result, abi() >= attempt().since ? EACCES : 0);
}

std::string RightName(const ::testing::TestParamInfo<std::tuple<Attempt, int>>& parameters) {
  return std::string(std::get<0>(parameters.param).name) + "_abi" +
         std::to_string(std::get<1>(parameters.param));
}
INSTANTIATE_TEST_SUITE_P(Each, Right,
                         ::testing::Combine(::testing::ValuesIn(kAttempts),
                                            ::testing::Range(1, std::max(KernelAbi(), 1) + 1)),
                         RightName);

class Landlock : public ::testing::Test {
 protected:
  void SetUp() override {
    if (KernelAbi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  }
};

// What may be read could be emptied before ABI 3; then seccomp refuses it.
TEST_F(Landlock, ReadingDoesNotTruncateFromAbi3) {
  const Trees trees;
  const auto attempt = [&] { return Open(trees.Path("in", "file"), O_RDONLY | O_TRUNC); };
  EXPECT_EQ(Confined(trees, 2, Access::kRead, attempt), 0);
  if (KernelAbi() < 3) GTEST_SKIP() << "the rest needs ABI 3";
  EXPECT_EQ(Confined(trees, 3, Access::kRead, attempt), EACCES);
  EXPECT_EQ(Confined(trees, 3, kReadWrite, attempt), 0);
}

TEST_F(Landlock, ProbeAgreesWithTheKernel) {
  const LandlockSupport kernel = DetectLandlock();
  ASSERT_GT(kernel.abi, 0) << "errno " << kernel.sys_errno;
  EXPECT_TRUE(CreateRuleset(kernel.abi, Network::kNone));
  // ABIs 7 and 8 brought flags of calls and no rights, by which alone one is told from the last.
  const int next = kernel.abi == 6 || kernel.abi == 7 ? 9 : kernel.abi + 1;
  if (kernel.abi < kNewestLandlockAbi) {
    EXPECT_FALSE(CreateRuleset(next, Network::kNone));
  }
}

TEST_F(Landlock, RightsGrowWithTheAbi) {
  EXPECT_EQ(HandledRights(0, Network::kNone).fs, 0u);
  EXPECT_EQ(HandledRights(1, Network::kNone).fs, (1u << 13) - 1);
  EXPECT_EQ(HandledRights(9, Network::kNone).fs, (1u << 17) - 1);
  EXPECT_EQ(HandledRights(3, Network::kNone).net, 0u);
  EXPECT_EQ(HandledRights(4, Network::kNone).net, 3u);
  EXPECT_EQ(HandledRights(10, Network::kNone).net, 15u);
  EXPECT_EQ(HandledRights(10, Network::kFull).net, 0u);
  EXPECT_EQ(HandledRights(5, Network::kNone).scoped, 0u);
  EXPECT_EQ(HandledRights(6, Network::kFull).scoped, 3u);
}

// Device nodes are a way around every path rule, also for root inside a granted tree.
TEST_F(Landlock, DeviceNodesAreNeverMade) {
  const Trees trees;
  const auto node = [&](mode_t type) {
    return AttemptErrno(mknod(trees.Path("in", "node").c_str(), type | 0600, 0x0103));
  };
  EXPECT_EQ(Confined(trees, 1, kAll, [&] { return node(S_IFCHR); }), EACCES);
  EXPECT_EQ(Confined(trees, 1, kAll, [&] { return node(S_IFBLK); }), EACCES);
  EXPECT_EQ(Confined(trees, 1, kAll, [&] { return node(S_IFREG); }), 0);
}

TEST_F(Landlock, MovingBetweenDirectoriesNeedsAbi2) {
  const Trees trees;
  const auto move = [&](const char* to) {
    return AttemptErrno(
        rename(trees.Path("in", "file").c_str(), trees.Path(to, "sub/moved").c_str()));
  };
  const auto link_from_outside = [&] {
    return AttemptErrno(
        link(trees.Path("out", "file").c_str(), trees.Path("in", "sub/linked").c_str()));
  };
  EXPECT_EQ(Confined(trees, 1, kAll, [&] { return move("in"); }), EXDEV);
  if (KernelAbi() < 2) GTEST_SKIP() << "the rest needs ABI 2";
  EXPECT_EQ(Confined(trees, 2, kAll, [&] { return move("out"); }), EACCES);
  EXPECT_NE(Confined(trees, 2, kAll, link_from_outside), 0);
  EXPECT_EQ(Confined(trees, 2, kAll, [&] { return move("in"); }), 0);
}

TEST_F(Landlock, AFileIsGrantedAlone) {
  const Trees trees;
  const std::string file = trees.Path("in", "file");
  const int abi = KernelAbi();
  const auto attempt = [&](const std::string& path, int flags) {
    return InChild([&] {
      SysResult<UniqueFd> ruleset = CreateRuleset(abi, Network::kNone);
      if (!ruleset || !AddPath(ruleset->get(), file.c_str(), kAll, abi)) return kSetupFailed;
      return Enforce(ruleset->get()) ? Open(path, flags) : kSetupFailed;
    });
  };
  EXPECT_EQ(attempt(file, O_RDWR | O_TRUNC), 0);
  EXPECT_EQ(attempt(trees.Path("in", "program"), O_RDONLY), EACCES);
  EXPECT_EQ(attempt(trees.Path("in", ""), O_RDONLY | O_DIRECTORY), EACCES);
}

TEST_F(Landlock, WhatIsMissingIsToldApart) {
  const Trees trees;
  SysResult<UniqueFd> ruleset = CreateRuleset(1, Network::kNone);
  ASSERT_TRUE(ruleset);
  const std::string missing = trees.Path("in", "missing");
  const std::string beneath_file = trees.Path("in", "file/x");
  SysResult<void> added = AddPath(ruleset->get(), missing.c_str(), kAll, 1);
  ASSERT_FALSE(added);
  EXPECT_TRUE(IsUnreachable(added.error()));
  EXPECT_EQ(added.error().subject, missing);
  EXPECT_TRUE(IsUnreachable(AddPath(ruleset->get(), beneath_file.c_str(), kAll, 1).error()));
  added = AddPath(-1, trees.Path("in", "").c_str(), kAll, 1);
  ASSERT_FALSE(added);
  EXPECT_FALSE(IsUnreachable(added.error()));
  EXPECT_EQ(added.error().sys_errno, EBADF);
}

TEST_F(Landlock, NothingToGrantIsNoError) {
  const Trees trees;
  SysResult<UniqueFd> ruleset = CreateRuleset(1, Network::kNone);
  ASSERT_TRUE(ruleset);
  EXPECT_TRUE(AddPath(ruleset->get(), trees.Path("in", "").c_str(), Access::kNone, 1));
  EXPECT_TRUE(AddPath(ruleset->get(), trees.Path("in", "").c_str(), Access::kDevice, 1));
}

int TcpConnect(bool bind_first) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(bind_first ? 0 : 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return AttemptErrno(bind_first ? bind(fd.get(), generic, sizeof(address))
                                 : connect(fd.get(), generic, sizeof(address)));
}

TEST_F(Landlock, TcpIsRefusedFromAbi4) {
  if (KernelAbi() < 4) GTEST_SKIP() << "needs ABI 4";
  const Trees trees;
  EXPECT_EQ(Confined(trees, 4, kAll, [] { return TcpConnect(true); }), EACCES);
  EXPECT_EQ(Confined(trees, 4, kAll, [] { return TcpConnect(false); }), EACCES);
  EXPECT_EQ(Confined(trees, 3, kAll, [] { return TcpConnect(true); }), 0);
  EXPECT_EQ(Confined(trees, 4, kAll, [] { return TcpConnect(true); }, Network::kFull), 0);
  EXPECT_EQ(
      Confined(trees, 4, kAll, [] { return TcpConnect(false); }, Network::kFull), ECONNREFUSED);
}

TEST_F(Landlock, SignalsStayInsideFromAbi6) {
  if (KernelAbi() < 6) GTEST_SKIP() << "needs ABI 6";
  const Trees trees;
  const auto outside = [] { return AttemptErrno(kill(getppid(), 0)); };
  const auto own_child = [] {
    const pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    const int result = AttemptErrno(kill(child, SIGKILL));
    waitpid(child, nullptr, 0);
    return result;
  };
  EXPECT_EQ(Confined(trees, 6, kAll, outside), EPERM);
  EXPECT_EQ(Confined(trees, 5, kAll, outside), 0);
  EXPECT_EQ(Confined(trees, 6, kAll, own_child), 0);
}

TEST_F(Landlock, AbstractSocketsStayInsideFromAbi6) {
  if (KernelAbi() < 6) GTEST_SKIP() << "needs ABI 6";
  const Trees trees;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "sandbox-test-" + std::to_string(getpid());
  name.copy(address.sun_path + 1, name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const UniqueFd server(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(server.get(), generic, length), 0);
  ASSERT_EQ(listen(server.get(), 1), 0);
  const auto attempt = [&] {
    const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return AttemptErrno(connect(fd.get(), generic, length));
  };
  EXPECT_EQ(Confined(trees, 6, kAll, attempt), EPERM);
  EXPECT_EQ(Confined(trees, 5, kAll, attempt), 0);
}

// The guardian's outer domain: it keeps all of its rights, but signals end at its border. The inner
// domain of the command can no longer signal the guardian, and can still move files between
// directories.
TEST_F(Landlock, TheGuardianReachesItsOwnTreeOnly) {
  if (KernelAbi() < 6) GTEST_SKIP() << "needs ABI 6";
  const Trees trees;
  for (int abi = 6; abi <= KernelAbi(); ++abi) {
    const int result = InChild([&] {
      SysResult<UniqueFd> scope = CreateScopeRuleset(abi);
      if (!scope || !Enforce(scope->get())) return kSetupFailed;
      if (AttemptErrno(kill(getppid(), 0)) != EPERM) return 1;
      if (Open(trees.Path("out", "file"), O_RDWR) != 0) return 2;
      const std::string there = trees.Path("in", "file");
      const std::string back = trees.Path("in", "sub/file");
      return Confined(trees, abi, kAll, [&] {
        if (AttemptErrno(kill(getppid(), 0)) != EPERM) return 3;
        if (rename(there.c_str(), back.c_str()) != 0) return 4;
        return rename(back.c_str(), there.c_str()) == 0 ? 0 : 5;
      });
    });
    EXPECT_EQ(result, 0) << abi;
  }
  EXPECT_FALSE(CreateScopeRuleset(5));
}

// /proc/PID of the same user's other processes: ptrace access is denied across the border. Root
// must have lost its capabilities: CAP_PERFMON reads past Landlock.
TEST_F(Landlock, ProcessesOutsideAreClosed) {
  const Trees trees;
  const std::string environ = "/proc/" + std::to_string(getpid()) + "/environ";
  const auto attempt = [&](bool confined) {
    return InChild([&] {
      SysResult<UniqueFd> ruleset = CreateRuleset(1, Network::kNone);
      if (!ruleset || !AddPath(ruleset->get(), "/proc", Access::kRead, 1)) return kSetupFailed;
      if (confined && (!DropCapabilities() || !Enforce(ruleset->get()))) return kSetupFailed;
      const UniqueFd fd(open(environ.c_str(), O_RDONLY | O_CLOEXEC));
      char byte;
      return fd && read(fd.get(), &byte, 1) >= 0 ? 0 : 1;
    });
  };
  EXPECT_EQ(attempt(true), 1);
  EXPECT_EQ(attempt(false), 0);
}

}  // namespace
}  // namespace pa::sandbox
