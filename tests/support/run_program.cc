#include "tests/support/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {
namespace {

UniqueFd Create(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) std::abort();
  return fd;
}

}  // namespace

// Files, not pipes: nothing to pump, and nothing that a lingering grandchild could hold open.
ProgramResult RunProgram(Launch launch, std::string_view input) {
  TempDir scratch;
  WriteText(scratch.path() / "in", input);
  UniqueFd in = Create(scratch.path() / "in");
  UniqueFd out = Create(scratch.path() / "out");
  UniqueFd err = Create(scratch.path() / "err");
  launch.in = in.get();
  launch.out = out.get();
  launch.err = err.get();

  int status = 0;
  waitpid(Spawn(std::move(launch)), &status, 0);
  ProgramResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.output = ReadText(scratch.path() / "out");
  result.errors = ReadText(scratch.path() / "err");
  return result;
}

bool OverlaysAreGranted() {
  const TempDir directory;
  for (const char* name : {"lower", "upper", "work"}) {
    std::filesystem::create_directory(directory.path() / name);
  }
  return RunProgram(
             {.command = {"unshare", "--user", "--map-root-user", "--mount", "mount", "-t",
                          "overlay", "-o", "lowerdir=lower,upperdir=upper,workdir=work,userxattr",
                          "none", "lower"},
              .environment = {},
              .directory = directory.path()})
             .exit_code == 0;
}

}  // namespace pa::testing
