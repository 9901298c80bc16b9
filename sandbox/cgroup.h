// Cgroup: limits on a whole tree of processes, kept by the kernel and not by counting now and then,
// where somebody has delegated a part of the cgroup v2 tree to us.
//
//   Result<CgroupHome> home = CgroupHome::Open();  // once; moves us into a leaf beneath it
//   Result<Cgroup> group = home->Make("call-7");
//   clone3(CLONE_INTO_CGROUP, group->directory())           // or group->Add(pid)
//   group->Limit({.memory_bytes = 1 << 30, .processes = 512});
//   group->Kill(); ... group->Remove();
//   group->Usage()                                          // what was refused or killed, and why
//
// Delegated means (kernel, admin-guide/cgroup-v2, "Delegation"): the directory, its cgroup.procs
// and its cgroup.subtree_control are ours to write. systemd does that for services and scopes with
// `Delegate=`; what a terminal or a client starts lives in a scope that is root's (EACCES) or that
// others live in too (EBUSY).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa::sandbox {

// 0 means no limit of this kind.
struct CgroupLimits {
  std::uint64_t memory_bytes = 0;  // with page cache, tmpfs and memfds; swap is not given at all
  std::uint64_t processes = 0;     // threads count too
  std::uint64_t cpu_percent = 0;   // of one processor; needs the controller cpu, which may lack
};

struct CgroupUsage {
  std::uint64_t cpu_us = 0;             // of all that ran in it, also what has ended
  std::uint64_t killed_for_memory = 0;  // processes
  std::uint64_t refused_processes = 0;  // forks and threads
  std::uint64_t throttled = 0;          // periods in which the processor was withheld
};

// One group, for one call. Neither moved into nor out of by what runs in it, as long as the sandbox
// grants no writing beneath /sys/fs/cgroup.
class Cgroup {
 public:
  // At once, whatever lives in it.
  Result<void> Limit(const CgroupLimits& limits) const;
  int directory() const { return directory_.get(); }
  Result<void> Add(pid_t pid) const;
  // SIGKILL to everything in it at once, also to what forks on and to what is stopped. Linux 5.14;
  // ENOENT before, and then a loop over cgroup.procs has to do.
  Result<void> Kill() const;
  Result<bool> Populated() const;  // zombies that wait for their parent do not count
  Result<CgroupUsage> Usage() const;
  Result<void> Remove();  // EBUSY while something lives in it

 private:
  friend class CgroupHome;
  Cgroup(std::string path, UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  std::string path_;
  UniqueFd directory_;
};

class CgroupHome {
 public:
  // The group in which we run. It must hold nobody but us, because a group with processes of its
  // own gives its children no controllers: EBUSY. ENOENT: no cgroup v2 here. EACCES, EROFS: not
  // delegated to us. ENOTSUP: without the controllers memory and pids. ENOSYS, EPERM: clone3, which
  // makes processes in a group, is refused. After an error we are where we were. Groups that a run
  // before left empty are removed.
  static Result<CgroupHome> Open();

  // A group of that name that was left behind by another run is EEXIST.
  Result<Cgroup> Make(const std::string& name) const;
  const std::string& path() const { return path_; }
  bool withholds_cpus() const { return withholds_cpus_; }  // the controller cpu is there

 private:
  CgroupHome(std::string path, bool withholds_cpus)
      : path_(std::move(path)), withholds_cpus_(withholds_cpus) {}
  std::string path_;
  bool withholds_cpus_;
};

}  // namespace pa::sandbox
