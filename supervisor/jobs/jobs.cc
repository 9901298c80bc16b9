#include "supervisor/jobs/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "base/finally.h"
#include "base/random.h"
#include "supervisor/loop/uv_handles.h"

namespace pa {
namespace {

constexpr std::size_t kIdBytes = 8;
// Of limits.output_total, which is what all results together may take: each command's own output is
// kept besides.
constexpr std::uint64_t kLogShare = 4;
// Before it is listed.
constexpr std::size_t kMostInMemory = 64U << 10;

UtcSeconds Now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// Of what runs no command by itself.
Outcome OutcomeOf(const ToolResult& result) {
  if (result.ending) return result.ending->outcome;
  if (!result.error) return Outcome::kExited;
  switch (result.error->code) {
    case ErrorCode::kTimedOut:
      return Outcome::kTimedOut;
    case ErrorCode::kCancelled:
      return Outcome::kCancelled;
    case ErrorCode::kLimitExceeded:
      return Outcome::kLimitExceeded;
    default:
      return result.data.empty() ? Outcome::kSetupFailed : Outcome::kExited;
  }
}

ToolError TooManyPorts() {
  return {.code = ErrorCode::kBusy,
          .message = fmt::format("jobs have {} ports served together at most", kMaxPorts),
          .ai_message = "Stop a job whose ports are not needed (job, action stop).",
          .details = {}};
}

std::string UrlOf(const JobPort& port) {
  return "http://127.0.0.1:" + std::to_string(port.outer()) + "/";
}

ToolError TooManyJobs() {
  return {.code = ErrorCode::kBusy,
          .message = "too many jobs run already",
          .ai_message = "job lists them, and ends those that are not needed (action stop).",
          .details = {}};
}

}  // namespace

const char* Job::State() const {
  if (!ended) return "running";
  if (!result) return "lost";
  const Outcome outcome = OutcomeOf(*result);
  return outcome == Outcome::kSetupFailed ? "lost" : OutcomeName(outcome);
}

void Job::Write(JsonWriter& writer) const {
  writer.BeginObject().Field("id", id).Field("tool", tool).Field("command", command);
  writer.Field("state", State()).Field("started_at", UtcText(started));
  if (ended) writer.Field("ended_at", UtcText(*ended));
  if (result && result->ending && result->ending->outcome == Outcome::kExited) {
    writer.Field("exit_code", result->ending->exit_code);
  }
  writer.Field("expires_at", UtcText(expires));
  if (!ports_.empty()) {
    writer.Key("ports").BeginArray();
    for (const auto& port : ports_) {
      writer.BeginObject().Field("port", std::uint64_t{port->inner()});
      writer.Field("url", UrlOf(*port)).EndObject();
    }
    writer.EndArray();
  }
  if (!uri.empty()) writer.Key("uris").BeginObject().Field("output", uri).EndObject();
  writer.EndObject();
}

std::string DataOfJob(const Job& job) {
  JsonWriter writer;
  writer.BeginObject().Key("job");
  job.Write(writer);
  writer.EndObject();
  return std::move(writer).Take();
}

ToolResult HandleOf(const Job& job) {
  ToolResult result;
  result.data = DataOfJob(job);
  result.text = "job " + job.id + ": " + job.command + ": " + job.State() +
                "; the tool job reads its output, awaits and stops it\n";
  for (const auto& port : job.ports()) {
    result.text += "port " + std::to_string(port->inner()) + ": " + UrlOf(*port) + "\n";
  }
  return result;
}

Task<bool> Job::Change(uv_loop_t* loop, std::chrono::milliseconds patience, CancelSource& cancel) {
  Completion<bool> changed;
  const auto place = waiting_.insert(waiting_.end(), &changed);
  // Whatever comes first takes it out of the list, so that nothing comes second.
  const auto leave = [&] {
    const bool waits = std::ranges::find(waiting_, &changed) != waiting_.end();
    if (waits) waiting_.erase(place);
    return waits;
  };
  const Finally gone([&] {
    cancel.Forget();
    leave();
  });
  const auto give_up = [&] {
    if (leave()) changed.Set(false);
  };
  TimerHandle timer(loop);
  timer.Start(patience, give_up);
  cancel.OnCancel(give_up);
  const bool more = co_await changed;
  co_return more;
}

void Job::Wake() {
  for (Completion<bool>* one : std::exchange(waiting_, {})) one->Set(true);
}

void Job::Stop() {
  if (call_ != nullptr) call_->cancel.Cancel();
}

void Job::Begins(std::string what) {
  command = std::move(what);
  started = updated = Now();
  begun_at_ = std::chrono::steady_clock::now();
  const auto wall_time = call_->policy->limits.wall_time;
  expires = started + kKeepJobs + std::chrono::ceil<std::chrono::seconds>(wall_time);
}

void Job::OpenLog() {
  if (log_ != nullptr || log_failed_ || call_ == nullptr) return;
  auto log = store_->Begin(call_->policy->limits.output_total / kLogShare);
  log_failed_ = !log;
  if (!log) return;
  log_ = *std::move(log);
  Log(std::exchange(head_, {}));
}

// What cannot be kept is counted as lost, as for any output.
void Job::Log(std::string_view bytes) {
  if (log_ != nullptr) {
    (void)store_->Append(*log_, bytes);
  } else if (!log_failed_) {
    head_ += bytes;
  }
}

void Job::Output::OnOutput(Stream stream, std::string_view bytes) {
  if (job_.head_.size() + bytes.size() > kMostInMemory) job_.OpenLog();
  job_.Log(bytes);
  if (job_.listed_) job_.updated = Now();
  job_.Wake();
  if (job_.beside_ != nullptr) job_.beside_->OnOutput(stream, bytes);
}

std::shared_ptr<Job> Jobs::Prepare(std::string_view tool, CallContext& call) {
  auto job = std::make_shared<Job>();
  job->id = RandomHex(kIdBytes);
  job->tool = tool;
  job->store_ = &call.results;
  job->call_ = &call;
  call.sink = &job->output_;
  return job;
}

std::expected<std::shared_ptr<Job>, ToolError> Jobs::Begin(std::string_view tool,
                                                           CallContext& call) {
  if (begun_ >= kMaxJobs) return std::unexpected(TooManyJobs());
  auto job = Prepare(tool, call);
  ++begun_;
  return job;
}

std::optional<ToolError> Jobs::Serve(Job& job, std::span<const std::uint16_t> ports) {
  if (served_ + ports.size() > kMaxPorts) return TooManyPorts();
  std::vector<std::unique_ptr<JobPort>> served;
  for (const std::uint16_t port : ports) {
    auto open = JobPort::Open(job.call_->runner.loop(), port, [&job] { return job.network(); });
    if (!open) {
      const std::string why = "ports are not served: " + open.error().Message();
      auto shortage = Shortage(why, open.error().sys_errno);
      return shortage ? std::move(*shortage) : SandboxUnavailable(why);
    }
    served.push_back(*std::move(open));
  }
  job.ports_ = std::move(served);
  served_ += job.ports_.size();
  return std::nullopt;
}

void Jobs::Start(const std::shared_ptr<Job>& job, std::string command) {
  job->Begins(std::move(command));
  Add(job);
}

bool Jobs::List(const std::shared_ptr<Job>& job) {
  if (begun_ >= kMaxJobs) return false;
  Add(job);
  ++begun_;
  return true;
}

void Jobs::Add(const std::shared_ptr<Job>& job) {
  job->OpenLog();
  if (job->log_ != nullptr) {
    job->uri = job->store_->Publish(job->log_, job->command + ": output of the job");
  }
  jobs_.push_front(job);
  job->listed_ = true;
  Forget();
}

void Jobs::End(Job& job, const ToolResult& result) {
  --begun_;
  served_ -= job.ports_.size();
  job.ports_.clear();
  job.call_ = nullptr;
  job.beside_ = nullptr;
  job.ended = job.updated = Now();
  job.expires = *job.ended + kKeepJobs;
  job.took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - job.begun_at_);
  try {
    job.result = result;
  } catch (const std::bad_alloc&) {
    job.result.reset();  // without memory there is none
  }
  job.Wake();
}

std::shared_ptr<Job> Jobs::Find(std::string_view id) {
  Forget();
  const auto found = std::ranges::find(jobs_, id, [](const auto& job) { return job->id; });
  return found == jobs_.end() ? nullptr : *found;
}

const std::list<std::shared_ptr<Job>>& Jobs::all() {
  Forget();
  return jobs_;
}

// The oldest first.
void Jobs::Forget() {
  const UtcSeconds now = Now();
  std::size_t ended = 0;
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    const bool over = (*it)->ended.has_value();
    const bool too_many = over && ++ended > kMaxJobs;
    it = too_many || (over && (*it)->expires <= now) ? jobs_.erase(it) : std::next(it);
  }
}

}  // namespace pa
