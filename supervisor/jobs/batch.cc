#include "supervisor/jobs/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <list>
#include <new>
#include <optional>
#include <random>
#include <utility>

#include "base/finally.h"
#include "base/json_writer.h"
#include "supervisor/call/approval.h"
#include "supervisor/jobs/fit_data.h"
#include "supervisor/jobs/inner_call.h"
#include "supervisor/loop/pause.h"
#include "supervisor/loop/within_memory.h"

namespace pa {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{100};  // until a cancel is seen
constexpr std::size_t kLeastShown = 256;    // bytes of the text of one call

// So that calls that were refused together do not come together again: 50 % to 150 % of it.
milliseconds Jittered(milliseconds pause) {
  std::random_device random;
  std::uniform_int_distribution<std::int64_t> percent(50, 150);
  return milliseconds(pause.count() * percent(random) / 100);
}

// An approver for the calls of a batch, which waits until nothing else can run.
class BatchRun final : public Approver {
 public:
  BatchRun(Batch batch, CallContext& call)
      : batch_(std::move(batch)), call_(call), results_(batch_.items.size()) {}

  Task<ToolResult> Run();
  Task<Answer> Ask(std::vector<Question> questions, CallContext& inner) override;

 private:
  struct Waiting {
    std::vector<Question> questions;
    CancelSource& cancel;                // of the call
    Answer said = Answer::kUnavailable;  // once it is in answered_
    Completion<Answer> answer;
  };

  void Pump();
  void Abandon();
  void Say(Answer answer);
  void StartNext();
  Task<bool> RunItem(std::size_t index);
  Task<bool> Wait(milliseconds time);
  Task<ToolResult> CallOnce(std::size_t index);
  void AskAll();
  Task<Answer> AskUser();
  bool MayStart() const { return next_ < batch_.items.size() && !stopped_; }
  void FollowCancel();
  void CancelAll();
  std::string Doing() const;
  ToolResult Finish() const;
  std::string TextOf(std::string_view headline, const std::vector<std::size_t>& shown) const;

  Batch batch_;
  CallContext& call_;
  // Nothing: it has not begun, has not ended, or was abandoned.
  std::vector<std::optional<ToolResult>> results_;
  std::list<InnerCall*> running_;
  std::size_t active_ = 0;  // items that have begun and neither ended nor wait for an answer
  std::size_t next_ = 0;    // item
  bool stopped_ = false;
  bool starved_ = false;  // for want of memory
  bool pumping_ = false;
  bool asking_ = false;
  bool ended_ = false;
  std::list<Waiting*> waiting_;   // for the user to be asked
  std::list<Waiting*> answered_;  // for a place to go on
  std::size_t unfinished_ = 0;
  Completion<bool> done_;
  Clock::time_point began_ = Clock::now();
};

// One place decides what runs next: what was approved first, then what has not begun, then the
// question about all that wait.
void BatchRun::Pump() {
  if (std::exchange(pumping_, true)) return;
  for (;;) {
    const bool place = active_ < batch_.concurrency;
    if (place && !answered_.empty()) {
      Waiting* waiting = answered_.front();
      answered_.pop_front();
      ++active_;
      waiting->answer.Set(waiting->said);
    } else if (place && MayStart()) {
      StartNext();
    } else {
      break;
    }
  }
  pumping_ = false;
  if (stopped_ && !waiting_.empty() && !asking_) return Abandon();
  if (active_ == 0 && answered_.empty() && !waiting_.empty() && !asking_) return AskAll();
  if (unfinished_ == 0 && !MayStart() && !std::exchange(ended_, true)) done_.Set(true);
}

// Nobody is asked about what is not wanted any more.
void BatchRun::Abandon() {
  for (Waiting* one : waiting_) one->cancel.Cancel();
  Say(Answer::kCancel);
  Pump();
}

void BatchRun::Say(Answer answer) {
  for (Waiting* one : waiting_) one->said = answer;
  answered_.splice(answered_.end(), waiting_);  // which needs no memory
}

void BatchRun::StartNext() {
  const std::size_t index = next_++;
  ++active_;
  ++unfinished_;
  const auto without_memory = [this, index] {
    results_[index] = RefusedCall(OutOfMemory());
    return true;
  };
  try {
    Detach(WithinMemory(RunItem(index), without_memory), [this](bool) {
      --active_;
      --unfinished_;
      Pump();
    });
  } catch (const std::bad_alloc&) {  // it has not begun; those that run are waited for
    --active_;
    --unfinished_;
    stopped_ = starved_ = true;
  }
}

Task<ToolResult> BatchRun::CallOnce(std::size_t index) {
  InnerCall inner(call_, fmt::format("call {} of a batch of {}", index, batch_.tool));
  if (call_.approver != nullptr) inner.SetApprover(this);
  const auto place = running_.insert(running_.end(), &inner);
  const Finally gone([&] { running_.erase(place); });
  Task<ToolResult> task = inner.Run(batch_.tool, batch_.items[index]);
  ToolResult result = co_await task;
  co_return result;
}

Task<bool> BatchRun::RunItem(std::size_t index) {
  milliseconds pause = kFirstPause;
  for (std::size_t again = 0;; ++again, pause *= 2) {
    Task<ToolResult> task = CallOnce(index);
    ToolResult result = co_await task;
    const bool busy = result.error && (result.error->code == ErrorCode::kBusy ||
                                       result.error->code == ErrorCode::kRateLimited);
    if (busy && again < batch_.retries && !call_.cancel.cancelled()) {
      Task<bool> wait = Wait(result.error->retry_after.value_or(milliseconds(0)) + Jittered(pause));
      [[maybe_unused]] const bool over = co_await wait;
      continue;
    }
    const bool abandoned = stopped_ && result.error && result.error->code == ErrorCode::kCancelled;
    if (result.error && batch_.stops) stopped_ = true;
    if (!abandoned) results_[index] = std::move(result);
    co_return true;
  }
}

// A cancel ends it soon.
Task<bool> BatchRun::Wait(milliseconds time) {
  const auto end = Clock::now() + time;
  while (!call_.cancel.cancelled() && Clock::now() < end) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    Task<bool> pause = Pause(call_.runner.loop(), std::min(left, kLongestPause));
    [[maybe_unused]] const bool over = co_await pause;
  }
  co_return true;
}

