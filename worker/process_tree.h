// ProcessTree: everything that the guardian started, to signal and to measure. Freestanding.
//
//   SysResult<Reach> reach = EnterSignalScope(abi);          // before anything is started
//   SysResult<ProcessTree> tree = ProcessTree::Open(*reach, measured);
//   tree->Signal(SIGTERM, command);
//   ProcessTree::Use use = tree->Measure();
//
// The guardian is the subreaper, so a process whose parent dies becomes the guardian's child:
// whatever was started here, by setsid or double fork, has the guardian among its ancestors until
// it is reaped.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

// Whom kill(-1) would reach. Only the two below can say kOurTree, and only after a look.
enum class Reach { kAnybody, kOurTree };

// With ABI 6 enters a Landlock domain with the signal scope. The tree lives in domains nested in it
// and cannot signal us; we can signal nothing but the tree, not even as root.
SysResult<Reach> EnterSignalScope(int abi);

// For the first process of a pid namespace, in which nobody else is but its tree
// (pid_namespaces(7)).
SysResult<Reach> ReachAsInit();

class ProcessTree {
 public:
  // `measured`: Measure will be called. Fails if that, or Signal, needs a /proc that is not there.
  static SysResult<ProcessTree> Open(Reach reach, bool measured);

  // To every process of the tree but ourselves. In one system call, which no fork can outrun, where
  // kill(-1) reaches the tree only; otherwise one by one, and the caller repeats it until wait says
  // ECHILD. `command` is the first child while it is not reaped, else 0: it leads a process group.
  void Signal(int signal, pid_t command);

  // Live processes of the tree, and the memory that only they use: anonymous memory summed up, plus
  // the largest shared memory of any one process (a sum would count it several times). The
  // processor time is that of the process that has the most.
  struct Use {
    std::uint64_t processes = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t cpu_ms = 0;
  };
  Use Measure();

 private:
  struct Process;
  struct List;

  explicit ProcessTree(Reach reach, UniqueFd proc) : reach_(reach), proc_(std::move(proc)) {}
  List Find();
  bool ReadProcess(Process& process) const;
  void SignalOne(const Process& process, int signal) const;

  Reach reach_;
  UniqueFd proc_;
  Process* processes_ = nullptr;  // mapped at first use, for good
};

// Threads of the whole system, which is at least what this uid has; 0 if /proc does not say.
std::uint64_t CountThreads();

}  // namespace pa::worker
