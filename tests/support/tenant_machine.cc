#include "tests/support/tenant_machine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/front_door.h"
#include "tests/support/http_client.h"
#include "tests/support/launch.h"
#include "tests/support/loopback.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/unix_socket.h"

namespace pa::testing {

namespace fs = std::filesystem;

passwd UserOf(const char* name) {
  const passwd* const entry = getpwnam(name);
  return entry == nullptr ? passwd{} : *entry;
}

std::vector<std::string> As(const char* user) {
  const passwd entry = UserOf(user);
  return {"setpriv", "--reuid=" + std::to_string(entry.pw_uid),
          "--regid=" + std::to_string(entry.pw_gid), "--clear-groups"};
}

void End(pid_t process, int signal) {
  if (process <= 0) return;
  kill(process, signal);
  siginfo_t info{};
  const bool ended = Eventually([&] {
    return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG) != 0 ||
           info.si_pid != 0;
  });
  EXPECT_TRUE(ended);
  // Of these programs none breaks down when it is asked to end. Before it listens for that, it
  // dies.
  const bool died = info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
  EXPECT_FALSE(signal == SIGTERM && died && info.si_status != SIGTERM) << info.si_status;
}

std::string StatusOf(const std::string& answer) {
  return answer.size() < 12 ? "closed" : answer.substr(9, 3);
}

Json ResultOf(const std::string& answer) {
  if (StatusOf(answer) != "200") return StatusOf(answer);
  // Of a stream the last event.
  const std::size_t data = answer.rfind("data: ");
  const std::string text = data == std::string::npos
                               ? answer.substr(answer.find("\r\n\r\n") + 4)
                               : answer.substr(data + 6, answer.find('\n', data) - data - 6);
  const Json body = Json::parse(text, nullptr, false);
  return body.is_object() ? body["result"]["structuredContent"] : Json(answer);
}

TenantMachine::~TenantMachine() {
  for (const pid_t process : processes_) End(process, SIGTERM);
}

void TenantMachine::Start() {
  StartDoor();
  for (const char* user : {kAnn, kBob}) StartServer(user);
  StartNginx();
}

