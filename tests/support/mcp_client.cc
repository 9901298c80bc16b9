#include "tests/support/mcp_client.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "tests/support/argv.h"

namespace pa::testing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::pair<UniqueFd, UniqueFd> Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    std::perror("pipe2");
    std::abort();
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<std::string> Environment(const ServerOptions& options) {
  const char* path = getenv("PATH");
  std::vector<std::string> environment = {
      std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin"), "HOME=" + options.home};
  if (const char* tmp = getenv("TMPDIR")) environment.push_back(std::string("TMPDIR=") + tmp);
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char* value = getenv(name)) environment.push_back(std::string(name) + "=" + value);
  }
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  return environment;
}

pid_t Spawn(const ServerOptions& options, int in, int out, const std::string& errors) {
  std::vector<std::string> arguments = {BuiltProgram("PA_SERVER"), "serve"};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment = Environment(options);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (options.inherit) {
    posix_spawn_file_actions_adddup2(&actions, options.inherit->first, options.inherit->second);
  }
  posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (options.own_session) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);

  pid_t pid = -1;
  int failure = posix_spawn(&pid, arguments[0].c_str(), &actions, &attributes,
                            Pointers(arguments).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    std::fprintf(stderr, "posix_spawn %s: errno %d\n", arguments[0].c_str(), failure);
    std::abort();
  }
  return pid;
}

}  // namespace

std::string BuiltProgram(const char* variable) {
  const char* path = getenv(variable);
  if (path == nullptr) {
    std::fprintf(stderr, "%s is not set: run the test through meson\n", variable);
    std::abort();
  }
  return path;
}

McpClient::McpClient(const ServerOptions& options) {
  // A server that has gone must fail the test, not end it.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  auto [child_in, our_out] = Pipe();
  auto [our_in, child_out] = Pipe();
  pid_ = Spawn(options, child_in.get(), child_out.get(), scratch_.path() / "stderr");
  input_ = std::move(our_out);
  output_ = std::move(our_in);
}

McpClient::~McpClient() {
  CloseInput();
  CloseOutput();
  if (WaitForExit(std::chrono::seconds(10))) return;
  Signal(SIGKILL);
  WaitForExit();
}

void McpClient::SendBytes(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = write(input_.get(), bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;  // the server has gone; whoever waits for a reply will notice
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void McpClient::SendLine(std::string_view line) { SendBytes(std::string(line) + "\n"); }

bool McpClient::Fill(milliseconds patience) {
  pollfd ready = {output_.get(), POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return false;
  std::size_t old = buffer_.size();
  buffer_.resize(old + 65536);
  ssize_t got = read(output_.get(), buffer_.data() + old, 65536);
  buffer_.resize(old + static_cast<std::size_t>(got > 0 ? got : 0));
  return got > 0;
}

std::optional<std::string> McpClient::ReadLine(milliseconds patience) {
  auto deadline = Clock::now() + patience;
  while (true) {
    std::size_t end = buffer_.find('\n', scanned_);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      scanned_ = 0;
      return line;
    }
    scanned_ = buffer_.size();
    auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 || !Fill(left)) return std::nullopt;
  }
}

Json McpClient::Read(milliseconds patience) {
  std::optional<std::string> line = ReadLine(patience);
  return line ? Json::parse(*line, nullptr, /*allow_exceptions=*/false) : Json();
}

Json McpClient::Initialize(std::string_view version) {
  Json reply = Request("initialize", {{"protocolVersion", version},
                                      {"capabilities", Json::object()},
                                      {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  Notify("notifications/initialized", Json::object());
  return reply.value("result", Json());
}

int McpClient::Start(std::string_view method, Json params) {
  int id = next_id_++;
  SendLine(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}
               .dump());
  return id;
}

int McpClient::StartTool(std::string_view tool, Json arguments, Json meta) {
  Json params = {{"name", tool}, {"arguments", std::move(arguments)}};
  if (!meta.is_null()) params["_meta"] = std::move(meta);
  return Start("tools/call", std::move(params));
}

Json McpClient::Await(int id) {
  for (auto reply = replies_.begin(); reply != replies_.end(); ++reply) {
    if ((*reply)["id"] != id) continue;
    Json found = std::move(*reply);
    replies_.erase(reply);
    return found;
  }
  while (true) {
    Json message = Read();
    if (message.is_null()) return message;
    if (message.contains("method")) {
      notifications_.push_back(std::move(message));
    } else if (message.contains("id") && message["id"] == id) {
      return message;
    } else {
      replies_.push_back(std::move(message));
    }
  }
}

Json McpClient::Request(std::string_view method, Json params) {
  return Await(Start(method, std::move(params)));
}

Json McpClient::CallTool(std::string_view tool, Json arguments) {
  Json reply = Await(StartTool(tool, std::move(arguments)));
  return reply.value("result", Json::object()).value("structuredContent", Json());
}

void McpClient::Notify(std::string_view method, Json params) {
  SendLine(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}.dump());
}

std::size_t McpClient::ProgressCount(const Json& token) const {
  std::size_t count = 0;
  for (const Json& message : notifications_) {
    if (message["method"] == "notifications/progress" &&
        message["params"]["progressToken"] == token) {
      ++count;
    }
  }
  return count;
}

void McpClient::Signal(int number) const {
  if (!status_) kill(pid_, number);
}

std::optional<int> McpClient::WaitForExit(milliseconds patience) {
  auto deadline = Clock::now() + patience;
  while (!status_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    if (status_ || Clock::now() >= deadline) break;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return status_;
}

std::string McpClient::Errors() const { return ReadText(scratch_.path() / "stderr"); }

}  // namespace pa::testing