Task<Answer> BatchRun::Ask(std::vector<Question> questions, CallContext& inner) {
  Waiting waiting{.questions = std::move(questions), .cancel = inner.cancel};
  waiting_.push_back(&waiting);
  --active_;
  Pump();
  Completion<Answer>& answer = waiting.answer;
  const Answer said = co_await answer;
  co_return said;
}

Task<Answer> BatchRun::AskUser() {
  Approvals all;
  for (const Waiting* one : waiting_) {
    for (const Question& question : one->questions) all.Want(question);
  }
  const auto asked = Clock::now();
  Task<Answer> task = call_.approver->Ask(all.wanted(), call_);
  const Answer answer = co_await task;
  call_.record.approvals.push_back(
      {.answer = AnswerName(answer),
       .rule = all.wanted().front().rule,
       .waited = std::chrono::duration_cast<milliseconds>(Clock::now() - asked)});
  co_return answer;
}

// Whatever goes on may end the batch, and it is gone: so it goes on last of all, here and below.
void BatchRun::AskAll() {
  asking_ = true;
  const auto said = [this](Answer answer) {
    asking_ = false;
    Say(answer);
    FollowCancel();  // the question has listened meanwhile
    Pump();
  };
  try {
    Detach(WithinMemory(AskUser(), [] { return Answer::kUnavailable; }), said);
  } catch (const std::bad_alloc&) {
    said(Answer::kUnavailable);
  }
}

void BatchRun::FollowCancel() {
  if (call_.cancel.cancelled()) return CancelAll();
  call_.cancel.OnCancel([this] {
    CancelAll();
    Pump();
  });
}

// Those that have ended with it are noted; nothing goes on meanwhile.
void BatchRun::CancelAll() {
  stopped_ = true;
  const bool pumping = std::exchange(pumping_, true);
  const auto goes_on = [](const InnerCall* inner) { return !inner->cancelled(); };
  for (auto next = running_.begin(); next != running_.end();) {
    next = std::ranges::find_if(running_, goes_on);
    if (next != running_.end()) (*next)->Cancel();
  }
  pumping_ = pumping;
}