// Programs where other users can start them, and directories with the owners that they have when
// they are installed.
void TenantMachine::Lay() {
  errors_.reset(open(At("errors").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  chmod(dir_.path().c_str(), 0755);
  const fs::path lib = dir_.path() / "lib";
  fs::create_directories(lib / "supervisor");
  fs::create_directories(lib / "worker");
  fs::copy_file(BuiltProgram("PA_SERVER"), lib / "supervisor/project-actions");
  fs::copy_file(BuiltProgram("PA_DAEMON"), lib / "supervisor/project-actionsd");
  fs::copy_file(BuiltProgram("PA_WORKER"), lib / "worker/project-actions-worker");
  for (const char* directory : {"tenants", "run", "nginx", "nginx.d"}) {
    fs::create_directories(At(directory));
  }
  const passwd web = UserOf(kWebServer);
  ASSERT_EQ(chown(TenantsPath().c_str(), 0, UserOf(kDoor).pw_gid), 0);
  ASSERT_EQ(chmod(TenantsPath().c_str(), 0751), 0);
  ASSERT_EQ(chown(At("run").c_str(), 0, web.pw_gid), 0);
  ASSERT_EQ(chmod(At("run").c_str(), 0750), 0);
  ASSERT_EQ(chown(At("nginx").c_str(), web.pw_uid, web.pw_gid), 0);
  for (const char* user : {kAnn, kBob}) {
    const fs::path project = HomeOf(user) / "project";
    fs::create_directories(project);
    WriteText(project / "Makefile",
              ".PHONY: who wait pause\nwho:\n\t@id -u\nwait:\n\t@echo begun; exec sleep 100\n"
              "pause:\n\t@touch begun; until test -e go; do sleep 0.1; done; echo went on\n");
    WriteText(project / "secret", std::string("of ") + user + "\n");
    const passwd owner = UserOf(user);
    for (const fs::path& path : {HomeOf(user), project, project / "Makefile", project / "secret"}) {
      ASSERT_EQ(chown(path.c_str(), owner.pw_uid, owner.pw_gid), 0);
    }
    chmod(HomeOf(user).c_str(), 0700);
    Add(user);
  }
  const LoopbackListener free;
  port_ = free.port();
}

std::string TenantMachine::SocketOf(const char* user) const {
  return At("run/") + std::to_string(UserOf(user).pw_uid) + ".sock";
}

ProgramResult TenantMachine::Run(std::vector<std::string> words) const {
  words.insert(words.begin(), Program("project-actions"));
  return RunProgram({.command = std::move(words), .environment = {"HOME=" + At("home")}});
}

void TenantMachine::Add(const char* user) {
  const ProgramResult added = Run({"tenant", "add", user, "--tenants", TenantsPath(), "--root",
                                   HomeOf(user) / "project", "--enable", "all"});
  ASSERT_EQ(added.exit_code, 0) << added.errors;
  tokens_[user] = added.output.substr(0, added.output.find('\n'));
}

// As systemd does it: the socket is root's, and open for its group.
pid_t TenantMachine::StartAt(const std::string& path, const char* user,
                             std::vector<std::string> command, const std::string& home) {
  UniqueFd& listener = listeners_[path];
  if (!listener) {
    listener = ListenUnix(path);
    EXPECT_TRUE(listener) << path;
    EXPECT_EQ(chown(path.c_str(), 0, UserOf(kWebServer).pw_gid), 0);
    EXPECT_EQ(chmod(path.c_str(), 0660), 0);
  }
  std::vector<std::string> words = As(user);
  words.insert(words.end(), {"sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", "sh"});
  words.insert(words.end(), command.begin(), command.end());
  const pid_t process = Spawn({.command = std::move(words),
                               .environment = {"HOME=" + home},
                               .err = errors_.get(),
                               .inherit = {{listener.get(), 3}}});
  processes_.push_back(process);
  return process;
}

void TenantMachine::StartDoor(const std::string& notify) {
  std::vector<std::string> command = {Program("project-actionsd"),
                                      "--web-server",
                                      kWebServer,
                                      "--tenants",
                                      TenantsPath(),
                                      "--policy",
                                      At("policy.yaml")};
  if (!notify.empty()) {
    const std::vector<std::string> told = {"env", "NOTIFY_SOCKET=" + notify,
                                           "WATCHDOG_USEC=1000000"};
    command.insert(command.begin(), told.begin(), told.end());
  }
  door_ = StartAt(At("door.sock"), kDoor, std::move(command), "/");
}

void TenantMachine::StartServer(const char* user) {
  const std::string own = TenantsPath() + "/" + user;
  server_of_[user] =
      StartAt(SocketOf(user), user,
              {Program("project-actions"), "serve", "--verbose", "--policy", own + "/policy.yaml",
               "--tokens", own + "/tokens.json", "--front-door", kWebServer, "--listen", "systemd"},
              HomeOf(user));
}

void TenantMachine::StartNginx() {
  WriteText(At("nginx.conf"),
            NginxConf(ReadText(BuiltProgram("PA_NGINX_CONF")), dir_.path(), port_));
  std::vector<std::string> words = As(kWebServer);
  words.insert(words.end(), {kNginx, "-c", At("nginx.conf"), "-e", "stderr"});
  nginx_ = Spawn({.command = std::move(words), .err = errors_.get()});
  processes_.push_back(nginx_);
  ASSERT_TRUE(Eventually([&] { return static_cast<bool>(ConnectLoopback(port_)); }))
      << ReadText(At("errors"));
}

std::string TenantMachine::Fields(const std::string& token, const std::string& more) const {
  std::string fields = "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n" + more;
  if (!token.empty()) fields += "Authorization: Bearer " + token + "\r\n";
  return fields;
}

std::string TenantMachine::Ask(const std::string& request) const {
  const UniqueFd fd = ConnectLoopback(port_);
  send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  return Hear(fd.get());
}

Json TenantMachine::Call(const std::string& token, const std::string& tool, const Json& arguments,
                         const std::string& more) const {
  return ResultOf(Ask(ModernPost(tool, arguments, Fields(token, "Connection: close\r\n" + more))));
}

}  // namespace pa::testing
