// Cgroup: limits on a whole tree of processes that the kernel itself enforces, without sampling. It
// needs a part of the cgroup v2 tree that somebody has delegated to us.
//
//    Result<CgroupHome> home = CgroupHome::Open();  // once; moves us into a leaf beneath it
//    Result<Cgroup> group = home->Make("call-7");
//    clone3(CLONE_INTO_CGROUP, group->directory())           // or group->Add(pid)
//    group->Limit({.memory_bytes = 1 << 30, .processes = 512});
//    group->Kill(); ... group->Remove();
//    group->Usage()                                          // what was refused or killed, and why
//
// "Delegated" means (kernel, admin-guide/cgroup-v2, "Delegation"): this user may write the
// directory, its cgroup.procs and its cgroup.subtree_control. systemd delegates to services and
// scopes with `Delegate=`. A program started from a terminal or by a client lives in a scope that
// belongs to root (EACCES) or that other processes live in too (EBUSY).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa::sandbox {

// 0 = no limit of this kind.
struct CgroupLimits {
  std::uint64_t memory_bytes = 0;  // with page cache, tmpfs and memfds; swap is not allowed at all
  std::uint64_t processes = 0;     // threads count too
  std::uint64_t cpu_percent = 0;   // of one processor; needs the controller cpu
};

struct CgroupUsage {
  std::uint64_t cpu_us = 0;             // of everything that ran in it, ended processes included
  std::uint64_t killed_for_memory = 0;  // processes
  std::uint64_t refused_processes = 0;  // forks and threads
  std::uint64_t throttled = 0;          // periods in which it was denied the processor
};

// One group, for one call. Processes in it can neither leave it nor bring others in, as long as the
// sandbox grants no writing beneath /sys/fs/cgroup.
class Cgroup {
 public:
  // Takes effect at once, also for processes that are already in it.
  Result<void> Limit(const CgroupLimits& limits) const;
  int directory() const { return directory_.get(); }
  Result<void> Add(pid_t pid) const;
  // SIGKILL to every process in it at once, including those that keep forking or are stopped. Linux
  // 5.14; before that ENOENT, and the caller has to loop over cgroup.procs.
  Result<void> Kill() const;
  Result<bool> Populated() const;  // zombies that wait for their parent do not count
  Result<CgroupUsage> Usage() const;
  Result<void> Remove();  // EBUSY while a process lives in it

 private:
  friend class CgroupHome;
  Cgroup(std::string path, UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  std::string path_;
  UniqueFd directory_;
};

class CgroupHome {
 public:
  // Opens the group in which this process runs. It must hold no process that does not descend from
  // us, because a group with processes of its own passes no controllers to its children: EBUSY.
  // ENOENT: there is no cgroup v2. EACCES, EROFS: it is not delegated to us. ENOTSUP: the
  // controllers memory and pids are missing. ENOSYS, EPERM: clone3, which creates processes in a
  // group, is refused. After an error this process is where it was. Empty groups left by an earlier
  // run are removed.
  static Result<CgroupHome> Open();

  // EEXIST: another run has left a group of that name.
  Result<Cgroup> Make(const std::string& name) const;
  const std::string& path() const { return path_; }
  bool withholds_cpus() const { return withholds_cpus_; }  // whether there is the controller cpu

 private:
  CgroupHome(std::string path, bool withholds_cpus)
      : path_(std::move(path)), withholds_cpus_(withholds_cpus) {}
  std::string path_;
  bool withholds_cpus_;
};

}  // namespace pa::sandbox
