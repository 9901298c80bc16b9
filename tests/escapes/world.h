// World: everything around a project that its commands must not reach, and checks of it afterwards.
//
//    World world;
//    Trial run = world.Do("./attempt read {home}/.ssh/id_ed25519", {}, Sandbox::kOn);
//    EXPECT_FALSE(world.SecretIn(run));
//
// In commands {name} is replaced by a value that each World makes anew: {home}, {outside},
// {project}, {socket}, {datagram}, {abstract}, {tcp}, {tcp6}, {udp}, {bystander}, {address},
// {server}, {key}, {terminal}, {test}.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/mcp_client.h"
#include "tests/support/project.h"

namespace pa::testing {

enum class Sandbox {
  kOn,
  kUnconfined,  // the same worker without Landlock, seccomp, capabilities and rlimits
  kNone,        // no server: the test runs make, for what the unconfined worker still stops
};

// How the attempt is run.
enum class Vector {
  kRecipe,     // make runs a target
  kBash,       // bash runs a command
  kDiscovery,  // make_targets lets make read a Makefile that runs $(shell ...)
  kInclude,    // make_targets lets make remake an included file
  kDryRun,     // `make -n` still runs lines that begin with +
  kGitHook,    // git_commit runs the project's pre-commit hook
  kGitFilter,  // git_add runs a filter that the repository's configuration names
};

struct Setting {
  Vector vector = Vector::kRecipe;
  std::string policy;       // YAML beyond `version: 1`, with names in braces as in commands
  std::string listen = {};  // where the server listens beside standard input, the same
  bool tokens = false;      // there is a file of tokens, which holds the secret
  std::vector<std::string> server_environment;
  // git commands that the user runs before, in a repository made for that.
  std::vector<std::vector<std::string>> git = {};
  // kBash: the directory in which the command runs; the command is then the argument of bash, not a
  // script. Without the sandbox it runs at the top.
  std::string directory = {};
};

struct Trial {
  bool success = false;
  std::string output;  // all that the client saw
};

class World {
 public:
  World();
  ~World();  // kills what is left of the attempts
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Trial Do(std::string_view command, const Setting& setting, Sandbox sandbox);

  const Project& project() const { return project_; }
  // Whether an attempt did this.
  bool SecretIn(const Trial& run) const;       // the secret of the key, the bystander or the server
  bool Exists(std::string_view name) const;    // beneath {outside}
  bool Appeared(std::string_view path) const;  // any path, with names in braces; removes it
  std::string Text(std::string_view name) const;
  std::string ProjectText(std::string_view name) const;  // "" where nothing is
  struct stat Status(std::string_view name) const;
  // `listener`: "tcp", "udp", "socket", ...: somebody sent `escaped` to it.
  bool Reached(std::string_view listener) const;
  bool Signalled() const;      // the bystander got a signal
  bool MemoryChanged() const;  // the bystander's
  bool SharedMemoryChanged() const;
  bool NextGitRunsIt() const;    // the user's next git command outside executes what was left there
  bool MessageReceived() const;  // by the System V message queue with {key}
  bool TerminalTouched() const;  // echoed or written: the server's controlling terminal
  bool survivors() const { return survivors_; }  // something was alive after the reply
  pid_t bystander() const { return bystander_; }

 private:
  void MakeFiles();
  void StartBystander();
  void MakeListeners();
  std::string Fill(std::string_view command) const;
  static std::string Makefile(Vector vector);
  void Prepare(std::string_view command, const Setting& setting);
  void PrepareGit(const Setting& setting);
  void MakeTokens() const;
  ServerOptions Options(const Setting& setting, Sandbox sandbox);
  Trial Call(McpClient& client, const Setting& setting);
  Trial Bare(const Setting& setting);
  bool Survived() const;
  std::vector<pid_t> Survivors() const;  // those that can be listed

  Project project_;
  std::string secret_;
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, UniqueFd, std::less<>> listeners_;
  pid_t bystander_ = -1;
  UniqueFd bystander_in_;
  UniqueFd bystander_out_;
  UniqueFd inherited_;
  UniqueFd terminal_;  // the master of the server's controlling terminal
  int shared_memory_ = -1;
  int message_queue_ = -1;
  bool survivors_ = false;
};

}  // namespace pa::testing
