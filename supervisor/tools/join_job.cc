#include "supervisor/tools/join_job.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "policy/decide.h"
#include "supervisor/jobs/jobs.h"

namespace pa {
namespace {

using sandbox::Network;

ToolError NoNetworkToShare() {
  return Denied(
      {"the policy gives commands no network, so that none can be shared: network: none",
       "Tell the user that `network: loopback` in the policy gives each command a network "
       "of its own, with 127.0.0.1 and ::1 alone, and lets other commands share that of a "
       "job; start the job anew after that."});
}

ToolError CannotJoin(const std::string& why, const std::string& advice) {
  return InvalidArgument("the argument 'job' names no network to share: " + why, advice);
}

// Before its command is asked.
std::optional<ToolError> WhyNot(const Job& job) {
  if (job.ended) {
    return CannotJoin(fmt::format("job {} has ended: {}", job.id, job.State()),
                      "Start it anew; job reads what it has printed.");
  }
  if (job.network() != nullptr) return std::nullopt;
  if (policy::MakesCalls(job.tool)) {
    return CannotJoin(
        fmt::format("job {} is a {}, whose commands have a network each", job.id, job.tool),
        "Start the command as a job of make or bash.");
  }
  return CannotJoin(
      fmt::format("the command of job {} does not run yet, or has no network of its own", job.id),
      "Call again when it runs (job, action read). A job that began before the policy said "
      "`network: loopback` must be started anew.");
}

}  // namespace

ToolError NoSuchJob() {
  return NotFound(
      "there is no job of this id",
      "Action list of the tool job lists the jobs; one that has ended is forgotten after "
      "an hour.");
}

std::string InAnotherNetwork(std::string_view output, Network network, const CallContext& call) {
  const bool refused = output.contains("Connection refused") || output.contains("ECONNREFUSED");
  if (!refused || network != Network::kLoopback || call.jobs == nullptr) return {};
  for (const std::shared_ptr<Job>& job : call.jobs->all()) {
    if (job->network() == nullptr) continue;
    return fmt::format(
        "Each command has a network of its own. To reach what job {} ({}) listens on, call again "
        "with job: {}.",
        job->id, job->command, job->id);
  }
  return {};
}

Task<NetworkOr> JoinJob(std::string id, Network network, CallContext& call) {
  if (network == Network::kNone) co_return std::unexpected(NoNetworkToShare());
  if (network == Network::kFull) {
    co_return std::unexpected(
        CannotJoin("with network: full all commands share the network of this machine",
                   "Leave job out: the command reaches the job on 127.0.0.1."));
  }
  const std::shared_ptr<Job> job = call.jobs->Find(id);
  if (job == nullptr) co_return std::unexpected(NoSuchJob());
  if (auto refused = WhyNot(*job)) co_return std::unexpected(*std::move(refused));
  Task<Result<CommandNetwork>> task = job->network()->Network();
  Result<CommandNetwork> joined = co_await task;
  if (joined) co_return *std::move(joined);
  if (auto refused = WhyNot(*job)) co_return std::unexpected(*std::move(refused));
  co_return std::unexpected(InternalError(joined.error().Message()));
}

}  // namespace pa
