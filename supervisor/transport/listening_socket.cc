#include "supervisor/transport/listening_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/finally.h"
#include "base/try.h"

namespace pa {
namespace {

constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START
constexpr int kMostPassed = 64;

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

template <typename Address>
const sockaddr* Generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<UniqueFd> NewSocket(int family) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return std::unexpected(Error("socket", "", errno));
  return fd;
}

// Another user who can rename or remove files in the directory could put a socket in its place.
Result<void> CheckDirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string directory = parent.empty() ? "." : parent;
  struct stat status{};
  if (stat(directory.c_str(), &status) != 0) {
    return std::unexpected(Error("listen in", directory, errno));
  }
  const bool ours = status.st_uid == geteuid() || status.st_uid == 0;
  const bool shared = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky = (status.st_mode & S_ISVTX) != 0;
  if (ours && (!shared || sticky)) return {};
  return std::unexpected(
      Error("listen where other users can replace the socket: choose a directory that only this "
            "user can write, not",
            directory, EPERM));
}

// The file of a server that was killed. A server that still listens answers, or its queue is full
// (EAGAIN).
Result<void> RemoveStale(const std::string& path, const sockaddr_un& address) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? Result<void>() : std::unexpected(Error("listen on", path, errno));
  }
  if (!S_ISSOCK(status.st_mode) || status.st_uid != geteuid()) {
    return std::unexpected(
        Error("there is a file that is no socket of this user; listen on", path, EEXIST));
  }
  PA_TRY(const UniqueFd probe, NewSocket(AF_UNIX));
  if (connect(probe.get(), Generic(address), sizeof address) == 0 || errno != ECONNREFUSED) {
    return std::unexpected(Error("another server is there; listen on", path, EADDRINUSE));
  }
  if (unlink(path.c_str()) != 0) return std::unexpected(Error("remove", path, errno));
  return {};
}

Result<ListeningSocket> OpenUnix(const ListenAddress& wanted) {
  ListeningSocket opened{.fd = {}, .address = wanted};
  PA_TRY_VOID(CheckDirectoryOf(wanted.path));
  const sockaddr_un address = UnixAddress(wanted.path);
  PA_TRY_VOID(RemoveStale(wanted.path, address));
  PA_TRY(opened.fd, NewSocket(AF_UNIX));
  {
    // The mode counts from the moment when there is a file.
    const mode_t before = umask(0177);
    const Finally back([&] { umask(before); });
    if (bind(opened.fd.get(), Generic(address), sizeof address) != 0) {
      return std::unexpected(Error("listen on", wanted.path, errno));
    }
  }
  struct stat status{};
  if (lstat(wanted.path.c_str(), &status) != 0 || listen(opened.fd.get(), SOMAXCONN) != 0) {
    return std::unexpected(Error("listen on", wanted.path, errno));
  }
  opened.device = status.st_dev;
  opened.inode = status.st_ino;
  return opened;
}

// The address that a socket is bound to.
Result<ListenAddress> AddressOf(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return std::unexpected(Error("getsockname", "", errno));
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (bound.ss_family == AF_UNIX) {
    const auto* const address = reinterpret_cast<const sockaddr_un*>(&bound);
    return ListenAddress{.kind = ListenAddress::Kind::kUnix, .path = address->sun_path};
  }
  ListenAddress found{.kind = ListenAddress::Kind::kTcp};
  const auto* const four = reinterpret_cast<const sockaddr_in*>(&bound);
  const auto* const six = reinterpret_cast<const sockaddr_in6*>(&bound);
  if (bound.ss_family == AF_INET) {
    inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
    found.port = ntohs(four->sin_port);
  } else if (bound.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
    found.port = ntohs(six->sin6_port);
  } else {
    return std::unexpected(
        Error("listen on a socket that is neither of TCP nor Unix", "", EAFNOSUPPORT));
  }
  found.host = text;
  return found;
}

// Of an IP address, or localhost.
struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string shown;
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

TcpAddress ResolveTcp(const ListenAddress& wanted) {
  const std::string host = wanted.host == "localhost" ? "127.0.0.1" : wanted.host;
  TcpAddress found{.shown = HostAndPortText(host, wanted.port)};
  if (host.contains(':')) {
    auto* const six = reinterpret_cast<sockaddr_in6*>(&found.storage);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(wanted.port);
    inet_pton(AF_INET6, host.c_str(), &six->sin6_addr);
    found.size = sizeof *six;
  } else {
    auto* const four = reinterpret_cast<sockaddr_in*>(&found.storage);
    four->sin_family = AF_INET;
    four->sin_port = htons(wanted.port);
    inet_pton(AF_INET, host.c_str(), &four->sin_addr);
    found.size = sizeof *four;
  }
  return found;
}

