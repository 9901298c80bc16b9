#include "supervisor/guard/protected_paths_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/descriptors.h"
#include "base/file_clock.h"
#include "base/finally.h"
#include "base/path_parts.h"
#include "base/try.h"
#include "policy/path.h"
#include "supervisor/loop/background.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

using policy::ProtectedPath;
using Kind = ProtectedPath::Kind;
using Found = ProtectedPathsGuard::Found;
using FoundPtr = std::shared_ptr<const Found>;
using Known = ProtectedPathsGuard::Known;
using Watched = ProtectedPathsGuard::Watched;
using Watch = ProtectedPathsGuard::Watch;
using Condemned = std::map<std::string, std::string>;
using std::chrono::nanoseconds;

constexpr int kAttempts = 3;
constexpr std::size_t kMaxPins = 128;
constexpr std::size_t kMaxCopies =
    64;  // of repositories: the working directory's and its submodules
constexpr std::uint64_t kRenewalMs = 100;  // between two attempts to renew a watch
constexpr std::size_t kAtOnce = 512;       // lstat(2) calls that the loop can wait for

bool IsPinned(Kind kind) {
  return kind == Kind::kPinned || kind == Kind::kSealed || policy::IsWhole(kind);
}

ImageDepth DepthOf(Kind kind) {
  if (kind == Kind::kTree) return ImageDepth::kTree;
  return kind == Kind::kNames ? ImageDepth::kNames : ImageDepth::kSelf;
}

