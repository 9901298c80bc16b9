// Spawn: starts a program with exactly the descriptors, environment and terminal that a test gives
// it.
//
//    pid_t pid = Spawn({.command = {"make", "run"}, .environment = {"HOME=/x"}, .out = fd});
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pa::testing {

struct Launch {
  std::vector<std::string> command;  // looked up on PATH unless it is a path
  // NAME=value; PATH and the sanitizers' options are added.
  std::vector<std::string> environment = {};
  std::string directory = "/";
  int in = -1;  // -1: /dev/null
  int out = -1;
  int err = -1;
  std::optional<std::pair<int, int>> inherit = {};  // {our descriptor, its number in the program}
  std::string terminal = {};  // becomes its controlling terminal, in a session of its own
};

// Aborts if the program cannot be started.
pid_t Spawn(Launch launch);

}  // namespace pa::testing
