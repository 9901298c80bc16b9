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
#include <utility>

#include "base/descriptors.h"
#include "base/file_clock.h"
#include "base/finally.h"
#include "base/path_parts.h"
#include "policy/path.h"
#include "supervisor/guard/guard_chores.h"
#include "supervisor/guard/guard_fields.h"
#include "supervisor/loop/background.h"
#include "supervisor/loop/pause.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

using policy::ProtectedPath;
using Kind = ProtectedPath::Kind;
using Found = ProtectedPathsGuard::Found;
using Key = ProtectedPathsGuard::Key;
using FoundPtr = std::shared_ptr<const Found>;
using Known = ProtectedPathsGuard::Known;
using Watched = ProtectedPathsGuard::Watched;
using Watch = ProtectedPathsGuard::Watch;
using std::chrono::nanoseconds;

constexpr std::size_t kMaxPins = kMaxJanitorDescriptors;
constexpr int kMaxRounds = 16;             // of a search that asks for more
constexpr std::size_t kMaxOutside = 256;   // working directories of which that is remembered
constexpr std::uint64_t kRenewalMs = 100;  // between two attempts to renew a watch
constexpr std::size_t kAtOnce = 512;       // lstat(2) calls that the loop can wait for

// The directory itself, to be found again wherever it is moved.
std::shared_ptr<const UniqueFd> Pin(const GuardedPath& guarded) {
  const PathStamp& stamp = guarded.image->stamp;
  if (!stamp.IsDirectory() || guarded.path.kind == Kind::kTree) return nullptr;
  UniqueFd fd(open(guarded.path.path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!fd || fstat(fd.get(), &status) != 0 || !StampOf(status).SameFile(stamp)) return nullptr;
  return std::make_shared<const UniqueFd>(std::move(fd));
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

GuardQuery QueryOf(const Key& key) {
  policy::ProtectionQuery query = policy::QueryFor(*key.policy, key.directory, key.writable);
  query.repositories = key.repositories;
  query.mounts = key.mounts;
  query.git_read_only = key.git_read_only;
  return OwnQuery(query);
}

// What must be readable so that `path` is: itself, or the repository in which it lies, and what a
// symlink there leads to.
std::vector<std::string> PlacesOf(const std::string& path) {
  std::vector<std::string> places = {policy::ResolvePath(path)};
  for (std::string at = ParentOf(path); at != "/"; at = ParentOf(at)) {
    if (policy::IsGitDirectory(at).value_or(false)) places.push_back(policy::ResolvePath(at));
  }
  return places;
}

// What is mounted or restored because of it lies where the command can write.
bool LiesWhereItSays(const GuardedState& state, const Key& key) {
  const auto lies = [&](const GuardedPath& one) {
    const std::string& path = one.path.path;
    return one.image != nullptr &&
           std::ranges::find(key.writable, one.path.area) != key.writable.end() &&
           policy::IsBeneath(path, one.path.area) && IsPlainPath(path);
  };
  const auto lie = [&](const std::vector<GuardedPath>& paths) {
    return std::ranges::all_of(paths, lies);
  };
  return lie(state.paths) && lie(state.deciders) && lie(state.within_read_only) &&
         std::ranges::all_of(state.copies, [&](const auto& copy) {
           return copy != nullptr && lie(copy->pieces) && !copy->pieces.empty();
         });
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
std::shared_ptr<Watched> WithPins(Known known) {
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

std::vector<GuardedPath> Pinned(const Watched& watch) {
  std::vector<GuardedPath> paths = watch.found->paths;
  for (GuardedPath& one : paths) {
    const auto pin = watch.pins.find(one.path.path);
    if (pin != watch.pins.end()) one.pin = pin->second;
  }
  return paths;
}

// The janitor makes nothing above its places.
void AllowChanges(JanitorOrder& order, const Key& key, const std::string& quarantine) {
  order.write = key.writable;
  if (!quarantine.empty() && MakeStateDirectory(quarantine)) order.write.push_back(quarantine);
}

Pins PinsOf(const std::vector<GuardedPath>& paths, JanitorOrder& order) {
  Pins pins;
  for (std::size_t i = 0; i < paths.size() && pins.size() < kMaxJanitorDescriptors; ++i) {
    if (paths[i].pin == nullptr) continue;
    pins.push_back(static_cast<std::uint32_t>(i));
    order.descriptors.push_back(paths[i].pin);
  }
  return pins;
}

// What came back without descriptors.
void TakePins(std::vector<GuardedPath>& into, const std::vector<GuardedPath>& from) {
  for (GuardedPath& one : into) {
    const auto same = std::ranges::find(from, one.path.path,
                                        [](const GuardedPath& other) { return other.path.path; });
    if (same != from.end()) one.pin = same->pin;
  }
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
    if (policy::IsWhole(one.path.kind) || IsBeneathAny(read_only, one.path.path)) continue;
    if (IsBeneathAny(writable, one.path.path)) mine.push_back(one);
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
    const bool git = named || (one.path.repository && !IsBeneathAny(open, path));
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
      if (IsBeneathAny(read_only, index.path)) continue;
      const auto known = std::ranges::find_if(found.indexes, [&](const auto& one) {
        return one.path == index.path && one.top == index.top;
      });
      known == found.indexes.end() ? found.indexes.push_back(index) : void(*known = index);
    }
    for (const auto& copy : theirs.copies) {
      std::erase_if(found.copies, [&](const auto& one) { return one->path == copy->path; });
      if (IsBeneathAny(read_only, copy->path)) continue;
      if (IsBeneathAny(writable, copy->path)) found.copies.push_back(copy);
    }
  }
  SortByPath(found.paths);
  watched.found = std::make_shared<const Found>(std::move(found));
}

}  // namespace

ProtectedPathsGuard::ProtectedPathsGuard(uv_loop_t* loop, Janitor& janitor, std::string state_home)
    : loop_(loop),
      janitor_(janitor),
      state_home_(std::move(state_home)),
      mounts_([this](const std::string& directory, const std::string& name, auto done) {
        JanitorOrder order{.chore = kReadSaved, .read = {directory}};
        Detach(Ask<SavedFile>(janitor_, std::move(order), directory, name),
               [done = std::move(done)](const Result<SavedFile>& saved) {
                 done(saved.value_or(SavedFile()));
               });
      }) {}

Task<bool> ProtectedPathsGuard::EnterTrees(const std::vector<std::string>& trees) {
  const auto overlap = [&](const std::vector<std::string>& others) {
    return std::ranges::any_of(others, [&](const std::string& other) {
      return IsBeneathAny(trees, other) || std::ranges::any_of(trees, [&](const std::string& tree) {
               return policy::IsBeneath(tree, other);
             });
    });
  };
  while (std::ranges::any_of(restoring_, overlap)) {
    Task<bool> pause = Pause(loop_, std::chrono::milliseconds(1));
    [[maybe_unused]] const bool over = co_await pause;
  }
  restoring_.push_back(trees);
  co_return true;
}

void ProtectedPathsGuard::LeaveTrees(const std::vector<std::string>& trees) {
  restoring_.erase(std::ranges::find(restoring_, trees));
}

Task<MountRecord> ProtectedPathsGuard::CompleteRecord() {
  mounts_.Drain();
  while (mounts_.reading() != 0) {
    Task<bool> pause = Pause(loop_, std::chrono::milliseconds(1));
    [[maybe_unused]] const bool over = co_await pause;
    mounts_.Drain();
  }
  mounts_.Drain();
  co_return mounts_.record();
}

// What decides there and lies elsewhere: the user's own configuration of git, and what an earlier
// search asked for.
JanitorOrder ProtectedPathsGuard::OrderFor(std::string_view chore, const Key& key) const {
  JanitorOrder order{.chore = chore, .about = key.directory};
  for (const std::string& root : key.policy->roots) {
    if (policy::IsBeneath(key.directory, root)) order.read.push_back(root);
  }
  order.read.insert(order.read.end(), key.writable.begin(), key.writable.end());
  for (std::string& file : policy::UserConfigurationFiles(QueryOf(key).Query())) {
    order.read.push_back(policy::ResolvePath(file));
  }
  const auto known = outside_.find(key.directory);
  if (known != outside_.end()) {
    order.read.insert(order.read.end(), known->second.begin(), known->second.end());
  }
  return order;
}

// What a configuration includes, and the repository of a linked worktree, may lie anywhere.
Task<ProtectedOr<FoundPtr>> ProtectedPathsGuard::Read(const Key& key) {
  const GuardQuery query = QueryOf(key);
  for (int round = 0;; ++round) {
    Task<Result<ProtectedOr<GuardedState>>> task =
        Ask<ProtectedOr<GuardedState>>(janitor_, OrderFor(kReadState, key), query);
    Result<ProtectedOr<GuardedState>> answer = co_await task;
    if (!answer) co_return std::unexpected(WithoutJanitor(answer.error()));
    ProtectedOr<GuardedState>& state = *answer;
    if (state) {
      if (!LiesWhereItSays(*state, key)) {
        co_return std::unexpected(Error("janitor", "its answer is about other paths", EBADMSG));
      }
      auto found = std::make_shared<Found>();
      static_cast<GuardedState&>(*found) = std::move(*state);
      found->key = key;
      co_return found;
    }
    using enum policy::ProtectionFailure::Kind;
    if (state.error().kind != kOutOfReach || round == kMaxRounds) {
      co_return std::unexpected(state.error());
    }
    if (outside_.size() >= kMaxOutside && !outside_.contains(key.directory)) outside_.clear();
    std::vector<std::string>& outside = outside_[key.directory];
    std::ranges::move(PlacesOf(state.error().subject), std::back_inserter(outside));
  }
}

Task<ProtectedOr<bool>> ProtectedPathsGuard::Search(Key key) {
  Task<ProtectedOr<FoundPtr>> reading = Read(key);
  const ProtectedOr<FoundPtr> found = co_await reading;
  if (!found) co_return std::unexpected(found.error());
  co_return true;
}

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
  Task<ProtectedOr<FoundPtr>> task = Read(key);
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
  const std::shared_ptr<Watched> renewed = WithPins({std::move(again)});
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
  const std::shared_ptr<Watched> watched = WithPins(std::move(*known));
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
  Task<bool> entering = EnterTrees(key.writable);
  [[maybe_unused]] const bool entered = co_await entering;
  const Finally leave([&] { LeaveTrees(key.writable); });
  std::vector<GuardedPath> owed;
  for (const auto& [path, guarded] : owed_) {
    if (IsBeneathAny(key.writable, path)) owed.push_back(guarded);
  }
  const std::string quarantine = QuarantineFor(key);
  JanitorOrder order = OrderFor(kRestorePaths, key);
  AllowChanges(order, key, quarantine);
  const Pins pins = PinsOf(owed, order);
  Task<Result<Restored>> task = Ask<Restored>(janitor_, std::move(order), owed, pins, quarantine);
  Result<Restored> answer = co_await task;
  if (!answer) co_return WithoutJanitor(answer.error());
  Restored restored = *std::move(answer);
  TakePins(restored.owed, owed);
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
  if (!area.empty()) Owe(AbsentPath(path, area));
}

