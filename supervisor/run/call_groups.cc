#include "supervisor/run/call_groups.h"

#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/try.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSweepAgain{10};
constexpr int kLastLooks = 50;

// The guardian; and some more than the limit, so that it sees them and ends the command with a name
// for what it did, before the kernel refuses them in silence.
constexpr std::uint64_t kRoomForProcesses = 17;

}  // namespace

CallGroup::~CallGroup() {
  if (home_ != nullptr) home_->Discard(std::move(cgroup_));
}

CallGroups::~CallGroups() {
  for (int look = 0; look < kLastLooks && !leaving_.empty(); ++look) {
    Sweep();
    if (!leaving_.empty()) std::this_thread::sleep_for(kSweepAgain);
  }
}

void CallGroups::Open() {
  if (home_ || !why_not_.empty()) return;
  Result<sandbox::CgroupHome> home = sandbox::CgroupHome::Open();
  if (home) {
    home_.emplace(std::move(*home));
  } else {
    why_not_ = home.error().Message();
  }
}

Result<CallGroup> CallGroups::Make() {
  const std::string name =
      "call-" + std::to_string(getpid()) + "-" + std::to_string(next_number_++);
  PA_TRY(sandbox::Cgroup group, home_->Make(name));
  return CallGroup(*this, std::move(group));
}

void CallGroups::Discard(sandbox::Cgroup group) {
  (void)group.Kill();  // before Linux 5.14 the guardian's end and the hunt for orphans have to do
  leaving_.push_back(std::move(group));
  Sweep();
}

// As long as somebody lives in it, rmdir fails.
void CallGroups::Sweep() {
  leaving_.remove_if([](sandbox::Cgroup& group) { return group.Remove().has_value(); });
  if (!leaving_.empty()) timer_.Start(kSweepAgain, [this] { Sweep(); });
}

sandbox::CgroupLimits GroupLimits(const sandbox::ResourceLimits& limits) {
  return {.memory_bytes = limits.memory_bytes,
          .processes = limits.processes == 0 ? 0 : limits.processes + kRoomForProcesses,
          .cpu_percent = limits.cpus * 100};
}

}  // namespace pa