// Nobody touched it, as far as lstat(2) tells.
bool Untouched(const GuardedPath& guarded, policy::HolderLook& holders) {
  const ProtectedPath& path = guarded.path;
  if (path.holder != nullptr) return holders.StillAbsent(path.path, path.holder);
  const FileImage& image = *guarded.image;
  if (!IsPinned(guarded.path.kind)) return StampsHold(image, guarded.path.path);
  const PathStamp& now = holders.At(guarded.path.path);
  return image.stamp.exists ? now.SameFile(image.stamp) : now.IsAbsent();
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

// What it was that could not be looked at, and why: what is used up now may be there later.
std::unexpected<Error> Unseen(const Error& error, const std::string& path) {
  return std::unexpected(Error("protected paths: " + error.op, path, error.sys_errno));
}

// Nothing leads there, or it cannot be looked at.
Result<FileImage> ImageOf(const ProtectedPath& path, ImageBudget& budget) {
  const std::string parent = ParentOf(path.path);
  const UniqueFd fd = OpenDirectory(parent);
  if (!fd && MeansAbsent(errno)) return FileImage{};
  if (!fd) return Unseen(Error("open", parent, errno), parent);
  const std::string name = path.path.substr(path.path.rfind('/') + 1);
  Result<FileImage> image = ReadImage(fd.get(), name, DepthOf(path.kind), budget);
  if (image) return image;
  return Unseen(image.error(), parent + "/" + image.error().subject);
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

bool IsNewer(const FileImage& image, std::int64_t since_ns) {
  return (image.stamp.exists && image.stamp.changed_ns >= since_ns) ||
         std::ranges::any_of(image.children,
                             [&](const auto& child) { return IsNewer(child.second, since_ns); });
}

// Who runs since before a file was changed can have it mapped, and write it again without a trace:
// then its stamp proves nothing for later.
bool IsWritten(const Found& found, const std::vector<Watch>& others) {
  if (others.empty()) return false;
  const std::int64_t since_ns = (*std::ranges::min_element(others, {}, [](const Watch& other) {
                                  return other->began_ns;
                                }))->began_ns;
  return std::ranges::any_of(found.paths, [&](const GuardedPath& one) {
    return !IsPinned(one.path.kind) && IsNewer(*one.image, since_ns);
  });
}

bool IsSettled(const FileImage& image) {
  return image.settled && std::ranges::all_of(image.children, [](const auto& child) {
           return IsSettled(child.second);
         });
}

// Whether the stamps alone can prove that nothing of it changed.
bool IsSettled(const Found& found) {
  const auto is_settled = [](const GuardedPath& one) {
    return IsPinned(one.path.kind) || IsSettled(*one.image);
  };
  return found.settled && std::ranges::all_of(found.paths, is_settled) &&
         std::ranges::all_of(found.indexes, [](const auto& index) { return index.settled; }) &&
         std::ranges::all_of(found.copies, [&](const auto& copy) {
           return std::ranges::all_of(copy->pieces, is_settled);
         });
}

bool SameImage(const FileImage& one, const FileImage& other) {
  return one.stamp == other.stamp && one.content == other.content &&
         std::ranges::equal(one.children, other.children, [](const auto& child, const auto& its) {
           return child.first == its.first && SameImage(child.second, its.second);
         });
}

bool SamePath(const GuardedPath& one, const GuardedPath& other) {
  const ProtectedPath& path = one.path;
  const ProtectedPath& its = other.path;
  const PathStamp& stamp = one.image->stamp;
  const PathStamp& its_stamp = other.image->stamp;
  const bool same_image = IsPinned(path.kind) && stamp.exists ? stamp.SameFile(its_stamp)
                                                              : SameImage(*one.image, *other.image);
  return path.path == its.path && path.kind == its.kind && path.found == its.found &&
         path.area == its.area && path.repository == its.repository && path.host == its.host &&
         same_image;
}

bool SameCopy(const std::shared_ptr<const RepositoryCopy>& one,
              const std::shared_ptr<const RepositoryCopy>& other) {
  return one->path == other->path && std::ranges::equal(one->pieces, other->pieces, SamePath) &&
         one->left_out == other->left_out && one->objects == other->objects &&
         one->object_stamps == other->object_stamps && one->broken_packs == other->broken_packs &&
         one->tips == other->tips;
}

// Whether `again`, read later, is what there was at first: then its stamps may decide instead.
bool SameState(const Found& first, const Found& again) {
  const auto same_index = [](const auto& one, const auto& other) {
    return one.path == other.path && one.top == other.top && one.area == other.area &&
           one.stamp == other.stamp && one.shared == other.shared &&
           one.shared_stamp == other.shared_stamp && one.links == other.links;
  };
  return first.open.empty() && std::ranges::equal(first.paths, again.paths, SamePath) &&
         std::ranges::equal(first.deciders, again.deciders, SamePath) &&
         std::ranges::equal(first.copies, again.copies, SameCopy) &&
         std::ranges::equal(first.indexes, again.indexes, same_index) &&
         first.left_out == again.left_out;
}

// What is too large to be held can only be taken away; then `found` tells of it.
Result<GuardedPath> ImageOfDecider(const policy::ProtectedPaths::Decider& decider,
                                   ImageBudget& budget) {
  ProtectedPath path{.path = decider.path,
                     .kind = decider.kind,
                     .found = ProtectedPath::Found::kAbsent,
                     .area = decider.area,
                     .reason = "git repository"};
  Result<FileImage> image = ImageOf(path, budget);
  const int failed = image ? 0 : image.error().sys_errno;
  const bool too_much = failed == EFBIG || failed == E2BIG;
  if (failed != 0 && !too_much) return std::unexpected(image.error());
  if (too_much) path.found = ProtectedPath::Found::kOther;
  return GuardedPath{std::move(path),
                     std::make_shared<const FileImage>(image.value_or(FileImage{})), nullptr};
}

// Borrows from `key`.
policy::ProtectionQuery QueryOf(const ProtectedPathsGuard::Key& key) {
  policy::ProtectionQuery query = policy::QueryFor(*key.policy, key.directory, key.writable);
  query.repositories = key.repositories;
  query.mounts = key.mounts;
  query.git_read_only = key.git_read_only;
  return query;
}

ProtectedOr<FoundPtr> Read(const ProtectedPathsGuard::Key& key) {
  Found found{.key = key};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    PA_TRY(auto search, policy::FindProtectedPaths(QueryOf(key)));
    found.paths.clear();
    found.deciders.clear();
    const ProtectedPath* sealed = search.Sealed();
    found.audit_directory = sealed == nullptr ? "" : sealed->path;
    found.settled = true;
    bool same = true;
    ImageBudget budget;
    policy::HolderLook holders;
    for (ProtectedPath& path : search.paths) {
      const bool absent = path.holder != nullptr && holders.StillAbsent(path.path, path.holder);
      PA_TRY(FileImage image, absent ? FileImage() : ImageOf(path, budget));
      // The search read configuration that somebody has changed since.
      same = same && (IsPinned(path.kind) || image.stamp == path.stamp);
      found.paths.push_back(
          {std::move(path), std::make_shared<const FileImage>(std::move(image)), nullptr});
    }
    ImageBudget of_deciders;
    for (const policy::ProtectedPaths::Decider& decider : search.deciders) {
      PA_TRY(GuardedPath one, ImageOfDecider(decider, of_deciders));
      found.deciders.push_back(std::move(one));
    }
    found.copies.clear();
    ImageBudget of_copies;
    for (const GuardedPath& one : found.paths) {
      if (!one.path.repository || one.path.kind == Kind::kReadOnly) continue;
      if (found.copies.size() == kMaxCopies) break;
      auto found_copy = CopyRepository(one.path.path, one.path.area, of_copies);
      if (!found_copy) return Unseen(found_copy.error(), found_copy.error().subject);
      if (auto& copy = *found_copy)
        found.copies.push_back(std::make_shared<const RepositoryCopy>(std::move(*copy)));
    }
    for (const auto& input : search.inputs) {
      found.settled = found.settled && input.stamp.Settled();
    }
    found.inputs = std::move(search.inputs);
    found.indexes = std::move(search.indexes);
    found.left_out = std::move(search.left_out);
    found.within_read_only.clear();
    ImageBudget of_within;
    for (ProtectedPath& path : search.within_read_only) {
      Result<FileImage> image = ImageOf(path, of_within);
      if (!image) continue;
      found.within_read_only.push_back(
          {std::move(path), std::make_shared<const FileImage>(*std::move(image)), nullptr});
    }
    SortByPath(found.paths);
    if (same) return std::make_shared<const Found>(std::move(found));
  }
  found.settled = false;
  return std::make_shared<const Found>(std::move(found));
}

// Null: its stamps prove nothing either, or it is another state.
FoundPtr ReadAgain(const ProtectedPathsGuard::Watched& watch) {
  ProtectedOr<FoundPtr> again = Read(watch.found->key);
  const bool same = again && IsSettled(**again) && SameState(*watch.found, **again);
  return same ? *std::move(again) : nullptr;
}

bool Holds(const Found& found, policy::HolderLook& holders) {
  return found.settled && policy::ProtectedPaths::Hold(found.inputs, holders) &&
         std::ranges::all_of(found.indexes, SameIndex) &&
         std::ranges::all_of(found.copies, [](const auto& copy) { return IsCurrent(*copy); }) &&
         AllUntouched(found.paths, holders);
}

// Nothing: it does not hold, or what is absent has another holder by now. Else the same with what
// the look has told of holders.
std::optional<Known> Confirmed(Known known) {
  policy::HolderLook look(known.holders.get());
  if (!Holds(*known.found, look) || look.outdated()) return std::nullopt;
  if (auto renewed = look.Renewed()) {
    known.holders = std::make_shared<const policy::HolderStamps>(std::move(*renewed));
  }
  return known;
}

std::size_t Nodes(const FileImage& image) {
  std::size_t nodes = 1;
  for (const auto& [name, child] : image.children) nodes += Nodes(child);
  return nodes;
}

// What Holds costs.
bool IsSmall(const Found& found) {
  std::size_t nodes = found.inputs.size() + found.indexes.size();
  for (const auto& copy : found.copies) nodes += CostOf(*copy);
  for (const GuardedPath& guarded : found.paths) {
    nodes += Nodes(*guarded.image);
    if (nodes > kAtOnce) return false;
  }
  return true;
}

std::size_t BytesOf(const FileImage& image) {
  std::size_t bytes = image.content.size();
  for (const auto& [name, child] : image.children) bytes += BytesOf(child);
  return bytes;
}

std::size_t BytesOf(const Found& found) {
  std::size_t bytes = 0;
  for (const GuardedPath& guarded : found.paths) bytes += BytesOf(*guarded.image);
  for (const GuardedPath& guarded : found.deciders) bytes += BytesOf(*guarded.image);
  for (const GuardedPath& guarded : found.within_read_only) bytes += BytesOf(*guarded.image);
  for (const auto& copy : found.copies) {
    for (const GuardedPath& piece : copy->pieces) bytes += BytesOf(*piece.image);
  }
  return bytes;
}

// The others that are moved away are made anew; as many descriptors as an index can name
// directories would leave none for other calls.
std::shared_ptr<Watched> Pinned(Known known) {
  const auto watched = std::make_shared<Watched>(
      Watched{.found = std::move(known.found), .holders = std::move(known.holders)});
  const std::size_t most = DescriptorsAllow(kMaxPins);
  for (const bool repository : {true, false}) {
    for (const GuardedPath& guarded : watched->found->paths) {
      if (watched->pins.size() == most) return watched;
      if (guarded.path.repository != repository) continue;
      if (auto pin = Pin(guarded)) watched->pins.emplace(guarded.path.path, std::move(pin));
    }
  }
  return watched;
}

// The git directories that a mount keeps from the command, whoever else may write in them.
std::vector<std::string> ReadOnlyIn(const std::vector<GuardedPath>& paths) {
  std::vector<std::string> read_only;
  for (const GuardedPath& one : paths) {
    if (policy::IsWhole(one.path.kind)) read_only.push_back(one.path.path);
  }
  return read_only;
}

// Takes over what `theirs` found: for the paths that they found, and for all within what they keep
// as it is. What is read-only to them they have not held, and what is to us need not be.
void TakeOver(std::vector<GuardedPath>& mine, const std::vector<GuardedPath>& theirs,
              const std::vector<std::string>& writable, const std::vector<std::string>& read_only) {
  std::unordered_map<std::string, bool> found;  // by path: whether what is beneath counts, too
  for (const GuardedPath& one : theirs) {
    if (policy::IsWhole(one.path.kind)) continue;
    found[one.path.path] |= one.path.repository || !IsPinned(one.path.kind);
  }
  const auto overruled = [&](const GuardedPath& one) {
    if (policy::IsWhole(one.path.kind)) return false;
    if (found.contains(one.path.path)) return true;
    if (!one.image->stamp.exists) return false;
    for (std::string at = ParentOf(one.path.path); at != "/"; at = ParentOf(at)) {
      if (const auto known = found.find(at); known != found.end() && known->second) return true;
    }
    return false;
  };
  std::erase_if(mine, overruled);
  for (const GuardedPath& one : theirs) {
    if (policy::IsWhole(one.path.kind) || Beneath(read_only, one.path.path)) continue;
    if (Beneath(writable, one.path.path)) mine.push_back(one);
  }
}

// What others can write and do not hold is judged at the end, by NestedRepositories. To hold it as
// it is now would be to put back what they have left there, and cleared away since.
void LeaveOpen(Watched& watched, const std::function<bool(const std::string&)>& is_open) {
  if (!is_open) return;
  constexpr std::string_view kGit = "/.git";
  std::vector<std::string> open;
  for (const GuardedPath& one : watched.found->paths) {
    const std::string& path = one.path.path;
    const bool named = path.ends_with(kGit);
    const bool git = named || (one.path.repository && !Beneath(open, path));
    if (one.path.kind == Kind::kReadOnly) continue;
    if (git && one.image->stamp.exists && is_open(path)) open.push_back(path);
  }
  if (open.empty()) return;
  // A working tree that somebody has laid into a bare repository is none of its own files.
  const auto lies_in = [&](const std::string& path) {
    return std::ranges::any_of(open, [&](const std::string& one) {
      const bool whole = one.ends_with(kGit) || !path.substr(one.size()).contains(kGit);
      return policy::IsBeneath(path, one) && whole;
    });
  };
  Found found = *watched.found;
  std::erase_if(found.paths, [&](const GuardedPath& one) {
    return one.path.host == nullptr && lies_in(one.path.path);
  });
  std::erase_if(found.indexes, [&](const auto& one) { return lies_in(one.path); });
  std::erase_if(found.copies, [&](const auto& one) { return lies_in(one->path); });
  found.settled = false;
  found.open = std::move(open);
  watched.holders = nullptr;
  watched.found = std::make_shared<const Found>(std::move(found));
}

// Commands that run already may have changed what they must not, so what they found before that is
// what counts there. To believe what is found there now would be to put it back when they have
// ended and it was cleared away.
void Overlay(Watched& watched, const std::vector<Watch>& others) {
  if (others.empty()) return;
  Found found = *watched.found;
  found.settled = false;
  watched.holders = nullptr;  // what others found to be absent was not looked for
  const std::vector<std::string>& writable = found.key.writable;
  const std::vector<std::string> read_only = ReadOnlyIn(found.paths);
  for (const Watch& other : others) {
    const Found& theirs = *other->found;
    TakeOver(found.paths, theirs.paths, writable, read_only);
    TakeOver(found.deciders, theirs.deciders, writable, read_only);
    for (const GuardedPath& one : theirs.paths) watched.pins.erase(one.path.path);
    for (const auto& [path, pin] : other->pins) watched.pins[path] = pin;
    for (const policy::ProtectedPaths::Index& index : theirs.indexes) {
      if (Beneath(read_only, index.path)) continue;
      const auto known = std::ranges::find_if(found.indexes, [&](const auto& one) {
        return one.path == index.path && one.top == index.top;
      });
      known == found.indexes.end() ? found.indexes.push_back(index) : void(*known = index);
    }
    for (const auto& copy : theirs.copies) {
      std::erase_if(found.copies, [&](const auto& one) { return one->path == copy->path; });
      if (Beneath(read_only, copy->path)) continue;
      if (Beneath(writable, copy->path)) found.copies.push_back(copy);
    }
  }
  SortByPath(found.paths);
  watched.found = std::make_shared<const Found>(std::move(found));
}

struct Restored {
  std::vector<ProtectedChange> changes = {};
  std::vector<GuardedPath> owed = {};
};

Restored Restore(const std::vector<GuardedPath>& baseline, const std::string& quarantine) {
  Restorer restorer(baseline, quarantine);
  Restored restored{.changes = restorer.Run()};
  restored.owed = restorer.TakeOwed();
  return restored;
}

// What was found when a command has ended, and what is done about it: on a thread, so all by value.
class Ending {
 public:
  Ending(Watch watch, Condemned condemned, MountRecord record, std::string quarantine)
      : watch_(std::move(watch)),
        found_(*watch_->found),
        condemned_(std::move(condemned)),
        record_(std::move(record)),
        quarantine_(std::move(quarantine)) {}

  Restored Run();

 private:
  void ReadIndexes();
  void SearchAgain();
  void NoteUnreadable(const Error& error);
  void ReportUnseen();
  void PutDecidersBack();
  void RestoreRepositories();
  std::vector<GuardedPath> Pinned() const;
  std::vector<GuardedPath> Baseline() const;
  bool IsCondemned(const std::string& path) const;
  void LeaveToTheUser(std::vector<GuardedPath>& baseline);

  Watch watch_;
  const Found& found_;  // of watch_
  Condemned condemned_;
  MountRecord record_;
  std::string quarantine_;
  std::unordered_set<std::string> left_to_the_user_;
  std::vector<std::pair<std::string, std::string>>
      links_;                  // `.git` of each new submodule, its area
  bool decided_anew_ = false;  // another search may find something else
  std::string unreadable_;     // why another search would find nothing, or ""
  bool unseen_ = false;        // for want of descriptors, say: another time it may
  std::vector<ProtectedChange> changes_;
  std::vector<GuardedPath> owed_;
};

void Ending::ReadIndexes() {
  for (const policy::ProtectedPaths::Index& index : found_.indexes) {
    if (SameIndex(index)) continue;
    const Result<std::vector<std::string>> links = policy::SubmodulesOf(index);
    if (!links) {
      if (unreadable_.empty()) NoteUnreadable(links.error());
      continue;
    }
    decided_anew_ = decided_anew_ || *links != index.links;
    for (const std::string& link : *links) {
      const char* slash = link.starts_with('/') ? "" : "/";
      links_.emplace_back(index.top + slash + link + "/.git", index.area);
    }
  }
}

bool Ending::IsCondemned(const std::string& path) const {
  return std::ranges::any_of(condemned_,
                             [&](const auto& one) { return policy::IsBeneath(path, one.first); });
}

std::vector<GuardedPath> Ending::Pinned() const {
  std::vector<GuardedPath> paths = found_.paths;
  for (GuardedPath& one : paths) {
    const auto pin = watch_->pins.find(one.path.path);
    if (pin != watch_->pins.end()) one.pin = pin->second;
  }
  return paths;
}

// What must be there now: what was found, but for what has turned out to be another command's
// doing, and no repository in what the index has come to call a submodule.
std::vector<GuardedPath> Ending::Baseline() const {
  std::vector<GuardedPath> paths = Pinned();
  // A mount goes with the directory that it covered: the command could write the new one.
  std::vector<std::string> replaced;
  for (const GuardedPath& one : found_.paths) {
    const bool same = LookAt(one.path.path).SameFile(one.image->stamp);
    if (one.path.kind == Kind::kReadOnly && !same) replaced.push_back(one.path.path);
  }
  for (const GuardedPath& one : found_.within_read_only) {
    if (Beneath(replaced, one.path.path)) paths.push_back(one);
  }
  if (!condemned_.empty()) {
    std::erase_if(paths, [&](const GuardedPath& one) { return IsCondemned(one.path.path); });
  }
  for (const auto& [path, area] : condemned_) {
    if (Beneath(found_.key.writable, path)) paths.push_back(Absent(path, area));
  }
  std::unordered_set<std::string> known;
  for (const GuardedPath& one : paths) known.insert(one.path.path);
  for (const auto& [path, area] : links_) {
    if (known.insert(path).second) paths.push_back(Absent(path, area));
  }
  SortByPath(paths);
  return paths;
}

// What no command can have done is no change, and must not be undone.
void Ending::LeaveToTheUser(std::vector<GuardedPath>& baseline) {
  policy::HolderLook holders;
  std::erase_if(baseline, [&](GuardedPath& guarded) {
    if (Untouched(guarded, holders)) return false;
    // In place, commands write in it; only that it was moved or removed can be known.
    const bool in_place = LookAt(guarded.path.path).SameFile(guarded.image->stamp);
    if (IsPinned(guarded.path.kind) && in_place) return false;
    MountRecord::Judgement judgement = record_.JudgeOf(guarded);
    guarded.saved = std::move(judgement.saved);
    guarded.saved_is_certain = judgement.certain;
    const bool users = judgement.by == MountRecord::Judgement::By::kUser;
    if (users) left_to_the_user_.insert(guarded.path.path);
    return users;
  });
}

// A repository that is gone, or of which git could make nothing any more.
void Ending::RestoreRepositories() {
  std::vector<GuardedPath> kept = Pinned();
  kept.insert(kept.end(), found_.deciders.begin(), found_.deciders.end());
  for (const auto& held : found_.copies) {
    const RepositoryCopy& copy = *held;
    const bool users = left_to_the_user_.contains(copy.path);
    if (users || IsCondemned(copy.path) || IsCurrent(copy)) continue;
    const Result<bool> intact = IsIntact(copy);
    if (!intact) {
      changes_.push_back({.path = copy.path,
                          .kind = ChangeKind::kNotCompared,
                          .failure = intact.error().Message()});
    }
    if (!intact || *intact) continue;
    // One line says it.
    std::erase_if(changes_, [&](const ProtectedChange& change) {
      return !change.restored && policy::IsBeneath(change.path, copy.path);
    });
    changes_.push_back(RestoreRepository(copy, kept, quarantine_));
  }
}

// Whatever the command left there, the next one must find what is protected.
void Ending::SearchAgain() {
  const Result<policy::ProtectedPaths> found = policy::FindProtectedPaths(QueryOf(found_.key));
  unreadable_.clear();
  if (!found) NoteUnreadable(found.error());
}

void Ending::NoteUnreadable(const Error& error) {
  unreadable_ = error.Message();
  unseen_ = error.sys_errno != 0 && !MeansGone(error.sys_errno);
}

// The command did not bring it about, and what it changed may be lawful.
void Ending::ReportUnseen() {
  changes_.push_back(
      {.path = found_.key.directory, .kind = ChangeKind::kNotCompared, .failure = unreadable_});
}

void Ending::PutDecidersBack() {
  std::vector<GuardedPath> deciders = found_.deciders;
  policy::HolderLook holders;
  std::erase_if(deciders, [&](const GuardedPath& one) { return Untouched(one, holders); });
  Restored restored = Restore(deciders, quarantine_);
  for (ProtectedChange& change : restored.changes) {
    change.why = unreadable_;
    changes_.push_back(std::move(change));
  }
  std::ranges::move(restored.owed, std::back_inserter(owed_));
  SearchAgain();
  if (unreadable_.empty()) return;
  changes_.push_back(
      {.path = found_.key.directory, .kind = ChangeKind::kMadeUnreadable, .failure = unreadable_});
}

Restored Ending::Run() {
  ReadIndexes();
  policy::HolderLook look;
  const auto same = [&](const policy::ProtectedPaths::Input& input) {
    return policy::ProtectedPaths::Hold({&input, 1}, look);
  };
  const auto is_index = [&](const policy::ProtectedPaths::Input& input) {
    return std::ranges::any_of(found_.indexes, [&](const auto& index) {
      return input.path == index.path || input.path == index.shared;
    });
  };
  decided_anew_ = decided_anew_ || std::ranges::any_of(found_.inputs, [&](const auto& input) {
                    return !same(input) && !is_index(input);
                  });
  std::vector<GuardedPath> baseline = Baseline();
  LeaveToTheUser(baseline);
  Restored restored = Restore(baseline, quarantine_);
  changes_ = std::move(restored.changes);
  owed_ = std::move(restored.owed);
  RestoreRepositories();
  if (unreadable_.empty() && decided_anew_) SearchAgain();
  if (!unreadable_.empty()) unseen_ ? ReportUnseen() : PutDecidersBack();
  return {std::move(changes_), std::move(owed_)};
}

}  // namespace

