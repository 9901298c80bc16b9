// project-actions-worker: takes an order, confines itself, executes it and sees to its end.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "worker/launcher.h"
#include "worker/protocol.h"
#include "worker/worker.h"

namespace {

constexpr char kUsage[] =
    "usage: project-actions-worker --launch     run by project-actions: orders and answers by "
    "descriptor\n"
    "       project-actions-worker --launch-within\n"
    "                                           the same, within a ceiling that is not the "
    "order's\n"
    "       project-actions-worker --spec FILE  run one order by hand; exits with the command's "
    "status,\n"
    "                                           124 on a timeout, 125 when it could not be set up\n"
    "       project-actions-worker --version | --help\n";

int Print(int fd, const char* text, int status) {
  dprintf(fd, "%s", text);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  using pa::worker::Bounds;
  if (argc == 2 && std::strcmp(argv[1], "--launch") == 0) {
    return pa::worker::RunLauncher(Bounds::kNone);
  }
  if (argc == 2 && std::strcmp(argv[1], "--launch-within") == 0) {
    return pa::worker::RunLauncher(Bounds::kCeiling);
  }
  if (argc == 3 && std::strcmp(argv[1], "--spec") == 0) {
    return pa::worker::RunWorker({.file = argv[2]});
  }
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return Print(STDOUT_FILENO, kUsage, 0);
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    return Print(STDOUT_FILENO, "project-actions-worker " PA_VERSION "\n", 0);
  }
  return Print(STDERR_FILENO, kUsage, pa::worker::kExitSetupFailed);
}
