#include "supervisor/run/lanes.h"

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
    case policy::Purpose::kGitCopy:
    case policy::Purpose::kGitAlone:
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

RunQueue::Limits PlacesToBegin(policy::Purpose purpose, const policy::Limits& limits) {
  constexpr std::uint64_t kNoLimit = UINT64_MAX;
  const bool changes = LaneOf(purpose) == kChanges;
  const std::uint64_t running =
      changes ? limits.concurrent : std::max(limits.concurrent, kPlacesToLook);
  const std::uint64_t waiting = PlacesIn(purpose, limits).waiting;
  const std::uint64_t all = waiting > kNoLimit - running ? kNoLimit : running + waiting;
  const std::uint64_t places = DescriptorsAllow(all, kDescriptorsOfACall);
  if (places == all) return {kNoLimit, 0};
  return {places, all - places};
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

std::size_t Lanes::waiting() const {
  std::size_t sum = 0;
  for (const RunQueue& queue : queues_) sum += queue.waiting();
  return sum;
}

bool Lanes::empty() const { return std::ranges::all_of(queues_, &RunQueue::empty); }

}  // namespace pa