Task<ProtectedOr<Known>> ProtectedPathsGuard::Find(const Key& key) {
  const auto found =
      std::ranges::find_if(known_, [&](const Known& one) { return one.found->key == key; });
  if (found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
    const Known known = known_.front();
    std::optional<Known> confirmed;
    if (IsSmall(*known.found)) {
      confirmed = Confirmed(known);
    } else {
      Task<std::optional<Known>> task =
          InBackground<std::optional<Known>>(loop_, [known] { return Confirmed(known); });
      confirmed = co_await task;
    }
    const auto same = std::ranges::find(known_, known.found, &Known::found);
    if (confirmed) {
      if (same != known_.end()) same->holders = confirmed->holders;
      co_return *confirmed;
    }
    if (same != known_.end()) known_.erase(same);
  }
  Task<ProtectedOr<FoundPtr>> task =
      InBackground<ProtectedOr<FoundPtr>>(loop_, [key] { return Read(key); });
  ProtectedOr<FoundPtr> read = co_await task;
  if (!read) co_return std::unexpected(read.error());
  Remember(*read);
  co_return Known{std::move(*read)};
}

void ProtectedPathsGuard::Remember(FoundPtr found) {
  std::erase_if(known_, [&](const Known& one) { return one.found->key == found->key; });
  known_.push_front({std::move(found)});
  std::size_t bytes = 0;
  const auto last = std::ranges::find_if(known_, [&](const Known& one) {
    bytes += BytesOf(*one.found);
    return bytes > kMaxKnownBytes && &one != &known_.front();
  });
  known_.erase(last, known_.end());
  if (known_.size() > kMaxKnown) known_.pop_back();
}

