// Doors: where clients of one server come in: standard input and output, and sockets. All have the
// same sessions behind them.
//
//    Doors doors(engine.services(), state, {.stdio = true, .sockets = std::move(sockets)});
//    doors.WhenEnding([&] { runner.BeginShutdown(); });
//    doors.WhenEnded([&] { engine.Shutdown([&] { doors.Close(); }); });
//    Result<void> opened = doors.Open();
//
// The end of standard input is the end of the server: whoever started it has gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "policy/policy.h"
#include "supervisor/callers/http_callers.h"
#include "supervisor/engine/services.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/mcp/http_endpoint.h"
#include "supervisor/mcp/line_session.h"
#include "supervisor/mcp/server_state.h"
#include "supervisor/transport/http_server.h"
#include "supervisor/transport/listening_socket.h"

namespace pa {

inline constexpr std::size_t kMaxLineClients = 64;

class Doors {
 public:
  struct Order {
    bool stdio = false;
    std::vector<ListeningSocket> sockets = {};
    std::string token_path = {};
    OpenFile open = OpenToRead;  // the files of tokens and of an issuer's keys
    // Removes the file of a socket, at the end.
    std::function<void(const ListeningSocket&)> remove = RemoveSocketFile;
    std::string user = {};                 // as whom this server runs
    std::optional<uid_t> front_door = {};  // whose Unix connections bring other callers
    // Ends the server after that time without a connection, a session, a call or a job.
    std::optional<std::chrono::milliseconds> idle_exit = {};
  };

  Doors(const Services& services, ServerState& state, Order order);
  ~Doors();  // after Close(), when the loop has ended
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  // An error: nothing is served. By TCP nobody is, as long as there is no token.
  Result<void> Open();

  // As that of Session, of all clients.
  void Shutdown();
  void WhenEnding(std::function<void()> callback) { on_ending_ = std::move(callback); }
  void WhenEnded(std::function<void()> callback) { on_ended_ = std::move(callback); }
  // Writes the queue of standard output, for a while, and removes the files of sockets.
  void Close();

 private:
  void AddLines(UniqueFd client, const HttpPeer& peer);
  void EndUnknown();
  void CloseLines(LineSession& lines);
  void Sweep();
  void EndIfIdle();
  void WatchIdle();
  void Retire();
  std::size_t calls();  // that have not ended, jobs in the background included
  ServerStatus Status();

  const Services& services_;
  ServerState& state_;
  Order order_;
  TokenFile tokens_;
  HttpCallers callers_;
  std::optional<LineSession> stdio_;
  bool stdio_ended_ = true;
  std::list<std::unique_ptr<LineSession>> lines_;
  std::list<std::unique_ptr<LineSession>> closed_;  // to be swept
  std::optional<HttpEndpoint> endpoint_;
  std::optional<HttpServer> server_;
  TimerHandle sweeper_;
  TimerHandle revoked_;  // looks for clients whose tokens are not valid any more
  TimerHandle idle_;
  TimerHandle retiring_;
  std::optional<std::chrono::steady_clock::time_point> retire_by_;
  std::chrono::steady_clock::time_point busy_at_ = std::chrono::steady_clock::now();
  std::uint64_t requests_ = 0;  // when it was looked at last
  bool endpoint_ended_ = true;
  bool server_closed_ = true;
  bool ending_ = false;
  std::function<void()> on_ending_;
  std::function<void()> on_ended_;
};

}  // namespace pa
