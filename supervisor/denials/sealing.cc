#include "supervisor/denials/sealing.h"

#include <unistd.h>

#include <algorithm>

#include "policy/path.h"

namespace pa {

std::optional<Sealing::Found> Sealing::Of(Reason reason, Uses uses,
                                          std::span<const std::string> paths) {
  if (sealed_.empty() || paths.empty()) return std::nullopt;
  if (reason == Reason::kBusy) {
    return (uses & kTriedReplace) != 0 ? OfReplaced(paths[0]) : OfBusy(paths);
  }
  if (reason != Reason::kReadOnly) return std::nullopt;
  for (const std::string& path : paths) {
    if (auto found = OfReadOnly(uses, path)) return found;
  }
  return std::nullopt;
}

const SealedPath* Sealing::Exactly(const std::string& path) const {
  const auto found = std::ranges::find(sealed_, path, &SealedPath::path);
  return found == sealed_.end() ? nullptr : &*found;
}

std::optional<Sealing::Found> Sealing::OfReadOnly(Uses uses, const std::string& path) {
  const FoundPath place = inspector_.Look(path, (uses & ~kTriedChange) != 0);
  const auto holds = [&](const SealedPath& one) {
    return one.read_only && policy::IsBeneath(place.path, one.path);
  };
  const auto by = std::ranges::find_if(sealed_, holds);
  if (place.path.empty() || by == sealed_.end()) return std::nullopt;
  if (!OnlyTheSealStopped(uses, place, *by)) return std::nullopt;
  return Found{place.path, &*by};
}

// The kernel asks whether the mount may be written before it asks whether the user may.
bool Sealing::OnlyTheSealStopped(Uses uses, const FoundPath& place, const SealedPath& by) {
  const bool in_directory = inspector_.May(place.directory, W_OK | X_OK);
  const bool itself =
      place.path == by.path;  // what would change the directory around it is not stopped
  if (place.kind == FoundPath::Kind::kMissing) {
    const bool creates = (uses & (kTriedWrite | kTriedChange)) != 0;
    const bool deep = place.beneath_missing && uses != kTriedChange;
    return creates && !deep && !itself && in_directory;
  }
  struct {
    bool applies;
    bool may;
  } const tries[] = {
      {(uses & kTriedWrite) != 0 && place.kind == FoundPath::Kind::kFile,
       inspector_.May(place.path, W_OK)},
      {(uses & kTriedChange) != 0 && !itself, in_directory},
      {(uses & kTriedMode) != 0, inspector_.Owns(place.path)},
  };
  const bool any = std::ranges::any_of(tries, [](const auto& one) { return one.applies; });
  const bool all =
      std::ranges::all_of(tries, [](const auto& one) { return !one.applies || one.may; });
  return place.kind != FoundPath::Kind::kUnknown && any && all;
}

std::optional<Sealing::Found> Sealing::OfBusy(std::span<const std::string> paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const FoundPath place = inspector_.Look(paths[i], false);
    const SealedPath* by = Exactly(place.path);
    if (place.path.empty() || by == nullptr) continue;
    if (!WouldMoveOutside(paths, i, place)) return std::nullopt;
    return Found{place.path, by};
  }
  return std::nullopt;
}

// What holds something can be moved, but neither removed nor replaced, and outside it would have
// been ENOTEMPTY. A file is not replaced by a directory.
bool Sealing::WouldMoveOutside(std::span<const std::string> paths, std::size_t which,
                               const FoundPath& place) {
  if (inspector_.IsMountPoint(place.path) || !inspector_.May(place.directory, W_OK | X_OK))
    return false;
  // Without quotes a name is read in two ways, up to its first blank and beyond.
  const bool alternatives = paths.size() == 2 && paths[0].starts_with(paths[1] + " ");
  const bool two = paths.size() == 2 && !alternatives;  // moved from, to
  if (two && which == 0) return true;
  const bool directory = place.kind == FoundPath::Kind::kDirectory;
  if (directory && !inspector_.IsEmpty(place.path)) return false;
  if (!two) return true;
  return (inspector_.Look(paths[0], false).kind == FoundPath::Kind::kDirectory) == directory;
}

// By a new file beside it, whose name says nothing. Where that could have been one of several, none
// is named.
std::optional<Sealing::Found> Sealing::OfReplaced(const std::string& directory) {
  const FoundPath holder = inspector_.Look(directory, true);
  if (holder.kind != FoundPath::Kind::kDirectory || !inspector_.May(holder.path, W_OK | X_OK)) {
    return std::nullopt;
  }
  std::optional<Found> found;
  for (const SealedPath& one : sealed_) {
    if (one.path.substr(0, one.path.rfind('/')) != holder.path) continue;
    if (inspector_.Look(one.path, false).kind != FoundPath::Kind::kFile) continue;
    if (found || inspector_.IsMountPoint(one.path)) return std::nullopt;
    found = Found{one.path, &one};
  }
  return found;
}

}  // namespace pa