void ProtectedPathsGuard::Renew(const Watch& watch, FoundPtr again) {
  std::vector<Watch> others;
  for (const auto& weak : active_) {
    if (Watch other = weak.lock()) others.push_back(std::move(other));
  }
  if (watch->renewed || IsWritten(*again, others)) return;
  const std::shared_ptr<Watched> renewed = Pinned({std::move(again)});
  renewed->began_ns = watch->began_ns;
  active_.push_back(renewed);
  watch->renewed = renewed;
}

Watch ProtectedPathsGuard::Running(const Key& key, bool runs) const {
  for (const auto& weak : active_) {
    const Watch other = weak.lock();
    if (!other || other->found->key != key) continue;
    // Nobody judges what a call writes that runs nothing.
    if (runs || other->found->open.empty()) return other->renewed ? other->renewed : other;
  }
  return nullptr;
}

Task<ProtectedOr<Watch>> ProtectedPathsGuard::Begin(const policy::WorkingDirectory& directory,
                                                    const policy::Allow& allow,
                                                    policy::PolicyPtr policy, GuardAround around) {
  const Key key{directory.path(),  policy::WritableTrees(allow.confinement().paths),
                std::move(policy), std::move(around.below),
                around.mounts,     around.git_read_only};
  if (key.writable.empty()) co_return nullptr;
  std::erase_if(active_, [](const auto& weak) { return weak.expired(); });
  if (active_.empty() && beginning_.empty()) {
    condemned_.clear();
    mounts_.Forget();
  }
  Task<std::optional<policy::ProtectionFailure>> putting_back = RestoreOwed(key);
  std::optional<policy::ProtectionFailure> owed = co_await putting_back;
  if (owed) co_return std::unexpected(*std::move(owed));
  if (Watch other = Running(key, around.runs)) co_return other;
  const std::int64_t began_ns = nanoseconds(FileClockNow().time_since_epoch()).count();
  const auto seen = std::make_shared<Seen>();
  for (const auto& weak : active_) {
    if (Watch other = weak.lock()) seen->push_back(std::move(other));
  }
  beginning_.push_back(seen);
  const Finally done([&] { beginning_.remove(seen); });
  Task<ProtectedOr<Known>> find = Find(key);
  ProtectedOr<Known> known = co_await find;
  if (!known) co_return std::unexpected(known.error());
  if (IsWritten(*known->found, *seen)) {
    std::erase_if(known_, [&](const Known& one) { return one.found == known->found; });
  }
  // Of those that looked at the same time, the first one's is the oldest.
  if (Watch other = Running(key, around.runs)) co_return other;
  const std::shared_ptr<Watched> watched = Pinned(std::move(*known));
  watched->began_ns = began_ns;
  LeaveOpen(*watched, around.open);
  Overlay(*watched, *seen);
  if (!around.runs) co_return watched;
  active_.push_back(watched);
  for (const std::shared_ptr<Seen>& other : beginning_) {
    if (other != seen) other->push_back(watched);
  }
  co_return watched;
}

