#include "supervisor/engine/engine.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "policy/decide.h"
#include "policy/path.h"
#include "policy/trust_anchors.h"
#include "policy/warnings.h"
#include "policy/working_directory.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/engine/dispatch.h"
#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/pause.h"
#include "supervisor/loop/within_memory.h"
#include "supervisor/run/repository_finder.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/tools/makefile_text.h"
#include "supervisor/tools/registry.h"
#include "supervisor/tools/undo_edits.h"

namespace pa {
namespace {

using std::chrono::steady_clock;

// For a journal that another server holds, which may have been stopped.
constexpr std::chrono::milliseconds kLookAgain{50};
constexpr std::chrono::milliseconds kLearnAfter{200};
constexpr std::chrono::seconds kPatience{60};

Task<ToolResult> Undo(Result<FoundEdits> found, CallContext& call) {
  Task<UndoneEdits> task = UndoFoundEdits(std::move(found), call);
  UndoneEdits undone = co_await task;
  ToolResult result;
  result.text = std::to_string(undone.edits) + " unfinished edits are undone";
  result.warnings = std::move(undone.warnings);
  co_return result;
}

}  // namespace

sandbox::KernelFeatures ObserveKernel(EngineParts parts, const Environment& environment) {
  const policy::PolicyPtr policy = parts.policy;
  const auto directory = policy::ValidateWorkingDirectory(*policy, "");
  if (!directory || policy->namespaces == sandbox::Namespaces::kOff) return sandbox::DetectKernel();
  // Any read-only tool: what it may see is not asked.
  const policy::Decision decision = policy::Decide(
      *policy, {.tool = "make_targets", .directory = &*directory, .read_only = true});
  const auto* permission = std::get_if<policy::Permission>(&decision);
  if (permission == nullptr) return sandbox::DetectKernel();
  const policy::Allow allow = permission->For({.purpose = policy::Purpose::kInspect});
  Loop loop;
  Engine engine(loop.get(), std::move(parts), environment);
  Detach(engine.runner().Probe(*directory, allow, policy),
         [&](const Execution&) { engine.runner().Shutdown([] {}); });
  loop.Run();
  return engine.runner().Kernel();
}

Engine::Engine(uv_loop_t* loop, EngineParts parts, const Environment& environment)
    : loop_(loop),
      environment_(environment),
      policy_(std::move(parts.policy)),
      tmp_base_(std::move(parts.tmp_base)),
      results_(tmp_base_, policy_->limits.output_total),
      growing_(loop),
      learning_(loop),
      result_files_(tmp_base_),
      runner_(loop,
              {.worker_path = std::move(parts.worker),
               .tmp_base = tmp_base_,
               .state_home = std::move(parts.state_home),
               .spawner = parts.spawner,
               .on_spec = std::move(parts.on_spec)},
              results_),
      targets_(
          [this] {
            if (on_targets_) on_targets_();
          },
          [this](const std::string& directory, std::span<const std::string> files) {
            if (watch_) watch_->Watch(directory, files);
          }),
      audit_(loop),
      services_{.loop = loop,
                .policy = [this] { return policy_; },
                .runner = runner_,
                .targets = targets_,
                .results = results_,
                .jobs = jobs_,
                .result_files = result_files_,
                .after_start =
                    [this](Task<ToolResult> work, std::string_view tool, CancelSource& cancel) {
                      return AfterStart(std::move(work), tool, cancel);
                    },
                .ambient = environment_,
                .tools = AllTools(),
                .audit = audit_,
                .rate = rate_,
                .counts = counts_} {}

void Engine::WhenTargetsChange(std::function<void()> callback) {
  on_targets_ = std::move(callback);
  watch_.emplace(loop_, [this](const std::string& directory) {
    // Where nobody has asked yet, nothing is run; that the Makefile is another one is told.
    if (targets_.Knows(directory)) return DiscoverAgain(directory);
    Detach(IsAnotherMakefile(directory), [this](bool another) {
      if (another) on_targets_();
    });
  });
  WatchRoots();
}

void Engine::WhenResultGrows(std::function<void(const std::string& uri)> callback) {
  growing_.Unref();
  results_.WhenGrown([this, callback = std::move(callback)](const std::string& uri) {
    grown_.insert(uri);
    if (growing_.is_active()) return;
    growing_.Start(kGrowth, [this, callback] {
      for (const std::string& one : std::exchange(grown_, {})) callback(one);
    });
  });
}

void Engine::WatchRoots() {
  for (const std::string& root : policy_->roots) watch_->Watch(root, {});
  // Whoever has just started the server wants an answer first. What changes before that is told.
  learning_.Unref();
  learning_.Start(kLearnAfter, [this] {
    for (const std::string& root : policy_->roots) Detach(LearnMakefile(root), [](bool) {});
  });
}

void Engine::WarnOfSharedFiles() {
  if (std::exchange(looked_for_shared_, true)) return;
  for (const std::string& root : policy_->roots) {
    JanitorOrder order{.chore = kFindSharedFile, .read = {root}};
    Detach(Ask<std::optional<std::string>>(runner_.janitor(), std::move(order), root),
           [](const Result<std::optional<std::string>>& file) {
             // Whoever ends meanwhile has nobody to warn.
             if (!file && file.error().sys_errno == ECANCELED) return;
             if (!file) return LogWarning("hard links: " + file.error().Message());
             if (*file) LogWarning(policy::SharedFileWarning(**file).Format());
           });
  }
}

// One that changes before it is read is another one, when that is asked next.
Task<bool> Engine::LearnMakefile(std::string root) {
  makefiles_.erase(root);
  const UniqueFd fd(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto file = fd ? FindMakefile(fd.get()) : std::nullopt;
  std::string present;
  if (file) {
    Task<Result<std::string>> reading = ReadMakefile(runner_.janitor(), {root, fd.get()}, *file);
    const Result<std::string> text = co_await reading;
    const auto now = FindMakefile(fd.get());
    if (!text || !now || now->name != file->name || now->stamp != file->stamp) co_return false;
    present = file->name + " " + Hex(Sha256Of(*text));
  }
  makefiles_.try_emplace(root, present);
  co_return true;
}

// Than when it was last asked.
Task<bool> Engine::IsAnotherMakefile(std::string directory) {
  std::string present;
  const UniqueFd fd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (const auto file = fd ? FindMakefile(fd.get()) : std::nullopt) {
    Task<Result<std::string>> reading =
        ReadMakefile(runner_.janitor(), {directory, fd.get()}, *file);
    const Result<std::string> text = co_await reading;
    // What cannot be read may be another one each time. At the end of the server nobody asks.
    if (!text) co_return text.error().sys_errno != ECANCELED;
    present = file->name + " " + Hex(Sha256Of(*text));
  }
  co_return std::exchange(makefiles_[directory], present) != present;
}

void Engine::FollowMounts() {
  mounts_.emplace(loop_, [this] {
    runner_.Renew();
    if (watch_) watch_->Renew();
  });
}

std::shared_ptr<Engine::OwnCall> Engine::NewOwnCall() {
  auto call = std::make_shared<OwnCall>();
  call->context.emplace(NewContext(services_, call->cancel));
  return call;
}

// Until nothing is left of it, ours or another server's: whoever reads or builds meanwhile would
// see half an edit.
Task<bool> Engine::RestoreEdits(CallContext& call) {
  const auto deadline = steady_clock::now() + kPatience;
  std::vector<std::string> busy;
  for (;;) {
    Task<Result<FoundEdits>> finding = FindEdits(std::move(busy), call);
    Result<FoundEdits> found = co_await finding;
    if (call.cancel.cancelled()) co_return false;  // the server ends
    busy = found ? found->busy : std::vector<std::string>();
    if (!found || !found->edits.empty() || !found->unreadable.empty()) {
      const JsonValue arguments = JsonValue::Object({{"undo", JsonValue::Bool(true)}});
      CallOrder order{.caller = {.session = "", .endpoint = "start of the server"},
                      .tool = "edit",
                      .arguments = &arguments};
      Task<ToolResult> task =
          DispatchOwn(services_, std::move(order), Undo(std::move(found), call), call);
      [[maybe_unused]] const ToolResult undone = co_await task;
    }
    if (busy.empty()) co_return true;
    if (steady_clock::now() >= deadline) break;
    Task<bool> pause = Pause(loop_, kLookAgain);
    [[maybe_unused]] const bool over = co_await pause;
  }
  LogWarning(
      "edit: calls begin although another server holds the journal of an edit for a minute: " +
      busy.front());
  co_return false;
}

void Engine::UndoEdits() {
  result_files_.Sweep(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  start_call_ = NewOwnCall();
  start_.Close();
  const auto no_memory = [] {
    LogWarning("edit: not enough memory to look for unfinished edits");
    return false;
  };
  Detach(WithinMemory(RestoreEdits(*start_call_->context), no_memory),
         [this](bool) { start_.Open(); });
}

// False: cancelled before. Whichever comes first; the gate cannot forget who waits.
Task<bool> Engine::MayBegin(CancelSource& cancel) {
  if (!start_.closed()) co_return true;
  const auto waiting = std::make_shared<Completion<bool>>();
  start_.WhenOpen([weak = std::weak_ptr(waiting)] {
    if (const auto who = weak.lock()) who->Set(true);
  });
  cancel.OnCancel([&] { waiting->Set(false); });
  Completion<bool>& decided = *waiting;
  const bool begins = co_await decided;
  cancel.Forget();
  co_return begins;
}

Task<ToolResult> Engine::AfterStart(Task<ToolResult> work, std::string_view tool,
                                    CancelSource& cancel) {
  Task<bool> waiting = MayBegin(cancel);
  const bool begins = co_await waiting;
  if (!begins) co_return RefusedCall(Cancelled(tool));
  ToolResult result = co_await work;
  WarnOfSharedFiles();
  co_return result;
}

void Engine::Shutdown(std::function<void()> done) {
  if (start_call_) start_call_->cancel.Cancel();
  runner_.Shutdown(std::move(done));
}

// As if a client had asked: the same tool, policy and confinement; the cache tells what has
// changed.
void Engine::DiscoverAgain(const std::string& directory) {
  const JsonValue arguments =
      JsonValue::Object({{"working_directory", JsonValue::String(directory)}});
  const std::shared_ptr<OwnCall> call = NewOwnCall();
  CallOrder order{.caller = {.session = "", .endpoint = "watched Makefile"},
                  .tool = "make_targets",
                  .arguments = &arguments};
  Detach(Dispatch(services_, std::move(order), *call->context), [call](const ToolResult&) {});
}

std::vector<std::string> WrittenDirectories(const policy::Policy& policy,
                                            const std::string& state_home,
                                            const std::string& tmp_base) {
  std::vector<std::string> directories;
  for (const std::string_view name : kServersDirectories) {
    Result<std::string> path = FindStateDirectory(policy, state_home, name);
    if (path) directories.push_back(*std::move(path));
  }
  for (const std::string& one :
       {policy.caches.base, policy.audit.Directory(), ResultFiles(tmp_base).directory()}) {
    if (!one.empty()) directories.push_back(one);
  }
  return directories;
}

std::vector<std::string> Engine::GiveUpAllButOwn() {
  std::vector<std::string> own = WrittenDirectories(*policy_, runner_.state_home(), tmp_base_);
  if (const std::string cgroup = runner_.Cgroup(); !cgroup.empty()) own.push_back(cgroup);
  const std::string instance = runner_.Instance();
  // On a disk that is full, say, there is none yet.
  if (instance.empty())
    LogWarning("the server can write all of " + tmp_base_ +
               ", where it has no directory of its own yet");
  own.push_back(instance.empty() ? tmp_base_ : instance);
  results_.UseDirectory(own.back());
  own_ = own;
  ports_ = policy_->job_ports;
  return own;
}

Result<void> Engine::CheckPolicy(const policy::Policy& policy) const {
  if (const auto place = policy::WhereCommandsWrite(policy, tmp_base_)) {
    return std::unexpected(
        Error("commands could write the server's TMPDIR, in " + *place, tmp_base_, EPERM));
  }
  if (!own_) return {};
  for (const std::string& directory : WrittenDirectories(policy, runner_.state_home(), tmp_base_)) {
    const auto holds = [&](const std::string& one) { return policy::IsBeneath(directory, one); };
    if (std::ranges::any_of(*own_, holds)) continue;
    return std::unexpected(
        Error("the server could not write there since it confined itself:", directory, EPERM));
  }
  if (!policy.job_ports || ports_) return {};
  return std::unexpected(
      Error("the server could not serve ports since it confined itself:", "jobs.ports", EPERM));
}

void Engine::ReplacePolicy(policy::PolicyPtr policy) {
  policy_ = std::move(policy);
  runner_.Follow(policy_);
  runner_.Renew();
  results_.SetQuota(policy_->limits.output_total);
  if (watch_) WatchRoots();
}

}  // namespace pa
