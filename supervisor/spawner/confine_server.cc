#include "supervisor/spawner/confine_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/file.h"
#include "base/sanitized.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "sandbox/capabilities.h"
#include "sandbox/confinement.h"
#include "sandbox/landlock.h"
#include "sandbox/prepared.h"
#include "sandbox/rings.h"
#include "sandbox/seccomp_load.h"
#include "sandbox/unreachable.h"

namespace pa {
namespace {

using sandbox::Access;

Result<void> Add(int ruleset, const std::vector<std::string>& paths, Access access, int abi) {
  for (const std::string& path : paths) {
    const auto added = sandbox::AddPath(ruleset, path.c_str(), access, abi);
    if (!added && !sandbox::IsUnreachable(added.error())) {
      return std::unexpected(Error(added.error()));
    }
  }
  return {};
}

// False: the kernel has no Landlock that would do.
Result<bool> EnterLandlock(const ServerReach& reach, sandbox::Network network) {
  const sandbox::LandlockSupport kernel = sandbox::DetectLandlock();
  if (kernel.abi < 2) return false;
  const auto ruleset = sandbox::CreateServerRuleset(kernel.abi, network);
  if (!ruleset) return std::unexpected(Error(ruleset.error()));
  PA_TRY_VOID(Add(ruleset->get(), reach.read, Access::kRead, kernel.abi));
  PA_TRY_VOID(Add(ruleset->get(), reach.write, sandbox::kReadWrite, kernel.abi));
  PA_TRY_VOID(Add(ruleset->get(), reach.list, Access::kList, kernel.abi));
  PA_TRY_VOID(Add(ruleset->get(), {reach.base}, Access::kList | Access::kRemove, kernel.abi));
  PA_TRY_VOID(Add(ruleset->get(), {"/dev/null"}, sandbox::kReadWrite, kernel.abi));
  if (const auto entered = sandbox::Enforce(ruleset->get()); !entered) {
    return std::unexpected(Error(entered.error()));
  }
  return true;
}

// A Landlock domain is of the thread that enters it, and of those that it makes.
Result<void> CheckAlone() {
  PA_TRY(const std::vector<std::string> threads, ReadNames("/proc/self/task", 0));
  if (threads.size() == 1) return {};
  return std::unexpected(Error("confine server", "it has threads", EBUSY));
}

}  // namespace

Result<bool> ConfineServer(const ServerReach& reach) {
  const sandbox::Network network = reach.ports ? sandbox::Network::kFull : sandbox::Network::kNone;
  PA_TRY_VOID(CheckAlone());
  PA_TRY_VOID(sandbox::CheckNoRings());
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return std::unexpected(Error("prctl", "no_new_privs", errno));
  }
  // As root it would read the environment of other processes in spite of Landlock.
  if (const auto dropped = sandbox::DropCapabilities(); !dropped) {
    return std::unexpected(Error(dropped.error()));
  }
  PA_TRY(const bool files, EnterLandlock(reach, network));
  if (kSanitized) return files;
  PA_TRY(const sandbox::SeccompProgram program,
         sandbox::CompileSeccomp(sandbox::SeccompProfile::kServer, network, 0));
  if (const auto loaded = sandbox::LoadSeccomp(*program); !loaded) {
    return std::unexpected(Error(loaded.error()));
  }
  return files;
}

namespace {

constexpr int kNotConfined = 8;

// In bits, what it could do.
int Attempts() {
  int could = 0;
  // Our own executable: not beneath /proc, to which the link alone belongs.
  if (UniqueFd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC))) could |= 1;
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child == 0) _exit(0);
  if (child > 0) {
    could |= 2;
    waitpid(child, nullptr, 0);
  }
  if (UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))) could |= 4;
  return could;
}

}  // namespace

ServerTrial TryConfinement(bool ports) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return {.error = Error("pipe", "", errno).Message()};
  const UniqueFd reason(fds[0]);
  UniqueFd tell(fds[1]);
  const pid_t child = fork();
  if (child < 0) return {.error = Error("fork", "", errno).Message()};
  if (child == 0) {
    const Result<bool> confined = ConfineServer({.read = {"/proc"}, .ports = ports});
    if (!confined) static_cast<void>(WriteAll(tell.get(), confined.error().Message()));
    _exit(confined ? Attempts() : kNotConfined);
  }
  tell.reset();
  std::array<char, 512> why{};
  const ssize_t size = read(reason.get(), why.data(), why.size());
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) >= kNotConfined) {
    const std::string_view told(why.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return {.error = told.empty() ? "the process that tried it was killed" : std::string(told)};
  }
  const int could = WEXITSTATUS(status);
  return {.error = "",
          .opens_others = (could & 1) != 0,
          .makes_process = (could & 2) != 0,
          .makes_socket = (could & 4) != 0};
}

}  // namespace pa
