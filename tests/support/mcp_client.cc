#include "tests/support/mcp_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "tests/support/launch.h"

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

Launch ServerLaunch(const ServerOptions& options, int in, int out, int err) {
  Launch launch = {.command = options.command,
                   .environment = {"HOME=" + options.home},
                   .directory = options.directory,
                   .in = in,
                   .out = out,
                   .err = err,
                   .inherit = options.inherit,
                   .terminal = options.terminal};
  if (launch.command.empty()) launch.command = {BuiltProgram("PA_SERVER"), "serve"};
  if (const char* tmp = getenv("TMPDIR"))
    launch.environment.push_back(std::string("TMPDIR=") + tmp);
  launch.command.insert(launch.command.end(), options.arguments.begin(), options.arguments.end());
  launch.environment.insert(launch.environment.end(), options.environment.begin(),
                            options.environment.end());
  return launch;
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

Json AnswersTo(const Json& requests, const char* action) {
  Json answers = Json::object();
  for (const auto& [key, request] : requests.items()) {
    answers[key] = {{"action", action}, {"content", kYes}};
  }
  return answers;
}

McpClient::McpClient(const ServerOptions& options) {
  // A server that has gone must fail the test, not end it.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  auto [child_in, our_out] = Pipe();
  auto [our_in, child_out] = Pipe();
  UniqueFd errors(
      open((scratch_.path() / "stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  pid_ = Spawn(ServerLaunch(options, child_in.get(), child_out.get(), errors.get()));
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

Json McpClient::Initialize(std::string_view version, Json capabilities) {
  Json reply = Request("initialize", {{"protocolVersion", version},
                                      {"capabilities", std::move(capabilities)},
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
