#include "supervisor/tools/target_cache.h"

#include <algorithm>

namespace pa {
namespace {

// Enough for anybody's projects; a client that invents more starts again from nothing known.
constexpr std::size_t kMaxSeen = 1024;

}  // namespace

const KnownTargets* TargetCache::Find(const TargetKey& key) {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return &entries_.front().known;
}

void TargetCache::Store(TargetKey key, KnownTargets known) {
  // What was known of this directory has another key and can only be found again by an undone
  // change.
  std::erase_if(entries_, [&](const Entry& entry) { return entry.key.directory == key.directory; });
  entries_.push_front({std::move(key), std::move(known)});
  if (entries_.size() > kMaxEntries) entries_.pop_back();
}

void TargetCache::Saw(const std::string& directory, const TargetList& list,
                      std::span<const std::string> files) {
  if (on_seen_) on_seen_(directory, files);
  std::vector<std::string> names;
  for (const Target& target : list.targets) names.push_back(target.name);
  if (seen_.size() >= kMaxSeen) seen_.clear();
  const auto [known, first] = seen_.try_emplace(directory, names);
  if (first || known->second == names) return;
  known->second = std::move(names);
  if (on_change_) on_change_();
}

}  // namespace pa
