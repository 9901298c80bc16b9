#include "supervisor/jobs/peer_user.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace pa {
namespace {

struct Request {
  nlmsghdr header{};
  inet_diag_req_v2 query{};
};

std::unexpected<Error> NoPeer(const char* op, int code) {
  return std::unexpected(Error(op, "peer of a connection", code));
}

// What the kernel has answered, which it has when the request is sent.
Result<uid_t> ReadUser(int netlink) {
  alignas(nlmsghdr) char buffer[4096];
  const ssize_t got = recv(netlink, buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0) return NoPeer("recv", errno);
  nlmsghdr header;
  if (static_cast<std::size_t>(got) < NLMSG_HDRLEN) return NoPeer("recv", EPROTO);
  std::memcpy(&header, buffer, sizeof header);
  const std::size_t room = static_cast<std::size_t>(got) - NLMSG_HDRLEN;
  if (header.nlmsg_type == NLMSG_ERROR && room >= sizeof(nlmsgerr)) {
    nlmsgerr error;
    std::memcpy(&error, buffer + NLMSG_HDRLEN, sizeof error);
    return NoPeer("sock_diag", -error.error);
  }
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || room < sizeof(inet_diag_msg)) {
    return NoPeer("sock_diag", EPROTO);
  }
  inet_diag_msg message;
  std::memcpy(&message, buffer + NLMSG_HDRLEN, sizeof message);
  return message.idiag_uid;
}

}  // namespace

// The other socket's own address is our peer's, and its peer's is ours.
Result<uid_t> UserOfPeer(int connection) {
  sockaddr_in ours{};
  sockaddr_in theirs{};
  socklen_t size = sizeof ours;
  if (getsockname(connection, reinterpret_cast<sockaddr*>(&ours), &size) != 0) {
    return NoPeer("getsockname", errno);
  }
  size = sizeof theirs;
  if (getpeername(connection, reinterpret_cast<sockaddr*>(&theirs), &size) != 0) {
    return NoPeer("getpeername", errno);
  }
  if (ours.sin_family != AF_INET || theirs.sin_family != AF_INET) {
    return NoPeer("getpeername", EAFNOSUPPORT);
  }
  const UniqueFd netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!netlink) return NoPeer("socket", errno);
  Request request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.query.sdiag_family = AF_INET;
  request.query.sdiag_protocol = IPPROTO_TCP;
  request.query.idiag_states = ~0u;
  request.query.id.idiag_sport = theirs.sin_port;
  request.query.id.idiag_dport = ours.sin_port;
  request.query.id.idiag_src[0] = theirs.sin_addr.s_addr;
  request.query.id.idiag_dst[0] = ours.sin_addr.s_addr;
  request.query.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  request.query.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (send(netlink.get(), &request, sizeof request, 0) != sizeof request) {
    return NoPeer("send", errno);
  }
  return ReadUser(netlink.get());
}

}  // namespace pa
