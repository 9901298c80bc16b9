// ServeJanitor: the janitor's process. It waits for orders, and forks a process for each, which
// confines itself to what the order names and then does the chore.
//
//    int main() { return ServeJanitor(kChores); }
//
// It never looks at what a chore reads or answers, so it is the same for the next chore. It ends
// when the supervisor does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sandbox/prepared.h"
#include "supervisor/janitor/janitor.h"

namespace pa {

// Exit status: 0 after the supervisor has closed the socket, 1 if there is none at kJanitorFd.
int ServeJanitor(std::span<const Chore> chores);

// Confines this process, for good, to the paths: no other file can be opened, nothing executed, no
// process made, signalled or traced, no socket made. Landlock before ABI 2 lets nobody move a file
// to another directory, so there a chore with `write` has the system calls of files everywhere.
// `syscalls`: ChoreSyscalls().
Result<void> ConfineChore(const std::vector<std::string>& read,
                          const std::vector<std::string>& write, std::string_view syscalls);
Result<sandbox::SeccompProgram> ChoreSyscalls();

}  // namespace pa
