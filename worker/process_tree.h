// ProcessTree: all processes that the guardian started, to signal and to measure them.
// Freestanding.
//
//    SysResult<Reach> reach = EnterSignalScope(abi);          // before anything is started
//    SysResult<ProcessTree> tree = ProcessTree::Open(*reach, measured);
//    tree->Signal(SIGTERM, command);
//    ProcessTree::Use use = tree->Measure();
//
// The guardian is the subreaper, so a process whose parent dies becomes the guardian's child: every
// process that was started here, also by setsid or a double fork, has the guardian among its
// ancestors until it is reaped.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/sys_error.h"
#include "base/unique_fd.h"

namespace pa::worker {

// Which processes kill(-1) reaches. Only the two functions below return kOurTree, and only after
// they have checked it.
enum class Reach { kAnybody, kOurTree };

// From ABI 6 on, enters a Landlock domain with the signal scope. The tree lives in domains nested
// in it and cannot signal us; we can signal nothing but the tree, not even as root.
SysResult<Reach> EnterSignalScope(int abi);

// For the first process of a pid namespace, which contains only that process and its tree
// (pid_namespaces(7)).
SysResult<Reach> ReachAsInit();

class ProcessTree {
 public:
  // `measured`: Measure will be called. Fails if Measure, or Signal, needs a /proc that is missing
  // or belongs to another pid namespace.
  static SysResult<ProcessTree> Open(Reach reach, bool measured);

  // Signals every process of the tree except ourselves. If kill(-1) reaches only the tree, this is
  // one system call, which no fork can outrun. Otherwise the processes are signalled one by one,
  // and the caller repeats the call until wait returns ECHILD. `command`: the first child, which
  // leads a process group, as long as it is not reaped; then 0.
  void Signal(int signal, pid_t command);

  // The live processes of the tree, and the memory that only they use: the sum of their anonymous
  // memory plus the largest shared memory of a single process (a sum would count shared memory
  // several times). The processor time is that of the process that has used the most.
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
  Process* processes_ = nullptr;  // mapped at first use and never unmapped
};

// The number of threads in the whole system, which is at least that of this uid; 0 if /proc does
// not tell.
std::uint64_t CountThreads();

}  // namespace pa::worker
