#include "supervisor/loop/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>

#include "base/utf8.h"
#include "supervisor/loop/log.h"

namespace pa {
namespace {

std::string Variable(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::optional<std::int64_t> NumberOf(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// `/PATH`, or `@NAME` of an abstract socket.
UniqueFd ConnectNotify(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() < 2 || name.size() >= sizeof address.sun_path) {
    LogWarning("NOTIFY_SOCKET names no socket: " + name);
    return {};
  }
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name.front() == '@') address.sun_path[0] = '\0';
  UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    LogWarning(
        fmt::format("systemd is not told how this service is: {}: {}", name, std::strerror(errno)));
    return {};
  }
  return fd;
}

}  // namespace

ServiceManager::ServiceManager(const std::map<std::string, std::string>& environment) {
  const std::string name = Variable(environment, "NOTIFY_SOCKET");
  if (name.empty()) return;
  socket_ = ConnectNotify(name);
  // sd_watchdog_enabled(3): it can be meant for another process.
  const std::string process = Variable(environment, "WATCHDOG_PID");
  const auto interval = NumberOf(Variable(environment, "WATCHDOG_USEC"));
  if (!interval || *interval <= 0) return;
  if (!process.empty() && NumberOf(process) != getpid()) return;
  watchdog_ = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::microseconds(*interval));
}

void ServiceManager::Ready(const std::string& status) {
  Tell("READY=1\nSTATUS=" + RepairUtf8(status, true));
}

// systemd tells this READY from an earlier one by the time.
void ServiceManager::Reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  Tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1'000'000 + now.tv_nsec / 1000));
}

void ServiceManager::Stopping() { Tell("STOPPING=1"); }

bool ServiceManager::Tell(const std::string& message, int flags) {
  if (!socket_) return true;
  if (send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL | flags) >= 0) return true;
  LogInfo(std::string("systemd was not told how this service is: ") + std::strerror(errno));
  return false;
}

Watchdog::Watchdog(ServiceManager& manager, uv_loop_t* loop) : manager_(manager), timer_(loop) {
  timer_.Unref();
  if (manager_.socket_ && manager_.watchdog_.count() > 0) Tick();
}

// Half of the time, as sd_watchdog_enabled(3) recommends. While systemd is busy, nobody waits for
// it; then an eighth, because at half of what is left the time would be over.
void Watchdog::Tick() {
  const bool told = manager_.Tell("WATCHDOG=1", MSG_DONTWAIT);
  timer_.Start(manager_.watchdog_ / (told ? 2 : 8), [this] { Tick(); });
}

}  // namespace pa
