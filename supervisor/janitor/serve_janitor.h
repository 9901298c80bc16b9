// ServeJanitor: the janitor's process. It forks a process for each order, which waits for it,
// confines itself to what the order names, and then does the chore.
//
//    int main() { return ServeJanitor(AllChores()); }
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
int ServeJanitor(const std::vector<Chore>& chores);

struct ChoreSandbox {
  int landlock_abi = 0;
  sandbox::SeccompProgram syscalls;
};
// An error: this kernel cannot confine a chore.
Result<ChoreSandbox> PrepareChores();

// The first half, before there is an order: from now on this process can work with files and
// memory, receive an order and confine itself further. It executes nothing, makes no process and no
// socket, signals and traces nobody.
Result<void> ConfineToFiles(const ChoreSandbox& by);
// The second half: no file can be opened but beneath the paths. Landlock before ABI 2 lets nobody
// move a file to another directory, so there a chore with `write` can open others, too.
Result<void> ConfineChore(const std::vector<std::string>& read,
                          const std::vector<std::string>& write, const ChoreSandbox& by);

}  // namespace pa
