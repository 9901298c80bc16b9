// World: everything around a project that a recipe has no business with, and how to look at it
// afterwards.
//
//   World world;
//   Trial run = world.Do("./attempt read {home}/.ssh/id_ed25519", {}, Sandbox::kOn);
//   EXPECT_FALSE(world.SecretIn(run));
//
// In commands {name} stands for what a World makes anew each time: {home}, {outside}, {project},
// {socket}, {datagram}, {abstract}, {tcp}, {tcp6}, {udp}, {bystander}, {address}, {server}, {key},
// {test}.
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
  kNone,        // no server at all: make run by the test, for what the rest of the worker stops
};

// How the attempt gets its chance.
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
  std::string policy;  // YAML beyond `version: 1`
  std::vector<std::string> server_environment;
  std::vector<std::vector<std::string>> git =
      {};  // run by the user before, in a repository made for that
  // kBash: in which the command runs, which is in its argument then; without the sandbox it runs at
  // the top.
  std::string directory = {};
};

struct Trial {
  bool success = false;
  std::string output;  // all that the client got to see
};

class World {
 public:
  World();
  ~World();  // ends whatever is left of the attempts
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Trial Do(std::string_view command, const Setting& setting, Sandbox sandbox);

  const Project& project() const { return project_; }
  // What an attempt may have done.
  bool SecretIn(const Trial& run) const;       // the secret of the key, the bystander or the server
  bool Exists(std::string_view name) const;    // beneath {outside}
  bool Appeared(std::string_view path) const;  // any path, with names in braces; removes it
  std::string Text(std::string_view name) const;
  std::string ProjectText(std::string_view name) const;  // "" where nothing is
  struct stat Status(std::string_view name) const;
  bool Reached(
      std::string_view listener) const;  // "tcp", "udp", "socket", ...: somebody sent `escaped`
  bool Signalled() const;                // the bystander got a signal
  bool MemoryChanged() const;            // the bystander's
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
