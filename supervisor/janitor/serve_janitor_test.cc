#include "supervisor/janitor/serve_janitor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "sandbox/landlock.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

// What an attacker in a chore would try; 0: it succeeds, else its errno. `base` has `read`, `write`
// and `other`.
int Tries(const std::string& what, const std::string& base) {
  const auto result = [](long returned) { return returned < 0 ? errno : 0; };
  const auto reads = [](const std::string& path) {
    const Result<std::string> text = ReadFile(path, 100);
    return text ? 0 : text.error().sys_errno;
  };
  const auto makes = [&](const std::string& path) {
    return result(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  };
  if (what == "read what it may") return reads(base + "/read/x");
  if (what == "read what it may write") return reads(base + "/write/x");
  if (what == "write what it may") return makes(base + "/write/y");
  if (what == "move what it may") {
    mkdir((base + "/write/d").c_str(), 0700);
    return result(rename((base + "/write/x").c_str(), (base + "/write/d/x").c_str()));
  }
  if (what == "read others") return reads(base + "/other/x");
  if (what == "write what it may read") return makes(base + "/read/y");
  if (what == "write others") return makes(base + "/other/y");
  if (what == "take others") {
    return result(rename((base + "/other/x").c_str(), (base + "/write/z").c_str()));
  }
  if (what == "socket") return result(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (what == "unix socket") return result(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (what == "memory file") return result(syscall(SYS_memfd_create, "x", 0));
  if (what == "signal") return result(kill(getppid(), 0));
  if (what == "namespace") return result(syscall(SYS_unshare, 0));
  if (what == "process") return result(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) == 0 ? 0 : errno;
  if (what == "trace") return result(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
  char program[] = "/bin/true";
  char* const arguments[] = {program, nullptr};
  execve(program, arguments, nullptr);
  return errno;
}

// In a child, whose exit status it is; 99: it could not be confined.
int InChild(bool confined, const std::string& what, const std::string& base) {
  const Result<ChoreSandbox> sandbox = PrepareChores();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (confined && !ConfineToFiles(*sandbox)) _exit(99);
    if (confined && !ConfineChore({base + "/read"}, {base + "/write"}, *sandbox)) _exit(99);
    _exit(Tries(what, base));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

TEST(ServeJanitor, AChoreHasItsPathsAndNothingElse) {
  if (testing::kAddressSanitizer) GTEST_SKIP() << "sanitizers need further system calls";
  const int abi = sandbox::DetectLandlock().abi;
  if (abi < 1) GTEST_SKIP() << "this kernel has no Landlock, and no command runs";
  // Landlock before ABI 2 lets nobody move files, so these chores are without it.
  const int denied_to_writers = abi >= 2 ? EACCES : 0;
  struct Attempt {
    const char* what;
    int error;
  };
  for (const Attempt& attempt : {Attempt{"read what it may", 0},
                                 {"read what it may write", 0},
                                 {"write what it may", 0},
                                 {"move what it may", 0},
                                 {"read others", denied_to_writers},
                                 {"write what it may read", denied_to_writers},
                                 {"write others", denied_to_writers},
                                 {"take others", denied_to_writers},
                                 {"socket", ENOSYS},
                                 {"unix socket", ENOSYS},
                                 {"memory file", ENOSYS},
                                 {"signal", ENOSYS},
                                 {"namespace", ENOSYS},
                                 {"process", ENOSYS},
                                 {"trace", ENOSYS},
                                 {"exec", ENOSYS}}) {
    for (const bool confined : {true, false}) {
      const testing::TempDir directory;
      const std::string base = directory.path();
      for (const char* name : {"/read/x", "/write/x", "/other/x"}) {
        testing::WriteText(base + name, "content");
      }
      EXPECT_EQ(InChild(confined, attempt.what, base), confined ? attempt.error : 0)
          << attempt.what << (confined ? "" : ", unconfined");
    }
  }
}

TEST(ServeJanitor, APathThatBecameASymlinkIsRefused) {
  if (sandbox::DetectLandlock().abi < 2) GTEST_SKIP() << "such chores have no Landlock here";
  const testing::TempDir directory;
  const std::string base = directory.path();
  ASSERT_EQ(symlink("/etc", (base + "/write").c_str()), 0);
  const Result<void> confined = ConfineChore({}, {base + "/write"}, *PrepareChores());
  ASSERT_FALSE(confined);
  EXPECT_EQ(confined.error().sys_errno, ELOOP);
}

TEST(ServeJanitor, IsStartedByTheServerAlone) { EXPECT_EQ(ServeJanitor({}), 1); }

}  // namespace
}  // namespace pa
