// CallGroups: a cgroup for each worker, where a part of the cgroup v2 tree was delegated to us
// (sandbox/cgroup.h). It is made ahead with the worker that waits, gets its call's limits with the
// order, and goes when nothing lives in it any more.
//
//   CallGroups groups(loop);
//   groups.Open();                                   // before we have children; once
//   if (groups.there()) {
//     Result<CallGroup> group = groups.Make();
//     ... clone into group->cgroup() ...
//   }                                                // whoever lives in it is killed
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

// Ours as long as this lives; not beyond its CallGroups.
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
  // Waits a moment for those that are about to end; what is left then is the next run's to remove.
  ~CallGroups();
  CallGroups(const CallGroups&) = delete;
  CallGroups& operator=(const CallGroups&) = delete;

  // Moves us into a leaf of its own (CgroupHome::Open). The second time it does nothing.
  void Open();
  bool there() const { return home_.has_value(); }
  bool withholds_cpus() const { return home_ && home_->withholds_cpus(); }
  const std::string& why_not() const { return why_not_; }  // "" until Open, and when there are any

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

// What a cgroup bounds of `limits`, with room for the guardian and for what it must see to name it.
sandbox::CgroupLimits GroupLimits(const sandbox::ResourceLimits& limits);

}  // namespace pa