std::string ProtectedPathsGuard::QuarantineFor(const Key& key) const {
  return FindStateDirectory(*key.policy, state_home_, kQuarantineDirectory).value_or("");
}

void ProtectedPathsGuard::Mounted(const Watch& watch, const std::vector<SealedPath>& sealed) {
  if (!watch) return;
  // What one command can write, another one's mount keeps from nobody.
  if (sealed.empty() || sealed.size() >= kMaxProtectedMounts) return mounts_.Expose();
  std::unordered_map<std::string, bool> read_only;
  for (const SealedPath& one : sealed) read_only.emplace(one.path, one.read_only);
  for (const GuardedPath& guarded : watch->found->paths) {
    const auto mounted = read_only.find(guarded.path.path);
    if (mounted != read_only.end()) mounts_.Add(guarded, mounted->second);
  }
}

Task<std::optional<policy::ProtectionFailure>> ProtectedPathsGuard::RestoreOwed(const Key& key) {
  if (owed_.empty()) co_return std::nullopt;
  Completion<bool> turn;
  const RunQueue::Ticket ticket =
      restoring_.Enter("", {1, UINT64_MAX}, [&turn](bool granted) { turn.Set(granted); });
  co_await turn;
  const Finally leave([&] { restoring_.Leave(ticket); });
  std::vector<GuardedPath> owed;
  for (const auto& [path, guarded] : owed_) {
    if (Beneath(key.writable, path)) owed.push_back(guarded);
  }
  Task<Restored> task = InBackground<Restored>(
      loop_, [owed, quarantine = QuarantineFor(key)] { return Restore(owed, quarantine); });
  Restored restored = co_await task;
  for (const GuardedPath& guarded : owed) owed_.erase(guarded.path.path);
  for (const GuardedPath& guarded : restored.owed) Owe(guarded);
  std::optional<policy::ProtectionFailure> error;
  for (ProtectedChange& change : restored.changes) {
    if (!change.failure.empty() && !error) {
      error = {
          Error("protected paths are not as they were",
                fmt::format("an earlier command may have changed {}, and it cannot be restored: {}",
                            change.path, change.failure)),
          policy::ProtectionFailure::Kind::kOwed};
    }
    change.why = "an earlier command changed it, and it could not be restored then";
    if (change.restored) late_.push_back(std::move(change));
  }
  co_return error;
}