std::string BatchRun::Doing() const {
  const auto ended = std::ranges::count_if(
      results_, [](const std::optional<ToolResult>& one) { return one.has_value(); });
  std::string text =
      fmt::format("{} of {} calls of {} have ended", ended, results_.size(), batch_.tool);
  if (asking_) text += "; waiting for the user's approval";
  return text;
}

Task<ToolResult> BatchRun::Run() {
  // Whatever ends it: nobody is to look for it afterwards.
  const Finally gone([this] {
    call_.cancel.Forget();
    call_.record.doing = nullptr;
  });
  call_.record.doing = [this] { return Doing(); };
  FollowCancel();
  Pump();
  Completion<bool>& done = done_;
  [[maybe_unused]] const bool all = co_await done;
  co_return Finish();
}

void WriteItem(JsonWriter& writer, std::size_t index, const ToolResult& result) {
  writer.BeginObject().Field("index", std::uint64_t{index}).Field("success", !result.error);
  if (!result.data.empty()) writer.Key("data").Raw(result.data);
  if (result.error) WriteError(writer.Key("error"), *result.error);
  if (!result.result_uri.empty()) writer.Field("result_uri", result.result_uri);
  if (!result.warnings.empty()) {
    writer.Key("warnings").BeginArray();
    for (const std::string& warning : result.warnings) writer.String(warning);
    writer.EndArray();
  }
  writer.EndObject();
}

std::string BatchRun::TextOf(std::string_view headline,
                             const std::vector<std::size_t>& shown) const {
  std::string text = std::string(headline) + "\n";
  const auto room = static_cast<std::size_t>(call_.policy->limits.output_inline);
  const std::size_t each = std::max(kLeastShown, room / std::max<std::size_t>(shown.size(), 1));
  for (const std::size_t index : shown) {
    text += fmt::format("--- [{}] ---\n{}", index, CutText(results_[index]->text, each, ""));
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

ToolResult BatchRun::Finish() const {
  ToolResult result;
  std::vector<std::size_t> failures;
  std::vector<std::size_t> shown;
  std::size_t ended = 0;
  JsonWriter rows;
  rows.BeginArray();
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (!results_[i]) continue;
    const ToolResult& one = *results_[i];
    ++ended;
    if (one.error) failures.push_back(i);
    AddDenials(result, one);
    if (!batch_.detail && !one.error) continue;
    shown.push_back(i);
    WriteItem(rows, i, one);
    std::ranges::copy(one.images, std::back_inserter(result.images));
    std::ranges::copy(one.links, std::back_inserter(result.links));
  }
  rows.EndArray();
  const std::size_t succeeded = ended - failures.size();
  const std::size_t skipped = results_.size() - ended;
  JsonWriter data;
  data.BeginObject().Field("total", std::uint64_t{results_.size()});
  data.Field("succeeded", std::uint64_t{succeeded});
  data.Field("failed", std::uint64_t{failures.size()});
  data.Field("skipped", std::uint64_t{skipped});
  data.Key("results").Raw(std::move(rows).Take()).EndObject();
  result.data = std::move(data).Take();
  const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - began_).count();
  result.text =
      TextOf(fmt::format("batch of {}: {} of {} succeeded, {} failed, {} skipped in {} ms",
                         batch_.tool, succeeded, results_.size(), failures.size(), skipped, took),
             shown);
  if (starved_) {
    result.error = OutOfMemory();
  } else if (call_.cancel.cancelled()) {
    result.error = Cancelled("the batch");
  } else if (!failures.empty()) {
    const std::size_t first = failures.front();
    ToolError error = *results_[first]->error;
    error.message = fmt::format("{} of {} calls failed; call {}: {}", failures.size(),
                                results_.size(), first, error.message);
    JsonWriter details;
    details.BeginObject().Field("index", std::uint64_t{first}).EndObject();
    error.details = std::move(details).Take();
    result.error = std::move(error);
  }
  return result;
}

}  // namespace

Task<ToolResult> RunBatch(Batch batch, CallContext& call) {
  BatchRun run(std::move(batch), call);
  Task<ToolResult> task = run.Run();
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace pa
