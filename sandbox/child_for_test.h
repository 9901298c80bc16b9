// Runs a function in a child process, for tests: confinement cannot be undone, so each test
// confines a process of its own.
//
//    const int error = InChild([] {
//      return Confine() ? AttemptErrno(open(path, O_RDONLY)) : kSetupFailed;
//    });
//    EXPECT_EQ(error, EACCES);
#pragma once

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pa::sandbox {

inline constexpr int kSetupFailed = 200;  // no errno, no signal
inline constexpr int kBySignal = 1000;    // + the signal that ended the child

// Runs `body` in a child and returns its result (0 to 255), or kBySignal plus a signal. A child
// that hangs is ended by SIGALRM.
template <typename Body>
int InChild(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    _exit(body());
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return kSetupFailed;
  return WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
}

// 0 if the call succeeded (did not return -1), else its errno.
template <typename Value>
int AttemptErrno(Value returned) {
  return returned == static_cast<Value>(-1) ? errno : 0;
}

// A directory that is removed at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "sandbox-test-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pa::sandbox