void ProtectedPathsGuard::MustGo(const Watch& watch, const std::string& path) {
  const std::string area = watch ? AreaOf(watch->found->key.writable, path) : "";
  if (!area.empty()) Owe(Absent(path, area));
}

Task<std::vector<ProtectedChange>> ProtectedPathsGuard::End(Watch watch) {
  std::vector<ProtectedChange> changes;
  if (!watch) co_return changes;
  const Found& found = *watch->found;
  const auto elsewhere = std::ranges::partition(late_, [&](const ProtectedChange& change) {
    return !Beneath(found.key.writable, change.path);
  });
  std::ranges::move(elsewhere, std::back_inserter(changes));
  late_.erase(elsewhere.begin(), elsewhere.end());
  policy::HolderLook look(watch->holders.get());
  if (condemned_.empty() && IsSmall(found) && Holds(found, look)) co_return changes;
  Completion<bool> turn;
  const RunQueue::Ticket ticket =
      restoring_.Enter("", {1, UINT64_MAX}, [&turn](bool granted) { turn.Set(granted); });
  co_await turn;
  const Finally leave([&] { restoring_.Leave(ticket); });
  mounts_.Drain();
  Ending ending(watch, condemned_, mounts_.record(), QuarantineFor(found.key));
  // Commands that overlap share a watch for as long as one of them runs. If its stamps prove
  // nothing, each would be compared like this one.
  const bool renew =
      !watch->renewed && !IsSettled(found) && uv_now(loop_) >= watch->next_renewal_ms;
  if (renew) watch->next_renewal_ms = uv_now(loop_) + kRenewalMs;
  struct Ended {
    Restored restored;
    FoundPtr again;
  };
  Task<Ended> task =
      InBackground<Ended>(loop_, [ending = std::move(ending), renew, watch]() mutable {
        Ended ended{ending.Run(), nullptr};
        const bool clean = ended.restored.changes.empty() && ended.restored.owed.empty();
        if (renew && clean) ended.again = ReadAgain(*watch);
        return ended;
      });
  auto [restored, again] = co_await task;
  if (again && condemned_.empty()) Renew(watch, std::move(again));
  for (const GuardedPath& guarded : restored.owed) Owe(guarded);
  std::ranges::move(restored.changes, std::back_inserter(changes));
  for (const ProtectedChange& change : changes) {
    if (change.kind != ChangeKind::kAdded || !change.restored || !change.why.empty()) continue;
    condemned_.emplace(change.path, AreaOf(found.key.writable, change.path));
  }
  co_return changes;
}

}  // namespace pa