Task<Result<Compared>> ProtectedPathsGuard::Compare(const Watch& watch, bool renew) {
  const Found& found = *watch->found;
  Task<MountRecord> recording = CompleteRecord();
  const MountRecord record = co_await recording;
  Comparison comparison{.state = static_cast<const GuardedState&>(found),
                        .query = QueryOf(found.key),
                        .condemned = condemned_,
                        .record = record,
                        .quarantine = QuarantineFor(found.key),
                        .renew = renew};
  comparison.state.paths = Pinned(*watch);
  JanitorOrder order = OrderFor(kCompareState, found.key);
  AllowChanges(order, found.key, comparison.quarantine);
  const Pins pins = PinsOf(comparison.state.paths, order);
  Task<Result<Compared>> task = Ask<Compared>(janitor_, std::move(order), comparison, pins);
  Result<Compared> compared = co_await task;
  if (compared) TakePins(compared->restored.owed, comparison.state.paths);
  co_return compared;
}

Task<std::vector<ProtectedChange>> ProtectedPathsGuard::End(Watch watch) {
  std::vector<ProtectedChange> changes;
  if (!watch) co_return changes;
  const Found& found = *watch->found;
  const auto elsewhere = std::ranges::partition(late_, [&](const ProtectedChange& change) {
    return !IsBeneathAny(found.key.writable, change.path);
  });
  std::ranges::move(elsewhere, std::back_inserter(changes));
  late_.erase(elsewhere.begin(), elsewhere.end());
  policy::HolderLook look(watch->holders.get());
  if (condemned_.empty() && IsSmall(found) && Holds(found, look)) co_return changes;
  Task<bool> entering = EnterTrees(found.key.writable);
  [[maybe_unused]] const bool entered = co_await entering;
  const Finally leave([&] { LeaveTrees(found.key.writable); });
  // Commands that overlap share a watch for as long as one of them runs. If its stamps prove
  // nothing, each would be compared like this one.
  const bool renew =
      !watch->renewed && !IsSettled(found) && uv_now(loop_) >= watch->next_renewal_ms;
  if (renew) watch->next_renewal_ms = uv_now(loop_) + kRenewalMs;
  Task<Result<Compared>> task = Compare(watch, renew);
  Result<Compared> compared = co_await task;
  if (!compared) {
    // Whatever was done there: it is put back before the next command.
    for (const GuardedPath& guarded : Pinned(*watch)) Owe(guarded);
    changes.push_back({.path = found.key.directory,
                       .kind = ChangeKind::kNotCompared,
                       .failure = compared.error().Message()});
    co_return changes;
  }
  Restored& restored = compared->restored;
  FoundPtr again;
  if (compared->again && LiesWhereItSays(*compared->again, found.key)) {
    auto read = std::make_shared<Found>();
    static_cast<GuardedState&>(*read) = *std::move(compared->again);
    read->key = found.key;
    again = std::move(read);
  }
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
