// Jobs: calls that go on after their request was answered, at once (`background: true`) or after a
// while (jobs.detach_after).
//
//    auto job = jobs.Begin("make", call);                 // BUSY: too many run
//    jobs.Start(*job, "make test");                       // allowed; from now on it is listed
//    ...
//    jobs.End(**job, result);
//
//    auto job = jobs.Prepare("make", call);               // what may become one
//    job->Begins("make test");                            // allowed
//    if (jobs.List(job)) ...                              // it is one, and needs its End
//
// A job has one log of all that its commands print, in the order in which it came, in the result
// store. What has ended is kept for kKeepJobs, at most kMaxJobs of them. Jobs end with the call
// that runs them; nothing of them outlives the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/jobs/job_port.h"
#include "supervisor/loop/task.h"
#include "supervisor/results/result_files.h"
#include "supervisor/results/result_store.h"
#include "supervisor/run/command_network.h"
#include "supervisor/run/output_sink.h"

namespace pa {

inline constexpr std::size_t kMaxJobs = 64;  // that run, and that have ended
inline constexpr std::chrono::hours kKeepJobs{1};
inline constexpr std::size_t kMaxPorts = 32;  // of all jobs together: each holds descriptors

class Job {
 public:
  std::string id;
  std::string tool;
  std::string command;  // for people: `make test`
  UtcSeconds started;
  UtcSeconds expires;  // then it is forgotten
  std::optional<UtcSeconds> ended;
  UtcSeconds updated;                 // when it began, printed something, or ended
  std::optional<ToolResult> result;   // once it has ended: that of the call
  std::chrono::microseconds took{0};  // from its beginning to its end
  std::string uri;                    // of the log; "" = there is none

  // `running`, `lost` (it could not be run), or the outcome: `exited`, `cancelled`, ...
  const char* State() const;
  const StoredOutput* log() const { return log_.get(); }
  // {"id","state","started_at",...}
  void Write(JsonWriter& writer) const;
  // Ends when there is more output, when the job has ended, or after `patience`, or with `cancel`.
  Task<bool> Change(uv_loop_t* loop, std::chrono::milliseconds patience, CancelSource& cancel);
  void Stop();  // asks it to end; it ends later
  // The call is allowed and begins; `what` is for people: `make test`.
  void Begins(std::string what);
  bool begun() const { return !command.empty(); }
  bool listed() const { return listed_; }
  const std::vector<std::unique_ptr<JobPort>>& ports() const { return ports_; }
  // The command that it runs now, if that has a network of its own; null: there is none.
  HasOwnNetwork* network() const {
    return call_ == nullptr ? nullptr : call_->record.run.own_network;
  }
  // Who also gets what the commands print, and may hold them back; null: nobody.
  void ShowOutputTo(OutputSink* sink) { beside_ = sink; }

 private:
  friend class Jobs;
  // Gets the output of the commands, into the log.
  class Output final : public OutputSink {
   public:
    explicit Output(Job& job) : job_(job) {}
    void OnOutput(Stream stream, std::string_view bytes) override;
    OutputGate* gate() override { return job_.beside_ == nullptr ? nullptr : job_.beside_->gate(); }

   private:
    Job& job_;
  };

  void Wake();
  void OpenLog();
  void Log(std::string_view bytes);

  Output output_{*this};
  OutputSink* beside_ = nullptr;
  std::vector<std::unique_ptr<JobPort>> ports_;
  // What was printed before there is a log: few calls become jobs, and fewer print much before.
  std::string head_;
  std::chrono::steady_clock::time_point begun_at_;
  bool listed_ = false;
  bool log_failed_ = false;
  ResultStore* store_ = nullptr;
  std::shared_ptr<StoredOutput> log_;
  CallContext* call_ = nullptr;  // null: it has ended
  std::list<Completion<bool>*> waiting_;
};

// {"job":{...}}: the data that names a job.
std::string DataOfJob(const Job& job);
// What a call that begins a job answers.
ToolResult HandleOf(const Job& job);

class Jobs {
 public:
  // Of the call `call`, which outlives the End of what is listed. Its output goes to the job. It is
  // not listed yet.
  static std::shared_ptr<Job> Prepare(std::string_view tool, CallContext& call);
  // The same, counted. BUSY: kMaxJobs run, or may begin once the user has approved them; End counts
  // them out.
  std::expected<std::shared_ptr<Job>, ToolError> Begin(std::string_view tool, CallContext& call);
  // Serves these ports of its network on this machine, from now until its end: all, or none and
  // why. BUSY: jobs have kMaxPorts already, or something is used up. SANDBOX_UNAVAILABLE: this
  // kernel cannot tell whose a connection is.
  std::optional<ToolError> Serve(Job& job, std::span<const std::uint16_t> ports);
  // It is allowed and begins.
  void Start(const std::shared_ptr<Job>& job, std::string command);
  // Of one that was only prepared, and has begun. False: kMaxJobs run.
  bool List(const std::shared_ptr<Job>& job);
  void End(Job& job, const ToolResult& result);

  std::size_t running() const { return begun_; }
  std::shared_ptr<Job> Find(std::string_view id);  // null: there is none
  const std::list<std::shared_ptr<Job>>& all();    // newest first

 private:
  void Forget();
  void Add(const std::shared_ptr<Job>& job);

  std::list<std::shared_ptr<Job>> jobs_;
  std::size_t begun_ = 0;   // and not ended
  std::size_t served_ = 0;  // ports
};

}  // namespace pa
