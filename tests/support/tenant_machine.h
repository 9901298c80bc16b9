// TenantMachine: many tenants behind one front door, for a test. The nginx.conf that is installed,
// project-actionsd and the servers of two tenants, each as a user that every system has; the
// sockets are opened as systemd would. For root.
//
//    TenantMachine machine;
//    machine.Lay();
//    machine.Start();
//    Json result = machine.Call(machine.TokenOf(kAnn), "make", {{"target", "who"}});
#pragma once

#include <pwd.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/json.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {

inline constexpr char kAnn[] = "games";
inline constexpr char kBob[] = "mail";
inline constexpr char kWebServer[] = "nobody";
inline constexpr char kDoor[] = "daemon";

passwd UserOf(const char* name);
// The command line's begin that makes the rest of it run as this user.
std::vector<std::string> As(const char* user);
void End(pid_t process, int signal);  // and waits for it

// "200", or "closed".
std::string StatusOf(const std::string& answer);
// The result of a call, or the status of the answer if that is not 200.
Json ResultOf(const std::string& answer);

class TenantMachine {
 public:
  ~TenantMachine();

  void Lay();    // files alone: programs, directories, a project for each tenant, policy and token
  void Start();  // all three
  void StartDoor(const std::string& notify = "");  // systemd's socket, which gets a sign of life
  void StartServer(const char* user);
  void StartNginx();

  const std::filesystem::path& path() const { return dir_.path(); }
  std::string At(const std::string& name) const { return dir_.path() / name; }
  std::string Program(const char* name) const { return At("lib/supervisor/") + name; }
  std::string TenantsPath() const { return At("tenants"); }
  std::string SocketOf(const char* user) const;
  std::filesystem::path HomeOf(const char* user) const { return dir_.path() / "home" / user; }
  std::uint16_t port() const { return port_; }
  const std::string& TokenOf(const char* user) const { return tokens_.at(user); }
  pid_t door() const { return door_; }
  pid_t nginx() const { return nginx_; }
  pid_t ServerOf(const char* user) const { return server_of_.at(user); }

  ProgramResult Run(std::vector<std::string> words) const;  // project-actions
  std::string Fields(const std::string& token, const std::string& more = "") const;
  std::string Ask(const std::string& request) const;
  Json Call(const std::string& token, const std::string& tool, const Json& arguments,
            const std::string& more = "") const;

 private:
  void Add(const char* user);
  pid_t StartAt(const std::string& path, const char* user, std::vector<std::string> command,
                const std::string& home);

  TempDir dir_;
  std::map<std::string, std::string> tokens_;
  std::map<std::string, UniqueFd> listeners_;
  std::map<std::string, pid_t> server_of_;
  std::vector<pid_t> processes_;
  pid_t door_ = -1;
  pid_t nginx_ = -1;
  std::uint16_t port_ = 0;
  UniqueFd errors_;
};

}  // namespace pa::testing
