#include "supervisor/spawn_worker.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <span>

#include "base/file.h"

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

Result<UniqueFd> Stdin(const std::optional<std::string_view>& data) {
  return data ? SealedMemfd("stdin", *data) : Null(O_RDONLY);
}

// Whoever works alone says what is wrong in its status, and nothing anywhere else.
Result<Pipe> Stderr(const SpawnOrder& order) {
  if (!order.launch.alone) return OutputPipe();
  Result<UniqueFd> null = Null(O_WRONLY);
  if (!null) return std::unexpected(null.error());
  return Pipe{UniqueFd(), std::move(*null)};
}

}  // namespace

Result<SpawnedWorker> SpawnWorker(Launchers& launchers, const SpawnOrder& order) {
  Result<UniqueFd> spec = SealedMemfd("spec", order.spec);
  if (!spec) return std::unexpected(spec.error());
  Result<UniqueFd> in = Stdin(order.stdin_data);
  if (!in) return std::unexpected(in.error());
  Result<Pipe> out = OutputPipe();
  if (!out) return std::unexpected(out.error());
  Result<Pipe> err = Stderr(order);
  if (!err) return std::unexpected(err.error());
  const std::array fds = {in->get(),   out->write.get(), err->write.get(),
                          spec->get(), order.cwd,        order.ruleset};
  const std::span<const int> all = fds;
  Result<LaunchedWorker> worker = launchers.Launch(
      order.launch, order.ruleset >= 0 ? all : all.first(all.size() - 1), order.limits);
  if (!worker) return std::unexpected(worker.error());
  return SpawnedWorker{worker->pid, std::move(worker->control), std::move(out->read),
                       std::move(err->read), std::move(worker->group)};
}

}  // namespace pa
