// What a confined process costs beyond the process: the real worker with the real order of a call,
// and bubblewrap.
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include "base/file.h"
#include "sandbox/enforcement.h"
#include "sandbox/prepared.h"
#include "supervisor/loop/loop.h"
#include "supervisor/run/spawn_worker.h"
#include "tests/bench/measure.h"
#include "tests/bench/sections.h"
#include "tests/support/project.h"
#include "worker/spec.h"
#include "worker/status.h"

namespace pa::bench {
namespace {

constexpr int kRounds = 300;
constexpr std::size_t kHeld = 200U << 20;
constexpr int kSeccompFd = 10;

template <typename T>
T Must(Result<T> result) {
  if (!result) GiveUp(result.error().Message());
  return std::move(*result);
}

enum class Walls { kLandlock, kNamespacesToo };

// Runs /bin/true as the supervisor would, with what it would make once kept.
class ConfinedTrue {
 public:
  explicit ConfinedTrue(Walls walls = Walls::kLandlock) {
    worker::WorkerSpec spec = Order();
    spec.executable = "/bin/true";
    spec.argv = {"true"};
    spec.tmp_dir = tmp_.path() / "tmp";
    std::filesystem::create_directory(spec.tmp_dir);
    sandbox::Confinement confinement;
    confinement.paths = std::exchange(spec.paths, {});
    if (walls == Walls::kNamespacesToo) UseNamespaces(spec, confinement);
    confinement.paths.push_back({spec.tmp_dir, sandbox::kReadWriteExecute, "TMPDIR"});
    grants_ = confinement.paths.size();
    prepared_ = Must(sandbox::PrepareLandlock(confinement));
    seccomp_ = spec.seccomp_program;
    if (walls == Walls::kLandlock) {
      launch_.program =
          std::make_shared<const std::string>(std::exchange(spec.seccomp_program, ""));
    }
    spec.has_ruleset_fd = true;
    spec_ = Must(worker::EncodeSpec(spec));
    cwd_.reset(open(project_.root().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  void Run() {
    const SpawnOrder order{.launch = launch_,
                           .spec = spec_,
                           .cwd = cwd_.get(),
                           .ruleset = prepared_.landlock_ruleset.get(),
                           .stdin_data = std::nullopt};
    std::optional<Result<SpawnedWorker>> answer;
    Detach(SpawnWorker(launchers_, order),
           [&](Result<SpawnedWorker> spawned) { answer.emplace(std::move(spawned)); });
    while (!answer) uv_run(loop_.get(), UV_RUN_ONCE);
    const SpawnedWorker worker = Must(std::move(*answer));
    WaitFor(worker.pid, "worker");
    worker::WorkerStatus status;
    while (recv(worker.control.get(), &status, sizeof status, 0) == sizeof status) continue;
    if (status.kind != worker::StatusKind::kEnded || status.exit_code != 0) GiveUp("worker");
  }

  // As the supervisor does it between two calls.
  void AskAhead() { launchers_.AskAhead(); }

  std::size_t grants() const { return grants_; }
  const std::string& seccomp() const { return seccomp_; }
  std::string directory() const { return project_.root(); }

 private:
  worker::WorkerSpec Order() const {
    const std::string file = project_.outside() / "spec";
    RunBare({.command = {testing::BuiltProgram("PA_SERVER"), "call", "make", R"({"target":"noop"})",
                         "--root", project_.root(), "--enable", "make", "--write-spec", file},
             .environment = {"HOME=" + project_.home().string()},
             .directory = project_.root()});
    return Must(worker::DecodeSpec(Must(ReadFile(file, worker::kMaxSpecBytes))));
  }

  // As SlotPool does it, with all that is not the project in the view.
  void UseNamespaces(worker::WorkerSpec& spec, sandbox::Confinement& confinement) {
    spec.shm_dir = tmp_.path() / "shm";
    std::filesystem::create_directory(spec.shm_dir);
    sandbox::ViewOrder order{.grants = {}, .names = {"/bin", "/lib", "/lib64"}, .places = {"/tmp"}};
    std::vector<sandbox::PathGrant> own = {
        {spec.tmp_dir, sandbox::kReadWrite, "", sandbox::Symlinks::kRefuse}};
    for (const sandbox::PathGrant& grant : confinement.paths) {
      (grant.path == project_.root() ? own : order.grants).push_back(grant);
    }
    const auto view = std::make_shared<const sandbox::View>(sandbox::PlanView(order));
    spec.mounts = sandbox::PlanOwnMounts(*view, own);
    spec.mounts.push_back({sandbox::MountKind::kWritable, spec.shm_dir, "/dev/shm"});
    confinement.paths.push_back({spec.shm_dir, sandbox::kReadWrite, "shm"});
    launch_.view = view;
    spec.seccomp_program = *Must(
        sandbox::CompileSeccomp(sandbox::SeccompProfile::kBuild, sandbox::Network::kNone,
                                sandbox::DetectKernel().landlock_abi, sandbox::Sight::kOwnView));
  }

  testing::Project project_{".PHONY: noop\nnoop:\n\t@:\n"};
  testing::TempDir tmp_;
  sandbox::PreparedSandbox prepared_;
  std::string spec_;
  std::string seccomp_;
  LaunchKind launch_;
  Loop loop_;
  Launchers launchers_{loop_.get(), testing::BuiltProgram("PA_WORKER")};
  std::size_t grants_ = 0;
  UniqueFd cwd_;
};

// Nothing but posix_spawn and wait; `seccomp` as descriptor kSeccompFd when there is one.
void SpawnAndWait(const std::vector<std::string>& command, int seccomp = -1) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (seccomp >= 0) {
    lseek(seccomp, 0, SEEK_SET);
    posix_spawn_file_actions_adddup2(&actions, seccomp, kSeccompFd);
  }
  pid_t pid = -1;
  const int code = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) GiveUp("posix_spawn " + command[0]);
  WaitFor(pid, command[0]);
}

void Bare() { SpawnAndWait({"/bin/true"}); }

// Agents pause between calls, and then the next worker is forked. So whatever is compared has
// pauses.
Action AfterPause(std::function<void()> work) {
  return [work = std::move(work)] {
    std::this_thread::sleep_for(kAskAheadAfter);
    return Timed(work)();
  };
}

Action AfterPause(ConfinedTrue& confined) {
  return [&confined] {
    confined.AskAhead();
    return AfterPause([&confined] { confined.Run(); })();
  };
}

void AgainstBubblewrap(Report& report, ConfinedTrue& confined, std::optional<Goal> least_goal,
                       std::optional<Goal> alike_goal) {
  const std::string bwrap = OnPath("bwrap");
  if (bwrap.empty()) return report.Skip("beside bubblewrap", "bwrap is not installed");
  const std::vector<std::string> least = {bwrap,   "--unshare-user", "--ro-bind", "/",
                                          "/",     "--dev",          "/dev",      "--proc",
                                          "/proc", "/bin/true"};
  const std::string here = confined.directory();
  const std::vector<std::string> alike = {bwrap,
                                          "--unshare-all",
                                          "--die-with-parent",
                                          "--new-session",
                                          "--clearenv",
                                          "--ro-bind",
                                          "/",
                                          "/",
                                          "--dev",
                                          "/dev",
                                          "--proc",
                                          "/proc",
                                          "--tmpfs",
                                          "/tmp",
                                          "--bind",
                                          here,
                                          here,
                                          "--chdir",
                                          here,
                                          "--seccomp",
                                          std::to_string(kSeccompFd),
                                          "/bin/true"};
  const UniqueFd seccomp = Must(SealedMemfd("seccomp", confined.seccomp()));
  const std::vector<Samples> times =
      Interleave(kRounds / 2,
                 {AfterPause(confined), AfterPause(Bare), AfterPause([&] { SpawnAndWait(least); }),
                  AfterPause([&] { SpawnAndWait(alike, seccomp.get()); })});
  const double ours = MedianDifference(times[0], times[1]);
  const auto add = [&](const char* against, const Samples& theirs, std::optional<Goal> goal) {
    const double extra = MedianDifference(theirs, times[1]);
    report.Add({.name = "extra",
                .unit = "ms",
                .ours = ours,
                .reference = extra,
                .against = against,
                .ratio = ours / extra,
                .goal = goal});
  };
  add("bubblewrap, least", times[2], least_goal);
  add("bubblewrap, comparable", times[3], alike_goal);
}

// In turns of blocks: filling the memory takes longer than a block.
void Flatness(Report& report, ConfinedTrue& confined) {
  Samples small;
  Samples large;
  for (int block = 0; block < 16; ++block) {
    void* held = nullptr;
    if (block % 2 == 1) {
      held = mmap(nullptr, kHeld, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (held == MAP_FAILED) GiveUp("mmap");
      memset(held, 1, kHeld);
    }
    const std::vector<Samples> times =
        Interleave(kRounds / 2, {AfterPause(confined), AfterPause(Bare)});
    if (held != nullptr) munmap(held, kHeld);
    (held != nullptr ? large : small).push_back(MedianDifference(times[0], times[1]));
  }
  report.Add({.name = "extra, holding 200 MB",
              .unit = "ms",
              .ours = Median(large),
              .reference = Median(small),
              .against = "holding little",
              .ratio = MedianRatio(large, small),
              .goal = AtMost(1.1)});
}

// What nobody waits for while there are pauses: namespaces are made for the next command then.
void WithoutPauses(Report& report, ConfinedTrue& confined) {
  constexpr int kInARow = 20;
  const auto in_a_row = [&](const std::function<void()>& work) {
    return [&work] {
      const auto start = Clock::now();
      for (int i = 0; i < kInARow; ++i) work();
      return MillisecondsSince(start) / kInARow;
    };
  };
  const std::function<void()> ours = [&] { confined.Run(); };
  const std::function<void()> bare = Bare;
  const std::vector<Samples> times = Interleave(20, {in_a_row(ours), in_a_row(bare)});
  report.Add({.name = "extra, without pauses",
              .unit = "ms",
              .ours = MedianDifference(times[0], times[1])});
}

// With --unshare-all bubblewrap makes the same namespaces.
void NamespacesCost(Report& report) {
  ConfinedTrue confined(Walls::kNamespacesToo);
  report.Section("/bin/true in a worker with namespaces, the network's among them");
  const std::vector<Samples> times = Interleave(kRounds, {AfterPause(confined), AfterPause(Bare)});
  report.Add({.name = "extra, with the guardian",
              .unit = "ms",
              .ours = MedianDifference(times[0], times[1]),
              .goal = OursAtMost(1.5)});
  WithoutPauses(report, confined);
  AgainstBubblewrap(report, confined, std::nullopt, AtMost(1 / 2.5));
}

}  // namespace

void WorkerCost(Report& report) {
  ConfinedTrue confined;
  report.Section("/bin/true in a worker, " + std::to_string(confined.grants()) + " grants");
  const std::vector<Samples> times = Interleave(kRounds, {AfterPause(confined), AfterPause(Bare)});
  report.Add({.name = "spawn to end",
              .unit = "ms",
              .ours = Median(times[0]),
              .reference = Median(times[1]),
              .against = "posix_spawn",
              .ratio = MedianRatio(times[0], times[1])});
  report.Add({.name = "extra, with the guardian",
              .unit = "ms",
              .ours = MedianDifference(times[0], times[1]),
              .goal = OursAtMost(0.5)});
  AgainstBubblewrap(report, confined, AtMost(0.2), AtMost(0.2));
  Flatness(report, confined);
  NamespacesCost(report);
}

}  // namespace pa::bench
