// JobPort: a port of a job, served on 127.0.0.1 of this machine.
//
//    Result<std::unique_ptr<JobPort>> port = JobPort::Open(loop, 3000, [&] { return job.network();
//    });
//    (*port)->outer()    // http://127.0.0.1:41234/
//
// A connection is served if a process of this user made it, and its first request is one of HTTP/1
// that names this machine (supervisor/text/loopback_host.h). The guardian of the job's command
// connects inside and passes the socket out, so that nothing of the command's network is open to
// the server but that one connection. All connections end with this object.
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/run/command_network.h"

namespace pa {

inline constexpr std::size_t kMaxConnectionsOfAPort = 32;

class JobPort {
 public:
  // The command that listens now, or null.
  using Network = std::function<HasOwnNetwork*()>;
  // EPROTONOSUPPORT: this kernel cannot tell whose a connection is.
  static Result<std::unique_ptr<JobPort>> Open(uv_loop_t* loop, std::uint16_t inner,
                                               Network network);
  ~JobPort();
  JobPort(const JobPort&) = delete;
  JobPort& operator=(const JobPort&) = delete;

  std::uint16_t inner() const { return inner_; }  // in the job's network
  std::uint16_t outer() const { return outer_; }  // on 127.0.0.1
  std::size_t connections() const { return connections_.size(); }

 private:
  class Connection;

  JobPort(uv_loop_t* loop, std::uint16_t inner, std::uint16_t outer, UniqueFd listener,
          Network network);
  void Accept();
  void Remove(const Connection* connection);

  uv_loop_t* loop_;
  std::uint16_t inner_;
  std::uint16_t outer_;
  Network network_;
  UniqueFd listener_;
  PollHandle poll_;
  TimerHandle pause_;
  std::list<std::shared_ptr<Connection>> connections_;
};

}  // namespace pa
