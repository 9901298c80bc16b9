#include "tests/support/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/argv.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {
// Files, not pipes: nothing to pump, and nothing that a lingering grandchild could hold open.
ProgramResult RunProgram(std::vector<std::string> command, const ProgramOptions& options) {
  TempDir scratch;
  std::string in = scratch.path() / "in";
  std::string out = scratch.path() / "out";
  std::string err = scratch.path() / "err";
  WriteText(in, options.input);

  std::vector<std::string> environment = options.environment;
  const char* path = getenv("PATH");
  environment.push_back(std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin"));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());

  pid_t pid = -1;
  int failure = posix_spawnp(&pid, command[0].c_str(), &actions, nullptr, Pointers(command).data(),
                             Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  ProgramResult result;
  if (failure != 0) {
    result.errors = command[0] + ": errno " + std::to_string(failure);
    return result;
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.output = ReadText(out);
  result.errors = ReadText(err);
  return result;
}

}  // namespace pa::testing
