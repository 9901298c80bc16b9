#include "supervisor/cli/systemctl.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/path_stamp.h"
#include "base/try.h"
#include "base/unique_fd.h"

namespace pa {
namespace {

constexpr char kSystemctl[] = "/usr/bin/systemctl";
constexpr std::size_t kMaxOutput = 1U << 20;

// `out`: its standard output; -1: ours.
Result<pid_t> StartSystemctl(std::vector<std::string>& words, int out) {
  words.insert(words.begin(), "systemctl");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, kSystemctl, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::unexpected(Error("start", kSystemctl, error));
  return child;
}

Result<void> AwaitSystemctl(pid_t child, const std::string& verb) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return {};
  return std::unexpected(Error("systemctl has failed; its message is above", verb));
}

}  // namespace

bool SystemdRuns() { return LookAt("/run/systemd/system").IsDirectory(); }

Result<void> Systemctl(std::vector<std::string> words) {
  PA_TRY(const pid_t child, StartSystemctl(words, -1));
  return AwaitSystemctl(child, words[1]);
}

Result<std::string> SystemctlOutput(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(Error("pipe", "systemctl", errno));
  UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  PA_TRY(const pid_t child, StartSystemctl(words, in.get()));
  in = UniqueFd();
  std::string output;
  char chunk[4096];
  for (ssize_t got = 1; got != 0 && output.size() <= kMaxOutput;) {
    got = read(out.get(), chunk, sizeof chunk);
    if (got < 0 && errno != EINTR) break;
    if (got > 0) output.append(chunk, static_cast<std::size_t>(got));
  }
  out = UniqueFd();  // if it was too much: systemctl does not wait for a reader
  PA_TRY_VOID(AwaitSystemctl(child, words[1]));
  if (output.size() > kMaxOutput) return std::unexpected(Error("systemctl", words[1], EFBIG));
  return output;
}

}  // namespace pa
