#include "supervisor/lanes.h"

#include <algorithm>

#include "base/descriptors.h"

namespace pa {
namespace {

enum Lane : std::size_t { kChanges, kInspections, kReads };

Lane LaneOf(policy::Purpose purpose) {
  switch (purpose) {
    case policy::Purpose::kInspect:
      return kInspections;
    case policy::Purpose::kSearch:
    case policy::Purpose::kReadFile:
    case policy::Purpose::kGitIdentity:
      return kReads;
    case policy::Purpose::kBuild:
    case policy::Purpose::kGit:
    case policy::Purpose::kWriteFile:
      return kChanges;
  }
  return kChanges;
}

}  // namespace

RunQueue::Limits PlacesIn(policy::Purpose purpose, const policy::Limits& limits) {
  if (LaneOf(purpose) == kChanges) {
    return {DescriptorsAllow(limits.concurrent, kDescriptorsOfACall), limits.queue};
  }
  return {DescriptorsAllow(std::max(limits.concurrent, kPlacesToLook), kDescriptorsOfACall),
          std::max(limits.queue, kPlacesToWaitForALook)};
}

RunQueue& Lanes::For(policy::Purpose purpose) { return queues_[LaneOf(purpose)]; }

void Lanes::RefuseAll() {
  for (RunQueue& queue : queues_) queue.RefuseAll();
}

std::size_t Lanes::running() const {
  std::size_t sum = 0;
  for (const RunQueue& queue : queues_) sum += queue.running();
  return sum;
}

bool Lanes::empty() const { return std::ranges::all_of(queues_, &RunQueue::empty); }

}  // namespace pa
