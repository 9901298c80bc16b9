#include "supervisor/protected_paths_guard.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "policy/path.h"
#include "supervisor/state_directory.h"

namespace pa {
namespace {

using policy::ProtectedPath;
using Kind = ProtectedPath::Kind;
using Watched = ProtectedPathsGuard::Watched;

constexpr int kAttempts = 3;

bool IsPinned(Kind kind) { return kind == Kind::kPinned || kind == Kind::kSealed; }

ImageDepth DepthOf(Kind kind) {
  if (kind == Kind::kTree) return ImageDepth::kTree;
  return kind == Kind::kNames ? ImageDepth::kNames : ImageDepth::kSelf;
}

std::string ParentOf(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

// Nobody touched it, as far as lstat(2) tells.
bool Untouched(const GuardedPath& guarded, policy::HolderLook& holders) {
  const ProtectedPath& path = guarded.path;
  if (!path.holder.empty()) return holders.StillAbsent(path.path, path.holder, path.holder_stamp);
  const FileImage& image = *guarded.image;
  if (!IsPinned(guarded.path.kind)) return StampsHold(image, guarded.path.path);
  const PathStamp now = LookAt(guarded.path.path);
  return image.stamp.exists ? now.SameFile(image.stamp) : !now.exists;
}

bool AllUntouched(const std::vector<GuardedPath>& paths, policy::HolderLook& holders) {
  return std::ranges::all_of(
      paths, [&](const GuardedPath& guarded) { return Untouched(guarded, holders); });
}

// Nobody can have made a submodule of anything.
bool SameIndex(const policy::ProtectedPaths::Index& index) {
  return index.settled && LookAt(index.path) == index.stamp &&
         (index.shared.empty() || LookAt(index.shared) == index.shared_stamp);
}

// Its path must stay away.
GuardedPath Absent(const std::string& path, const std::string& area) {
  return {{.path = path,
           .kind = Kind::kPinned,
           .found = ProtectedPath::Found::kAbsent,
           .area = area,
           .reason = "git repository"},
          std::make_shared<const FileImage>(),
          nullptr};
}

// The directory itself, to be found again wherever it is moved.
std::shared_ptr<const UniqueFd> Pin(const GuardedPath& guarded) {
  const PathStamp& stamp = guarded.image->stamp;
  if (!stamp.IsDirectory() || guarded.path.kind == Kind::kTree) return nullptr;
  UniqueFd fd(open(guarded.path.path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!fd || fstat(fd.get(), &status) != 0 || !StampOf(status).SameFile(stamp)) return nullptr;
  return std::make_shared<const UniqueFd>(std::move(fd));
}

void SortByPath(std::vector<GuardedPath>& paths) {
  std::ranges::sort(paths, {}, [](const GuardedPath& one) { return one.path.path; });
}

Result<FileImage> ImageOf(const ProtectedPath& path, ImageBudget& budget) {
  const UniqueFd parent = OpenDirectory(ParentOf(path.path));
  if (!parent) return FileImage{};
  const std::string name = path.path.substr(path.path.rfind('/') + 1);
  Result<FileImage> image = ReadImage(parent.get(), name, DepthOf(path.kind), budget);
  if (image) return image;
  return std::unexpected(Error("protected paths", path.path + ": " + image.error().Message(), 0));
}

bool Beneath(const std::vector<std::string>& trees, const std::string& path) {
  return std::ranges::any_of(
      trees, [&](const std::string& tree) { return policy::IsBeneath(path, tree); });
}

std::string AreaOf(const std::vector<std::string>& trees, const std::string& path) {
  std::string best;
  for (const std::string& tree : trees) {
    if (path != tree && policy::IsBeneath(path, tree) && tree.size() > best.size()) best = tree;
  }
  return best;
}

}  // namespace

Result<ProtectedPathsGuard::Known> ProtectedPathsGuard::Read(const Key& key) {
  Known known{.watched = {.key = key}};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Result<policy::ProtectedPaths> found =
        policy::FindProtectedPaths(policy::QueryFor(*key.policy, key.directory, key.writable));
    if (!found) return std::unexpected(found.error());
    known.watched.paths.clear();
    const ProtectedPath* sealed = found->Sealed();
    known.watched.audit_directory = sealed == nullptr ? "" : sealed->path;
    known.settled = true;
    bool same = true;
    ImageBudget budget;
    policy::HolderLook holders;
    for (ProtectedPath& path : found->paths) {
      const bool absent =
          !path.holder.empty() && holders.StillAbsent(path.path, path.holder, path.holder_stamp);
      Result<FileImage> image = absent ? FileImage() : ImageOf(path, budget);
      if (!image) return std::unexpected(image.error());
      // The search read configuration that somebody has changed since.
      same = same && (IsPinned(path.kind) || image->stamp == path.stamp);
      known.watched.paths.push_back(
          {std::move(path), std::make_shared<const FileImage>(std::move(*image)), nullptr});
    }
    for (const auto& input : found->inputs) {
      known.settled = known.settled && input.stamp.Settled();
    }
    known.inputs = std::move(found->inputs);
    known.watched.indexes = std::move(found->indexes);
    if (same) return known;
  }
  known.settled = false;
  return known;
}

bool ProtectedPathsGuard::Holds(Known& known) {
  policy::HolderLook holders;
  if (!known.settled || !policy::ProtectedPaths::Hold(known.inputs) ||
      !AllUntouched(known.watched.paths, holders)) {
    return false;
  }
  for (GuardedPath& guarded : known.watched.paths) {
    holders.Renew(guarded.path.holder, guarded.path.holder_stamp);
  }
  return true;
}

Result<const ProtectedPathsGuard::Known*> ProtectedPathsGuard::Find(const Key& key) {
  const auto found =
      std::ranges::find_if(known_, [&](const Known& known) { return known.watched.key == key; });
  if (found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
    if (Holds(known_.front())) return &known_.front();
    known_.pop_front();
  }
  Result<Known> read = Read(key);
  if (!read) return std::unexpected(read.error());
  known_.push_front(std::move(*read));
  if (known_.size() > kMaxKnown) known_.pop_back();
  return &known_.front();
}

// Commands that run already may have changed what they must not, so what they found before that is what
// counts there: for the paths that they found, and for all within what they keep as it is. To believe
// what is found there now would be to put it back when they have ended and it was cleared away.
void ProtectedPathsGuard::Overlay(Watched& watched) const {
  for (const auto& weak : active_) {
    const Watch other = weak.lock();
    if (!other) continue;
    const auto overrules = [](const GuardedPath& theirs, const GuardedPath& mine) {
      if (theirs.path.path == mine.path.path) return true;
      const bool keeps = theirs.path.repository || !IsPinned(theirs.path.kind);
      return keeps && mine.image->stamp.exists &&
             policy::IsBeneath(mine.path.path, theirs.path.path);
    };
    std::erase_if(watched.paths, [&](const GuardedPath& mine) {
      return std::ranges::any_of(
          other->paths, [&](const GuardedPath& theirs) { return overrules(theirs, mine); });
    });
    for (const GuardedPath& theirs : other->paths) {
      if (Beneath(watched.key.writable, theirs.path.path)) watched.paths.push_back(theirs);
    }
    watched.indexes.insert(watched.indexes.end(), other->indexes.begin(), other->indexes.end());
  }
  SortByPath(watched.paths);
}

bool ProtectedPathsGuard::IsCondemned(const std::string& path) const {
  return std::ranges::any_of(condemned_,
                             [&](const auto& one) { return policy::IsBeneath(path, one.first); });
}

// What must be there now: what was found, but for what has turned out to be another command's doing,
// and no repository in what the index has come to call a submodule.
std::vector<GuardedPath> ProtectedPathsGuard::Baseline(
    const Watched& watched, std::vector<ProtectedChange>& changes) const {
  std::vector<GuardedPath> paths = watched.paths;
  std::erase_if(paths, [&](const GuardedPath& one) { return IsCondemned(one.path.path); });
  for (const auto& [path, area] : condemned_) {
    if (Beneath(watched.key.writable, path)) paths.push_back(Absent(path, area));
  }
  for (const policy::ProtectedPaths::Index& index : watched.indexes) {
    if (SameIndex(index)) continue;
    const Result<std::vector<std::string>> places = policy::SubmodulePlaces(index);
    if (!places) {
      changes.push_back(
          {.path = index.path, .what = "filled", .failure = places.error().Message()});
      continue;
    }
    for (const std::string& place : *places) {
      const auto known = [&](const GuardedPath& one) { return one.path.path == place; };
      if (std::ranges::none_of(paths, known)) paths.push_back(Absent(place, index.area));
    }
  }
  SortByPath(paths);
  return paths;
}

Result<ProtectedPathsGuard::Watch> ProtectedPathsGuard::Begin(
    const policy::WorkingDirectory& directory, const policy::Allow& allow,
    const policy::PolicyPtr& policy) {
  Key key{directory.path(), policy::WritableTrees(allow.confinement().paths), policy};
  if (key.writable.empty()) return nullptr;
  std::erase_if(active_, [](const auto& weak) { return weak.expired(); });
  if (active_.empty()) condemned_.clear();
  for (const auto& weak : active_) {
    if (Watch other = weak.lock(); other && other->key == key) return other;
  }
  const Result<const Known*> known = Find(key);
  if (!known) return std::unexpected(known.error());
  auto watched = std::make_shared<Watched>((*known)->watched);
  for (GuardedPath& guarded : watched->paths) guarded.pin = Pin(guarded);
  if (!active_.empty()) Overlay(*watched);
  active_.push_back(watched);
  return watched;
}

std::vector<ProtectedChange> ProtectedPathsGuard::End(const Watch& watch) {
  if (!watch) return {};
  policy::HolderLook holders;
  if (condemned_.empty() && AllUntouched(watch->paths, holders) &&
      std::ranges::all_of(watch->indexes, SameIndex)) {
    return {};
  }
  std::vector<ProtectedChange> changes;
  const std::vector<GuardedPath> baseline = Baseline(*watch, changes);
  const Result<std::string> displaced =
      FindStateDirectory(*watch->key.policy, state_home_, kDisplacedDirectory);
  for (ProtectedChange& change : Restorer(baseline, displaced.value_or("")).Run()) {
    if (change.what == "added" && change.restored) {
      condemned_.emplace(change.path, AreaOf(watch->key.writable, change.path));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace pa