Result<ListeningSocket> OpenTcp(const ListenAddress& wanted) {
  const TcpAddress address = ResolveTcp(wanted);
  ListeningSocket opened{.fd = {}, .address = wanted};
  PA_TRY(opened.fd, NewSocket(address.storage.ss_family));
  constexpr int kOn = 1;
  setsockopt(opened.fd.get(), SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn);
  if (bind(opened.fd.get(), address.generic(), address.size) != 0 ||
      listen(opened.fd.get(), SOMAXCONN) != 0) {
    return std::unexpected(Error("listen on", address.shown, errno));
  }
  PA_TRY(opened.address, AddressOf(opened.fd.get()));
  return opened;
}

int NumberIn(const std::map<std::string, std::string>& environment, const std::string& variable) {
  const auto found = environment.find(variable);
  int number = 0;
  if (found == environment.end()) return number;
  const std::string& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Result<ListeningSocket> TakePassed(int fd) {
  ListeningSocket taken{.fd = UniqueFd(fd)};
  const std::string name = "descriptor " + std::to_string(fd);
  int listens = 0;
  int type = 0;
  socklen_t size = sizeof(int);
  const bool known = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 &&
                     getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
  if (!known || listens == 0 || type != SOCK_STREAM) {
    return std::unexpected(Error(
        "systemd passed what is no stream socket that listens (Accept=yes?)", name, ENOTSOCK));
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  PA_TRY(taken.address, AddressOf(fd));
  return taken;
}

}  // namespace

Result<ListeningSocket> OpenListeningSocket(const ListenAddress& address) {
  return address.kind == ListenAddress::Kind::kUnix ? OpenUnix(address) : OpenTcp(address);
}

void RemoveSocketFile(const ListeningSocket& socket) {
  struct stat status{};
  if (socket.inode == 0 || lstat(socket.address.path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) return;
  if (status.st_dev == socket.device && status.st_ino == socket.inode) {
    unlink(socket.address.path.c_str());
  }
}

Result<std::vector<ListeningSocket>> TakePassedSockets(
    const std::map<std::string, std::string>& environment) {
  const int count = NumberIn(environment, "LISTEN_FDS");
  const bool for_us = NumberIn(environment, "LISTEN_PID") == getpid();
  if (!for_us || count <= 0 || count > kMostPassed) {
    return std::unexpected(
        Error("systemd passed no sockets: `--listen systemd` is for a unit with a .socket",
              "LISTEN_FDS", ENOENT));
  }
  std::vector<ListeningSocket> sockets;
  for (int fd = kFirstPassed; fd < kFirstPassed + count; ++fd) {
    PA_TRY(ListeningSocket taken, TakePassed(fd));
    sockets.push_back(std::move(taken));
  }
  return sockets;
}

Result<UniqueFd> ConnectTo(const ListenAddress& address, std::chrono::milliseconds patience) {
  const bool is_unix = address.kind == ListenAddress::Kind::kUnix;
  const sockaddr_un path = UnixAddress(address.path);
  const TcpAddress tcp = is_unix ? TcpAddress{.shown = address.path} : ResolveTcp(address);
  UniqueFd fd(socket(is_unix ? AF_UNIX : tcp.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return std::unexpected(Error("socket", "", errno));
  // socket(7): it counts for connect, too. A Unix socket whose queue is full keeps us waiting.
  const timeval time{.tv_sec = patience.count() / 1000, .tv_usec = patience.count() % 1000 * 1000};
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  const int connected = is_unix ? connect(fd.get(), Generic(path), sizeof path)
                                : connect(fd.get(), tcp.generic(), tcp.size);
  if (connected != 0) {
    const bool late = errno == EINPROGRESS || errno == EAGAIN;
    return std::unexpected(Error("connect to", tcp.shown, late ? ETIMEDOUT : errno));
  }
  if (!is_unix) return fd;
  ucred listens{};
  socklen_t size = sizeof listens;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &listens, &size) != 0) {
    return std::unexpected(Error("SO_PEERCRED", address.path, errno));
  }
  if (listens.uid == geteuid() || listens.uid == 0) return fd;
  return std::unexpected(Error("another user's process listens on", address.path, EPERM));
}

}  // namespace pa
