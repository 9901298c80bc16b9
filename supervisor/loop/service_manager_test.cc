#include "supervisor/loop/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "supervisor/loop/loop.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

// What systemd's end of NOTIFY_SOCKET gets.
class Manager {
 public:
  explicit Manager(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  std::string Next() {
    char message[1024];
    const ssize_t got = recv(fd_.get(), message, sizeof message, 0);
    return got < 0 ? "" : std::string(message, static_cast<std::size_t>(got));
  }

 private:
  UniqueFd fd_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
};

TEST(ServiceManager, IsToldHowTheServiceIs) {
  const testing::TempDir dir;
  const std::string path = dir.path().string() + "/notify";
  for (const std::string& name : {path, "@project-actions-test-" + std::to_string(getpid())}) {
    Manager systemd(name);
    ServiceManager service({{"NOTIFY_SOCKET", name}});
    service.Ready("2 tenants\nMAINPID=1");
    EXPECT_EQ(systemd.Next(), "READY=1\nSTATUS=2 tenants?MAINPID=1");
    service.Reloading();
    EXPECT_TRUE(systemd.Next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    service.Ready("3 tenants");
    EXPECT_EQ(systemd.Next(), "READY=1\nSTATUS=3 tenants");
    service.Stopping();
    EXPECT_EQ(systemd.Next(), "STOPPING=1");
  }
}

TEST(ServiceManager, ThereIsNone) {
  const testing::TempDir dir;
  for (const std::string& name :
       {std::string(), std::string("/"), dir.path().string() + "/none", std::string(200, 'x')}) {
    ServiceManager service({{"NOTIFY_SOCKET", name}});
    service.Ready(name);
    service.Stopping();
  }
  ServiceManager nobody({});
  nobody.Ready("");
}

// Turns the loop for `time`; how often it told that it turns.
int Ticks(std::map<std::string, std::string> environment, std::chrono::milliseconds time) {
  const testing::TempDir dir;
  const std::string name = dir.path().string() + "/notify";
  Manager systemd(name);
  environment["NOTIFY_SOCKET"] = name;
  Loop loop;
  {
    ServiceManager service(environment);
    const Watchdog watchdog(service, loop.get());
    TimerHandle end(loop.get());
    end.Start(time, [] {});
    loop.Run();
  }
  loop.Run();
  int ticks = 0;
  while (systemd.Next() == "WATCHDOG=1") ++ticks;
  return ticks;
}

TEST(ServiceManager, HearsFromTheLoopInHalfTheTime) {
  const std::chrono::milliseconds time(200);
  EXPECT_GE(Ticks({{"WATCHDOG_USEC", "20000"}}, time), 3);
  EXPECT_GE(Ticks({{"WATCHDOG_USEC", "20000"}, {"WATCHDOG_PID", std::to_string(getpid())}}, time),
            3);
  EXPECT_EQ(Ticks({{"WATCHDOG_USEC", "20000"}, {"WATCHDOG_PID", "1"}}, time), 0);
  EXPECT_EQ(Ticks({{"WATCHDOG_USEC", "0"}}, time), 0);
  EXPECT_EQ(Ticks({{"WATCHDOG_USEC", "20000x"}}, time), 0);
  EXPECT_EQ(Ticks({}, time), 0);
}

}  // namespace
}  // namespace pa
