#include "worker/worker_test_support.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/file.h"
#include "base/packet.h"
#include "sandbox/prepared.h"

namespace pa::worker {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr uid_t kNobodyId = 65534;

void Check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

struct Pair {
  UniqueFd ours;
  UniqueFd theirs;
};

Pair OutputPipe() {
  int ends[2];
  Check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Pair Control() {
  int ends[2];
  Check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

UniqueFd Memfd(const std::string& content, int seals) {
  UniqueFd fd(memfd_create("spec", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Check(fd && pa::WriteAll(fd.get(), content) && lseek(fd.get(), 0, SEEK_SET) == 0, "memfd");
  Check(fcntl(fd.get(), F_ADD_SEALS, seals) == 0, "F_ADD_SEALS");
  return fd;
}

void BecomeNobody() {
  const bool done = setgroups(0, nullptr) == 0 && setresgid(kNobodyId, kNobodyId, kNobodyId) == 0 &&
                    setresuid(kNobodyId, kNobodyId, kNobodyId) == 0;
  if (!done) _exit(99);
}

// What would be the ceiling of a launcher without views: everything.
UniqueFd RulesetOfAll() {
  const auto prepared = sandbox::PrepareLandlock(
      {.paths = {{"/", sandbox::kReadWriteExecute | sandbox::Access::kDevice, "all"}},
       .network = sandbox::Network::kFull});
  Check(prepared.has_value(), "PrepareLandlock");
  return UniqueFd(fcntl(prepared->landlock_ruleset.get(), F_DUPFD, kFirstStray));
}

[[noreturn]] void BecomeLauncher(const StartOptions& options, int socket, int ceiling) {
  const UniqueFd moved(fcntl(ceiling, F_DUPFD, kFirstStray));  // out of the way
  const UniqueFd own = options.ceiling && !options.ceiling_ruleset ? RulesetOfAll() : UniqueFd();
  const int ruleset = options.ceiling_ruleset ? *options.ceiling_ruleset : own.get();
  const UniqueFd ruleset_above(fcntl(ruleset, F_DUPFD, kFirstStray));
  dup2(socket, kLauncherFd);
  if (moved) dup2(moved.get(), kCeilingFd);
  if (ruleset_above) dup2(ruleset_above.get(), kCeilingRulesetFd);
  if (options.user == User::kNobody) BecomeNobody();
  const std::string path = WorkerPath(options.worker);
  std::vector<char*> env;
  for (const std::string& entry : options.worker_env)
    env.push_back(const_cast<char*>(entry.c_str()));
  env.push_back(nullptr);
  const char* how = options.ceiling ? "--launch-within" : "--launch";
  char* argv[] = {const_cast<char*>(options.worker), const_cast<char*>(how), nullptr};
  execve(path.c_str(), argv, env.data());
  _exit(98);
}

bool ReadSome(UniqueFd& fd, std::string& into) {
  char buffer[65536];
  const ssize_t got = read(fd.get(), buffer, sizeof(buffer));
  if (got > 0) into.append(buffer, static_cast<std::size_t>(got));
  if (got <= 0) fd.reset();
  return got > 0;
}

}  // namespace

Scratch::Scratch(User user) : user_(user) {
  std::string name = fs::temp_directory_path() / "pa-worker-test-XXXXXX";
  Check(mkdtemp(name.data()) != nullptr, "mkdtemp");
  root_ = name;
  for (const std::string& path : {root_, work(), tmp()}) {
    fs::create_directory(path);
    chmod(path.c_str(), 0755);
    Give(path);
  }
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Scratch::Give(const std::string& path) const {
  if (user_ == User::kNobody) Check(chown(path.c_str(), kNobodyId, kNobodyId) == 0, "chown");
}

WorkerSpec Shell(const Scratch& scratch, const std::string& script) {
  using sandbox::Access;
  WorkerSpec spec;
  spec.executable = "/bin/sh";
  spec.argv = {"sh", "-c", script};
  spec.env = {"PATH=/usr/bin:/bin", "TMPDIR=" + scratch.tmp()};
  spec.working_directory = scratch.work();
  spec.tmp_dir = scratch.tmp();
  for (const char* path : {"/usr", "/bin", "/lib", "/lib64", "/etc", "/proc"}) {
    spec.paths.push_back({path, sandbox::kReadExecute, "system"});
  }
  spec.paths.push_back({"/dev", sandbox::kReadWrite | Access::kDevice, "system"});
  spec.paths.push_back({scratch.work(), sandbox::kReadWriteExecute, "working directory"});
  spec.paths.push_back({scratch.tmp(), sandbox::kReadWriteExecute, "tmp"});
  spec.seccomp_program = AllowAllProgram();
  spec.limits.grace_ms = 300;
  return spec;
}

std::string AllowAllProgram() {
  const sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  return std::string(reinterpret_cast<const char*>(&allow), sizeof(allow));
}

WorkerSpec FileOrder(const Scratch& scratch, Action action, const std::string& file) {
  WorkerSpec spec = Shell(scratch, "");
  spec.action = action;
  spec.executable.clear();
  spec.argv.clear();
  spec.file = file;
  spec.seccomp_program.clear();
  std::erase_if(spec.paths, [&](const auto& grant) { return grant.path != scratch.work(); });
  return spec;
}

std::string ProgramOf(Action action) {
  const auto profile = action == Action::kReadFile ? sandbox::SeccompProfile::kFiles
                                                   : sandbox::SeccompProfile::kFileChanges;
  const auto program = sandbox::CompileSeccomp(profile, sandbox::Network::kNone, 7);
  Check(program.has_value(), "CompileSeccomp");
  return **program;
}

StartOptions Alone(Action action, std::string stdin_data, const char* worker) {
  return {.worker = worker,
          .stdin_data = std::move(stdin_data),
          .program = "",
          .program_in_spec = ProgramOf(action)};
}

const WorkerStatus& Finished::Last() const {
  static const WorkerStatus none = {.magic = 0};
  return statuses.empty() ? none : statuses.back();
}

WorkerRun::WorkerRun(const WorkerSpec& spec, const StartOptions& options) {
  std::string bytes = options.raw_spec;
  if (bytes.empty()) {
    WorkerSpec launched = spec;
    if (!options.namespaces) launched.seccomp_program = options.program_in_spec;
    const Result<std::string> encoded = EncodeSpec(launched);
    Check(encoded.has_value(), "EncodeSpec");
    bytes = *encoded;
  }
  Pair out = OutputPipe();
  Pair err = OutputPipe();
  const UniqueFd in = Memfd(options.stdin_data, 0);
  const UniqueFd spec_fd = Memfd(bytes, options.seals);
  const UniqueFd cwd(open(spec.working_directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<int> descriptors = {in.get(), out.theirs.get(), err.theirs.get(), spec_fd.get(),
                                  cwd.get()};
  if (options.ruleset_fd >= 0) descriptors.push_back(options.ruleset_fd);
  const std::string own_program = options.namespaces ? "" : spec.seccomp_program;
  Launch({.seccomp_program = options.program.value_or(own_program),
          .namespaces = options.namespaces,
          .network = spec.network,
          .view = options.view},
         options, descriptors);
  out_ = std::move(out.ours);
  err_ = std::move(err.ours);
}

void WorkerRun::Launch(const LaunchSpec& spec, const StartOptions& options,
                       std::span<const int> descriptors) {
  Pair socket = Control();
  std::string first(sizeof(kLaunchMagic), '\0');
  std::memcpy(first.data(), &kLaunchMagic, sizeof(kLaunchMagic));
  const Result<std::string> encoded = EncodeLaunch(spec);
  Check(encoded.has_value(), "EncodeLaunch");
  first += *encoded;
  Check(send(socket.ours.get(), first.data(), first.size(), MSG_NOSIGNAL) > 0, "send");
  UniqueFd ceiling;
  if (options.ceiling) {
    const Result<std::string> most = EncodeCeiling(*options.ceiling);
    Check(most.has_value(), "EncodeCeiling");
    Result<UniqueFd> file =
        SealedMemfd("ceiling", options.raw_ceiling.empty() ? *most : options.raw_ceiling);
    Check(file.has_value(), "SealedMemfd");
    ceiling = std::move(*file);
  }
  const pid_t launcher = fork();
  Check(launcher >= 0, "fork");
  if (launcher == 0) BecomeLauncher(options, socket.theirs.get(), ceiling.get());
  socket.theirs.reset();
  LaunchOrder order;
  Pair control = Control();
  const int end = control.theirs.get();
  Check(SendPacket(socket.ours.get(), AsBytes(order), {&end, 1}, MSG_NOSIGNAL) > 0, "send");
  control.theirs.reset();
  control_ = std::move(control.ours);
  LaunchReply reply;
  Check(recv(socket.ours.get(), &reply, sizeof(reply), 0) == sizeof(reply), "recv");
  socket.ours.reset();
  waitpid(launcher, nullptr, 0);
  Check(reply.pid > 0, "launch");
  pid_ = reply.pid;
  if (options.signal_before_order != 0) kill(pid_, options.signal_before_order);
  // Who could not be confined tells so at once, and takes no order.
  const ssize_t sent = SendPacket(control_.get(), AsBytes(order), descriptors, MSG_NOSIGNAL);
  Check(sent == sizeof(order) || errno == EPIPE, "sendmsg");
}

WorkerRun::~WorkerRun() {
  if (pid_ < 0) return;
  HangUp();
  waitpid(pid_, nullptr, 0);
}

void WorkerRun::Cancel() {
  const AskOrder cancel;
  Check(send(control_.get(), &cancel, sizeof(cancel), MSG_NOSIGNAL) == sizeof(cancel), "send");
}

bool WorkerRun::Pump(int timeout_ms) {
  pollfd events[] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}};
  if (!out_ && !err_ && !control_) return false;
  if (poll(events, 3, timeout_ms) <= 0) return true;
  if (events[0].revents != 0) ReadSome(out_, finished_.out);
  if (events[1].revents != 0) ReadSome(err_, finished_.err);
  if (events[2].revents == 0) return true;
  WorkerStatus status;
  ssize_t got = recv(control_.get(), &status, sizeof(status), 0);
  if (got < 0 && errno == ECONNRESET) got = recv(control_.get(), &status, sizeof(status), 0);
  if (got == sizeof(status)) {
    finished_.statuses.push_back(status);
  } else {
    control_.reset();
  }
  return true;
}

bool WorkerRun::WaitForOutput(const std::string& text) {
  const auto until = steady_clock::now() + std::chrono::seconds(10);
  while (out_ && steady_clock::now() < until) {
    if (finished_.out.find(text) != std::string::npos) return true;
    Pump(100);
  }
  return finished_.out.find(text) != std::string::npos;
}

Finished WorkerRun::Wait() {
  while (Pump(-1)) {
  }
  int status = 0;
  Check(waitpid(std::exchange(pid_, -1), &status, 0) > 0, "waitpid");
  finished_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished_;
}

std::string UniqueSeconds() {
  static int next = 0;
  return std::to_string(100'000 + getpid()) + "." + std::to_string(++next);
}

std::string WorkerPath(const char* name) {
  const char* directory = std::getenv("PA_WORKER_DIR");
  if (directory != nullptr) return std::string(directory) + "/" + name;
  return fs::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace pa::worker
