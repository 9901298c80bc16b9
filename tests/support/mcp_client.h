// McpClient: starts the real server and speaks MCP with it, one raw JSON line at a time.
//
//    McpClient client({.arguments = {"--root", dir, "--enable", "all"}});
//    client.Initialize();
//    Json result = client.CallTool("make", {{"target", "test"}});   // structuredContent
//    EXPECT_TRUE(result["success"]);
//
// Every wait is bounded: if the awaited line has not come after kPatience, an empty value is
// returned, and the test fails on that. Notifications that arrive meanwhile are kept, in order.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {

inline constexpr std::chrono::seconds kPatience{60};  // generous: sanitizers, loaded machines

struct ServerOptions {
  std::vector<std::string> arguments;         // after `serve`
  std::vector<std::string> environment = {};  // NAME=value, beyond PATH, HOME, TMPDIR
  std::string directory = "/";
  std::string home = "/nonexistent";
  std::optional<std::pair<int, int>> inherit = {};  // {our descriptor, its number in the server}
  std::string terminal = {};                        // becomes the server's controlling terminal
  std::vector<std::string> command = {};            // starts another server instead
};

// What a client declares that can ask its user.
inline const Json kElicitation = {{"elicitation", Json::object()}};
// What a user fills into our form to approve a call.
inline const Json kYes = {{"approve", true}};

// The inputResponses that give the same answer to each of `requests` (2026-07-28).
Json AnswersTo(const Json& requests, const char* action = "accept");

class McpClient {
 public:
  explicit McpClient(const ServerOptions& options);
  ~McpClient();  // closes the connection and waits; SIGKILL if the server does not end
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;

  void SendLine(std::string_view line);  // adds the newline
  void SendBytes(std::string_view bytes);
  std::optional<std::string> ReadLine(std::chrono::milliseconds patience = kPatience);
  Json Read(std::chrono::milliseconds patience = kPatience);  // null: nothing came

  // The legacy handshake; returns the result of initialize.
  Json Initialize(std::string_view version = "2025-11-25", Json capabilities = Json::object());
  // Sends with a fresh id, which is returned.
  int Start(std::string_view method, Json params = Json::object());
  int StartTool(std::string_view tool, Json arguments, Json meta = nullptr);
  // The reply to `id`; everything else that arrives before it is kept. Null: none came.
  Json Await(int id);
  Json Request(std::string_view method, Json params = Json::object());
  Json CallTool(std::string_view tool, Json arguments = Json::object());  // structuredContent
  void Notify(std::string_view method, Json params);

  std::vector<Json>& notifications() { return notifications_; }
  std::size_t ProgressCount(const Json& token) const;

  void CloseInput() { input_.reset(); }
  void CloseOutput() { output_.reset(); }
  void Signal(int number) const;
  // The wait status; nothing if the server still runs.
  std::optional<int> WaitForExit(std::chrono::milliseconds patience = kPatience);
  std::string Errors() const;  // what the server has written to stderr
  pid_t pid() const { return pid_; }
  int input() const { return input_.get(); }

 private:
  bool Fill(std::chrono::milliseconds patience);

  TempDir scratch_;
  UniqueFd input_;   // the server's stdin
  UniqueFd output_;  // the server's stdout
  pid_t pid_ = -1;
  std::optional<int> status_;
  std::string buffer_;
  std::size_t scanned_ = 0;
  int next_id_ = 1;
  std::vector<Json> notifications_;
  std::deque<Json> replies_;
};

// The path of a program of this build, from the test's environment: PA_SERVER, PA_WORKER, ...
// Aborts if it is not set.
std::string BuiltProgram(const char* variable);

}  // namespace pa::testing
