// Terminal: a pseudo-terminal with the test at its keyboard.
//
//    Terminal terminal(80);
//    const pid_t pid = Spawn(terminal.Of({.command = {...}}));
//    const std::string shown = terminal.ReadUntil("[y/N] ");
//    terminal.Type("y\n");
#pragma once

#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "tests/support/launch.h"

namespace pa::testing {

class Terminal {
 public:
  explicit Terminal(unsigned short columns);  // aborts if there is none to have

  // With the terminal as its controlling one and as its three streams.
  Launch Of(Launch launch) const;
  void Type(std::string_view text);
  // What is shown until `text` is among it, or nobody has the terminal any more.
  std::string ReadUntil(std::string_view text);
  // Waits for the program; the rest of what it shows is in `shown`. Its exit status, -1: a signal.
  int Wait(pid_t pid, std::string& shown);

 private:
  bool ReadMore(std::string& shown);

  UniqueFd keyboard_, terminal_;
  std::string name_;
};

}  // namespace pa::testing
