// CallGroups: a cgroup for each worker, if a part of the cgroup v2 tree was delegated to us
// (sandbox/cgroup.h). The cgroup is made ahead, together with the worker that waits for an order.
// It gets the limits of the call with the order. It is removed once no process lives in it.
//
//    CallGroups groups(loop);
//    groups.Open();                           // once, before we have children
//    if (groups.there()) {
//      Result<CallGroup> group = groups.Make();
//      ... clone into group->cgroup() ...
//    }                                        // ~CallGroup kills every process in it
#pragma once

#include <uv.h>

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "sandbox/cgroup.h"
#include "sandbox/confinement.h"
#include "supervisor/loop/uv_handles.h"

namespace pa {

class CallGroups;

// The cgroup of one worker. The destructor kills its processes and has it removed. It must not
// outlive its CallGroups.
class CallGroup {
 public:
  CallGroup(CallGroups& home, sandbox::Cgroup cgroup) : home_(&home), cgroup_(std::move(cgroup)) {}
  ~CallGroup();
  CallGroup(CallGroup&& other) noexcept
      : home_(std::exchange(other.home_, nullptr)), cgroup_(std::move(other.cgroup_)) {}
  CallGroup& operator=(CallGroup&& other) noexcept {
    std::swap(home_, other.home_);
    std::swap(cgroup_, other.cgroup_);
    return *this;
  }

  const sandbox::Cgroup& cgroup() const { return cgroup_; }

 private:
  CallGroups* home_;  // null: moved from
  sandbox::Cgroup cgroup_;
};

class CallGroups {
 public:
  explicit CallGroups(uv_loop_t* loop) : timer_(loop) {}
  // Waits up to half a second for cgroups whose processes are about to end. The next run of the
  // server removes those that are left.
  ~CallGroups();
  CallGroups(const CallGroups&) = delete;
  CallGroups& operator=(const CallGroups&) = delete;

  // Moves this process into a leaf cgroup of its own (CgroupHome::Open). A second call does
  // nothing.
  void Open();
  bool there() const { return home_.has_value(); }
  std::string path() const { return home_ ? home_->path() : ""; }
  bool withholds_cpus() const { return home_ && home_->withholds_cpus(); }
  const std::string& why_not() const {
    return why_not_;
  }  // "" before Open, and if there are cgroups

  Result<CallGroup> Make();

 private:
  friend class CallGroup;
  void Discard(sandbox::Cgroup group);
  void Sweep();

  std::optional<sandbox::CgroupHome> home_;
  std::string why_not_;
  std::uint64_t next_number_ = 0;
  std::list<sandbox::Cgroup> leaving_;
  TimerHandle timer_;
};

// The part of `limits` that a cgroup enforces. The limit on processes leaves room for the guardian,
// and for some processes more than the policy allows: the guardian has to see those to end the
// command and name the limit, before the kernel refuses them without a word.
sandbox::CgroupLimits GroupLimits(const sandbox::ResourceLimits& limits);

}  // namespace pa
