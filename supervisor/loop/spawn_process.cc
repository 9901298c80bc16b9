#include "supervisor/loop/spawn_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

#include <array>

namespace pa {
namespace {

struct Actions {
  Actions() { posix_spawn_file_actions_init(&value); }
  ~Actions() { posix_spawn_file_actions_destroy(&value); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  posix_spawn_file_actions_t value;
};

struct Attributes {
  // Ignored signals and the mask survive execve, and libuv and our parents may have set either.
  Attributes() {
    posix_spawnattr_init(&value);
    sigset_t set;
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&value, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&value, &set);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t value;
};

}  // namespace

Result<pid_t> SpawnProcess(const std::string& path, const char* argument, const char* variable,
                           int socket, int as) {
  Actions actions;
  const std::array codes = {
      posix_spawn_file_actions_addchdir_np(&actions.value, "/"),
      posix_spawn_file_actions_adddup2(&actions.value, socket, as),
      posix_spawn_file_actions_addopen(&actions.value, 0, "/dev/null", O_RDONLY, 0),
      posix_spawn_file_actions_addopen(&actions.value, 1, "/dev/null", O_WRONLY, 0)};
  for (const int code : codes) {
    if (code != 0) return std::unexpected(Error("posix_spawn_file_actions", path, code));
  }
  Attributes attributes;
  const char* argv[] = {path.c_str(), argument, nullptr};
  const char* environment[] = {variable, nullptr};
  pid_t pid = -1;
  const int code = posix_spawn(&pid, path.c_str(), &actions.value, &attributes.value,
                               const_cast<char**>(argv), const_cast<char**>(environment));
  if (code != 0) return std::unexpected(Error("posix_spawn", path, code));
  return pid;
}

}  // namespace pa
