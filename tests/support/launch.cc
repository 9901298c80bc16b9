#include "tests/support/launch.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace pa::testing {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void Put(posix_spawn_file_actions_t& actions, int ours, int theirs) {
  if (ours < 0) {
    posix_spawn_file_actions_addopen(&actions, theirs, "/dev/null", O_RDWR, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, ours, theirs);
  }
}

}  // namespace

pid_t Spawn(Launch launch) {
  for (const char* name : {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char* value = getenv(name)) {
      launch.environment.push_back(std::string(name) + "=" + value);
    }
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  Put(actions, launch.in, STDIN_FILENO);
  Put(actions, launch.out, STDOUT_FILENO);
  Put(actions, launch.err, STDERR_FILENO);
  if (launch.inherit) {
    posix_spawn_file_actions_adddup2(&actions, launch.inherit->first, launch.inherit->second);
  }
  posix_spawn_file_actions_addchdir_np(&actions, launch.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (!launch.terminal.empty()) {
    // The first terminal that the leader of a session opens becomes its controlling one.
    constexpr int kSpare = 9;
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addopen(&actions, kSpare, launch.terminal.c_str(), O_RDWR, 0);
    posix_spawn_file_actions_addclose(&actions, kSpare);
  }

  pid_t pid = -1;
  int failure = posix_spawnp(&pid, launch.command[0].c_str(), &actions, &attributes,
                             Pointers(launch.command).data(), Pointers(launch.environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == 0) return pid;
  std::fprintf(stderr, "posix_spawn %s: errno %d\n", launch.command[0].c_str(), failure);
  std::abort();
}

}  // namespace pa::testing
