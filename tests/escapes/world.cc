#include "tests/escapes/world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/support/launch.h"
#include "tests/support/processes.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;
constexpr int kInheritedFd = 20;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::perror(what);
  std::abort();
}

std::string RandomName() {
  std::uint64_t bits = 0;
  Require(getrandom(&bits, sizeof bits, 0) == sizeof bits, "getrandom");
  return "pa-secret-" + std::to_string(bits);
}

// Bound; listening unless it takes datagrams.
UniqueFd Bound(int family, int type, const sockaddr* address, socklen_t size) {
  UniqueFd fd(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  Require(bool(fd), "socket");
  Require(bind(fd.get(), address, size) == 0, "bind");
  Require(type == SOCK_DGRAM || listen(fd.get(), 4) == 0, "listen");
  return fd;
}

UniqueFd BoundToLoopback(int type, std::string* port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  UniqueFd fd = Bound(AF_INET, type, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  *port = std::to_string(ntohs(address.sin_port));
  return fd;
}

UniqueFd BoundToLoopback6(std::string* port) {
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t size = sizeof address;
  UniqueFd fd = Bound(AF_INET6, SOCK_STREAM, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  *port = std::to_string(ntohs(address.sin6_port));
  return fd;
}

// `name` is a path, or abstract when it begins with NUL.
UniqueFd BoundToUnix(int type, const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  Require(name.size() < sizeof address.sun_path, "name of a socket");
  std::memcpy(address.sun_path, name.data(), name.size());
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  return Bound(AF_UNIX, type, reinterpret_cast<sockaddr*>(&address), size);
}

std::string Available(int fd) {
  char bytes[256];
  std::string text;
  for (pollfd ready = {fd, POLLIN, 0}; poll(&ready, 1, 50) == 1;) {
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got <= 0) break;
    text.append(bytes, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

World::World() : project_(""), secret_(RandomName()) {
  MakeFiles();
  MakeListeners();
  StartBystander();
  terminal_.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  Require(terminal_ && grantpt(terminal_.get()) == 0 && unlockpt(terminal_.get()) == 0, "pty");
  values_["terminal"] = ptsname(terminal_.get());
  key_t key = static_cast<key_t>(getpid());
  shared_memory_ = shmget(key, 4096, IPC_CREAT | 0600);
  Require(shared_memory_ >= 0, "shmget");
  message_queue_ = msgget(key, IPC_CREAT | 0600);
  Require(message_queue_ >= 0, "msgget");
  values_["key"] = std::to_string(key);
  values_["test"] = std::to_string(getpid());
}

World::~World() {
  // An attempt that worked may have left processes that fork on; take them until none is left.
  Eventually([this] {
    std::vector<pid_t> left = Survivors();
    for (pid_t pid : left) kill(pid, SIGKILL);
    return left.empty();
  });
  umount2((project_.root() / "empty").c_str(), MNT_DETACH);  // of an attempt that mounted there
  shmctl(shared_memory_, IPC_RMID, nullptr);
  msgctl(message_queue_, IPC_RMID, nullptr);
  bystander_in_.reset();
  waitpid(bystander_, nullptr, 0);
}

void World::MakeFiles() {
  const fs::path& home = project_.home();
  const fs::path& outside = project_.outside();
  WriteText(home / ".ssh" / "id_ed25519", secret_ + "\n");
  WriteText(home / ".bashrc", "# mine\n");
  WriteText(outside / secret_, "the name of this file is the secret\n");
  for (const char* name : {"victim", "other"}) WriteText(outside / name, "theirs\n");
  fs::create_directories(outside / "empty");
  fs::copy_file(BuiltProgram("PA_ATTEMPT"), project_.root() / "attempt");
  WriteText(project_.root() / "ours", "ours " + secret_ + "\n");
  WriteText(project_.root() / "victim", "ours\n");
  WriteText(project_.root() / ".claude/settings.json", "{}\n");
  fs::create_directories(project_.root() / ".gemini/hooks");
  fs::create_directories(project_.root() / "empty");
  inherited_.reset(open((outside / "inherited").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  values_["home"] = home;
  values_["outside"] = outside;
  values_["project"] = project_.root();
}

void World::StartBystander() {
  int in[2];
  int out[2];
  Require(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe2");
  UniqueFd child_in(in[0]);
  UniqueFd child_out(out[1]);
  bystander_in_.reset(in[1]);
  bystander_out_.reset(out[0]);
  bystander_ = Spawn(
      {.command = {BuiltProgram("PA_BYSTANDER"), project_.home() / ".ssh/id_ed25519",
                   project_.root() / ".git/hooks/post-checkout", project_.root() / ".mcp.json"},
       .environment = {"PA_SECRET=" + secret_},
       .directory = project_.outside(),
       .in = child_in.get(),
       .out = child_out.get()});
  char line[64] = {};
  Require(read(bystander_out_.get(), line, sizeof line - 1) > 1, "bystander");
  values_["bystander"] = std::to_string(bystander_);
  values_["address"] = std::string(line, std::strcspn(line, "\n"));
}

void World::MakeListeners() {
  std::string outside = project_.outside();
  values_["socket"] = outside + "/stream";
  values_["datagram"] = outside + "/datagram";
  values_["abstract"] = secret_;
  listeners_["tcp"] = BoundToLoopback(SOCK_STREAM, &values_["tcp"]);
  listeners_["udp"] = BoundToLoopback(SOCK_DGRAM, &values_["udp"]);
  listeners_["tcp6"] = BoundToLoopback6(&values_["tcp6"]);
  listeners_["socket"] = BoundToUnix(SOCK_STREAM, values_["socket"]);
  listeners_["datagram"] = BoundToUnix(SOCK_DGRAM, values_["datagram"]);
  listeners_["abstract"] = BoundToUnix(SOCK_STREAM, std::string(1, '\0') + secret_);
}

std::string World::Fill(std::string_view command) const {
  std::string text(command);
  for (const auto& [name, value] : values_) {
    std::string mark = "{" + name + "}";
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size()) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

std::string World::Makefile(Vector vector) {
  switch (vector) {
    case Vector::kDiscovery:
      return ".PHONY: run $(shell sh ./attempt.sh)\nrun:\n";
    case Vector::kInclude:
      return "-include generated.mk\ngenerated.mk:\n\t@sh ./attempt.sh\n.PHONY: run\nrun:\n";
    case Vector::kDryRun:
      return ".PHONY: run\nrun:\n\t+@sh ./attempt.sh\n";
    default:
      return ".PHONY: run\nrun:\n\t@sh ./attempt.sh\n";
  }
}

void World::Prepare(std::string_view command, const Setting& setting) {
  const fs::path& root = project_.root();
  WriteText(root / "attempt.sh", Fill(command) + "\n");
  WriteText(root / "Makefile", Makefile(setting.vector));
  const bool git = setting.vector == Vector::kGitHook || setting.vector == Vector::kGitFilter;
  if (git || !setting.git.empty()) PrepareGit(setting);
}

void World::PrepareGit(const Setting& setting) {
  const fs::path& root = project_.root();
  project_.InitGit();
  if (!setting.git.empty()) {
    project_.Git({"add", "ours"});
    project_.Git({"commit", "-q", "-m", "first"});
  }
  for (const std::vector<std::string>& arguments : setting.git) {
    const ProgramResult done = project_.Git(arguments);
    Require(done.exit_code == 0, "git");
  }
  if (setting.vector == Vector::kGitHook) {
    fs::path hook = root / ".git" / "hooks" / "pre-commit";
    WriteText(hook, "#!/bin/sh\nexec sh ./attempt.sh >&2\n");
    fs::permissions(hook, fs::perms::owner_all);
    project_.Git({"add", "ours"});
  } else if (setting.vector == Vector::kGitFilter) {
    WriteText(root / ".gitattributes", "ours filter=attempt\n");
    project_.Git({"config", "filter.attempt.clean", "sh ./attempt.sh >&2; cat"});
  }
}

ServerOptions World::Options(const Setting& setting, Sandbox sandbox) {
  fs::path policy = project_.home() / "policy.yaml";
  WriteText(policy, "version: 1\n" + Fill(setting.policy));
  std::vector<std::string> arguments = {"--policy", policy};
  if (sandbox == Sandbox::kUnconfined) {
    arguments.insert(arguments.end(), {"--worker", BuiltProgram("PA_WORKER_UNCONFINED")});
  }
  if (!setting.listen.empty()) {
    arguments.insert(arguments.end(), {"--listen", "stdio", "--listen", Fill(setting.listen)});
  }
  ServerOptions options = project_.Server(std::move(arguments));
  options.directory = "/";  // only what the call starts works in the project
  options.environment = setting.server_environment;
  options.environment.push_back("PA_SECRET=" + secret_);
  options.inherit = {inherited_.get(), kInheritedFd};
  options.terminal = ptsname(terminal_.get());
  return options;
}

Trial World::Call(McpClient& client, const Setting& setting) {
  Json result;
  switch (setting.vector) {
    case Vector::kDiscovery:
    case Vector::kInclude:
      result = client.CallTool("make_targets");
      break;
    case Vector::kDryRun:
      result = client.CallTool("make", {{"target", "run"}, {"dry_run", true}});
      break;
    case Vector::kGitHook:
      result = client.CallTool("git_commit", {{"message", "attempt"}});
      break;
    case Vector::kGitFilter:
      result = client.CallTool("git_add", {{"paths", {"ours"}}});
      break;
    case Vector::kBash:
      result = setting.directory.empty()
                   ? client.CallTool("bash", {{"command", "sh ./attempt.sh"}})
                   : client.CallTool("bash", {{"command", ReadText(project_.root() / "attempt.sh")},
                                              {"working_directory", setting.directory}});
      break;
    case Vector::kRecipe:
      result = client.CallTool("make", {{"target", "run"}});
      break;
  }
  return {.success = result.is_object() && result.value("success", false),
          .output = result.is_null() ? client.Errors() : result.dump()};
}

Trial World::Bare(const Setting& setting) {
  std::vector<std::string> environment = setting.server_environment;
  environment.push_back("PA_SECRET=" + secret_);
  environment.push_back("HOME=" + project_.home().string());
  environment.push_back("PA_NOBODY_LOOKS=1");
  std::vector<std::string> command = {"make", "-s", "run"};
  if (setting.vector == Vector::kGitHook) command = {"git", "commit", "-q", "-m", "attempt"};
  if (setting.vector == Vector::kGitFilter) command = {"git", "add", "ours"};
  ProgramResult result = RunProgram({.command = std::move(command),
                                     .environment = std::move(environment),
                                     .directory = project_.root(),
                                     .inherit = {{inherited_.get(), kInheritedFd}},
                                     .terminal = ptsname(terminal_.get())});
  return {.success = result.exit_code == 0, .output = result.output + result.errors};
}

void World::MakeTokens() const {
  WriteText(project_.home() / ".local/state/project-actions/tokens/tokens.json", secret_ + "\n");
}

Trial World::Do(std::string_view command, const Setting& setting, Sandbox sandbox) {
  if (setting.tokens) MakeTokens();
  if (sandbox == Sandbox::kNone) {
    Prepare(command, setting);
    Trial bare = Bare(setting);
    survivors_ = Eventually([this] { return Survived(); }, std::chrono::seconds(1));
    return bare;
  }
  McpClient client(Options(setting, sandbox));
  client.Initialize();
  values_["server"] = std::to_string(client.pid());
  Prepare(command, setting);
  Trial run = Call(client, setting);
  // While the server lives: what outlasts the reply must not owe its end to the server's.
  survivors_ = !Eventually([this] { return !Survived(); }, std::chrono::seconds(3));
  return run;
}

bool World::SecretIn(const Trial& run) const {
  return run.output.find(secret_) != std::string::npos;
}

bool World::Exists(std::string_view name) const {
  return fs::exists(fs::symlink_status(project_.outside() / name));
}

bool World::Appeared(std::string_view path) const { return fs::remove(Fill(path)); }

std::string World::Text(std::string_view name) const { return ReadText(project_.outside() / name); }

std::string World::ProjectText(std::string_view name) const {
  const fs::path file = project_.root() / name;
  return fs::exists(file) ? ReadText(file) : "";
}

struct stat World::Status(std::string_view name) const {
  struct stat status = {};
  lstat((project_.outside() / name).c_str(), &status);
  return status;
}

bool World::Reached(std::string_view listener) const {
  auto found = listeners_.find(listener);
  Require(found != listeners_.end(), "listener");
  int fd = found->second.get();
  UniqueFd connection(accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
  int from = connection ? connection.get() : fd;
  if (!connection && errno == EAGAIN) return false;  // a stream that nobody has connected to
  return Available(from).find("escaped") != std::string::npos;
}

bool World::Signalled() const {
  return Available(bystander_out_.get()).find("signal") != std::string::npos;
}

bool World::MemoryChanged() const {
  char bytes[8] = {};
  iovec local = {bytes, sizeof bytes};
  iovec remote = {reinterpret_cast<void*>(std::stoull(values_.at("address"), nullptr, 16)),
                  sizeof bytes};
  process_vm_readv(bystander_, &local, 1, &remote, 1, 0);
  return std::string_view(bytes, sizeof bytes) == "!!!!!!!!";
}

bool World::SharedMemoryChanged() const {
  void* memory = shmat(shared_memory_, nullptr, SHM_RDONLY);
  Require(memory != reinterpret_cast<void*>(-1), "shmat");
  bool changed = std::strncmp(static_cast<const char*>(memory), "escaped", 7) == 0;
  shmdt(memory);
  return changed;
}

bool World::NextGitRunsIt() const {
  for (const char* tree : {".", "tree"}) {
    if (!fs::exists(project_.root() / tree)) continue;
    project_.Git({"-C", tree, "status"});  // looks into submodules, as a commit may not
    project_.Git({"-C", tree, "-c", "user.name=a", "-c", "user.email=b", "commit", "-q",
                  "--allow-empty", "-m", "next"});
  }
  if (fs::exists(project_.root() / ".git/rebase-merge")) {
    project_.Git({"-c", "user.name=a", "-c", "user.email=b", "rebase", "--continue"});
  }
  if (fs::exists(project_.root() / ".git/sequencer")) {
    project_.Git({"add", "f"});
    project_.Git({"-c", "user.name=a", "-c", "user.email=b", "cherry-pick", "--continue"});
  }
  return Exists("executed");
}

bool World::MessageReceived() const {
  struct {
    long type;
    char text[64];
  } message = {};
  return msgrcv(message_queue_, &message, sizeof message.text, 0, IPC_NOWAIT) > 0 &&
         std::string_view(message.text) == "escaped";
}

bool World::TerminalTouched() const { return !Available(terminal_.get()).empty(); }

std::vector<pid_t> World::Survivors() const { return ProcessesIn(project_.root()); }

bool World::Survived() const {
  // A process that is always between fork and exit is seldom listed, but the lock that it inherits
  // is held all the time.
  UniqueFd attempt(open((project_.root() / "attempt").c_str(), O_RDONLY | O_CLOEXEC));
  Require(bool(attempt), "attempt");
  return flock(attempt.get(), LOCK_EX | LOCK_NB) != 0 || !Survivors().empty();
}

}  // namespace pa::testing
