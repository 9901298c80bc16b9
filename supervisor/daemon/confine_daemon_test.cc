#include "supervisor/daemon/confine_daemon.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/file.h"
#include "sandbox/landlock.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

// What an attacker in the front door would try; 0: it succeeds, else its errno.
int Tries(const std::string& what, const std::string& readable) {
  const auto result = [](long returned) { return returned < 0 ? errno : 0; };
  if (what == "read tokens") {
    const Result<std::string> tokens = ReadFile(readable + "/x", 100);
    return tokens ? 0 : tokens.error().sys_errno;
  }
  if (what == "read others") return result(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  if (what == "write tokens") return result(open((readable + "/x").c_str(), O_WRONLY | O_CLOEXEC));
  if (what == "make a file") {
    return result(open((readable + "/y").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }
  if (what == "remove") return result(unlink((readable + "/x").c_str()));
  if (what == "chmod") return result(chmod((readable + "/x").c_str(), 0666));
  if (what == "socket") return result(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (what == "memory file") return result(syscall(SYS_memfd_create, "x", 0));
  if (what == "signal") return result(kill(getppid(), 0));
  if (what == "process") return result(syscall(SYS_unshare, 0));
  if (what == "trace") return result(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
  char program[] = "/bin/true";
  char* const arguments[] = {program, nullptr};
  execve(program, arguments, nullptr);
  return errno;
}

// In a child, whose exit status it is; 99: it could not be confined.
int InChild(bool confined, const std::string& what, const std::string& readable) {
  const pid_t child = fork();
  if (child == 0) {
    if (confined && !ConfineDaemon({readable, readable + "/none"})) _exit(99);
    _exit(Tries(what, readable));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

TEST(ConfineDaemon, NothingIsLeftButItsConfiguration) {
  if (testing::kAddressSanitizer) GTEST_SKIP() << "sanitizers need further system calls";
  const testing::TempDir directory;
  const std::string path = directory.path();
  testing::WriteText(path + "/x", "tokens");
  const bool landlock = sandbox::DetectLandlock().abi > 0;
  struct Attempt {
    const char* what;
    int error;
  };
  for (const Attempt& attempt : {Attempt{"read tokens", 0},
                                 {"read others", landlock ? EACCES : 0},
                                 {"write tokens", landlock ? EACCES : 0},
                                 {"make a file", landlock ? EACCES : 0},
                                 {"chmod", ENOSYS},
                                 {"socket", ENOSYS},
                                 {"memory file", ENOSYS},
                                 {"signal", ENOSYS},
                                 {"process", ENOSYS},
                                 {"trace", ENOSYS},
                                 {"exec", ENOSYS},
                                 {"remove", ENOSYS}}) {
    EXPECT_EQ(InChild(true, attempt.what, path), attempt.error) << attempt.what;
    EXPECT_EQ(InChild(false, attempt.what, path), 0) << attempt.what << ", unconfined";
  }
}

}  // namespace
}  // namespace pa
