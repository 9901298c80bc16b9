#include "supervisor/run/spawn_worker.h"

#include <fcntl.h>

#include <cerrno>
#include <vector>

#include "base/file.h"
#include "base/try.h"

namespace pa {
namespace {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> OutputPipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return std::unexpected(Error("pipe2", "output", errno));
  Pipe pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
  // Ours alone: the command's side stays blocking, as every program expects.
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

Result<UniqueFd> Null(int mode) {
  UniqueFd fd(open("/dev/null", mode | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("open", "/dev/null", errno));
  return fd;
}

// Empty if it is a file that somebody else holds.
Result<UniqueFd> Stdin(const SpawnOrder& order) {
  if (order.stdin_data) return SealedMemfd("stdin", *order.stdin_data);
  if (order.stdin_file >= 0) return UniqueFd();
  return Null(O_RDONLY);
}

// Whoever works alone says what is wrong in its status, and nothing anywhere else.
Result<Pipe> Stderr(const SpawnOrder& order) {
  if (!order.launch.alone) return OutputPipe();
  PA_TRY(UniqueFd null, Null(O_WRONLY));
  return Pipe{UniqueFd(), std::move(null)};
}

}  // namespace

Task<Result<SpawnedWorker>> SpawnWorker(Launchers& launchers, const SpawnOrder& order) {
  PA_CO_TRY(UniqueFd spec, SealedMemfd("spec", order.spec));
  PA_CO_TRY(const UniqueFd own_in, Stdin(order));
  const int in = own_in ? own_in.get() : order.stdin_file;
  PA_CO_TRY(Pipe out, OutputPipe());
  PA_CO_TRY(Pipe err, Stderr(order));
  std::vector<int> descriptors = {in, out.write.get(), err.write.get(), spec.get(), order.cwd};
  if (order.ruleset >= 0) descriptors.push_back(order.ruleset);
  Task<Result<LaunchedWorker>> task =
      launchers.Launch(order.launch, std::move(descriptors), order.limits);
  Result<LaunchedWorker> worker = co_await task;
  if (!worker) co_return std::unexpected(worker.error());
  co_return SpawnedWorker{worker->pid,         std::move(worker->control), std::move(out.read),
                          std::move(err.read), std::move(worker->group),   std::move(spec)};
}

}  // namespace pa
