#include "supervisor/guard/restorer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "base/directory_reader.h"
#include "base/file.h"
#include "base/path_parts.h"
#include "base/proc_path.h"
#include "policy/git_state.h"
#include "policy/path.h"
#include "supervisor/state/passable.h"

namespace pa {
namespace {

using policy::ProtectedPath;
using Kind = ProtectedPath::Kind;

constexpr std::size_t kFlood = 256;
constexpr std::size_t kMaxState = 4u << 20;  // of what git writes down of an operation
constexpr int kDirectory = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Those that were not there before; too many to be moved one by one are cut off.
Result<std::vector<std::string>> NewNames(int parent, const std::string& name,
                                          const FileImage& image) {
  std::vector<std::string> names;
  const UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("openat", name, errno));
  DirectoryReader reader(fd.get());
  while (const auto entry = reader.Next()) {
    std::string found = entry->name;
    if (!image.children.contains(found)) names.push_back(std::move(found));
    if (names.size() > kFlood) break;
  }
  if (reader.failed()) return std::unexpected(Error("getdents64", name, errno));
  std::ranges::sort(names);
  return names;
}

// Where the directory lies now; nothing if it lies nowhere any more.
std::optional<std::string> PathOf(const UniqueFd& pin) {
  std::array<char, PATH_MAX> buffer;
  const std::string link = ProcPath(pin.get());
  const ssize_t length = readlink(link.c_str(), buffer.data(), buffer.size());
  struct stat status{};
  if (length <= 0 || fstat(pin.get(), &status) != 0) return std::nullopt;
  std::string path(buffer.data(), static_cast<std::size_t>(length));
  if (!path.starts_with('/') || !LookAt(path).SameFile(StampOf(status))) return std::nullopt;
  return path;
}

// The directories from `gone` down to the image at `path`, none of which is there.
FileImage WithParents(const FileImage& image, const std::string& gone, const std::string& path) {
  FileImage whole = image;
  for (std::string at = path; at != gone; at = ParentOf(at)) {
    FileImage directory;
    directory.stamp = image.stamp;
    directory.stamp.mode = S_IFDIR | 0755;
    directory.children.emplace(NameOf(at), std::move(whole));
    whole = std::move(directory);
  }
  return whole;
}

}  // namespace

std::vector<ProtectedChange> Restorer::Run() {
  for (const GuardedPath& guarded : baseline_) {
    const auto told = static_cast<std::ptrdiff_t>(changes_.size());
    Check(guarded);
    const auto is_owed = [](const ProtectedChange& change) { return !change.failure.empty(); };
    if (std::any_of(changes_.begin() + told, changes_.end(), is_owed)) owed_.push_back(guarded);
  }
  return std::move(changes_);
}

bool Restorer::IsLost(const std::string& path) const {
  return std::ranges::any_of(
      lost_, [&](const std::string& lost) { return policy::IsBeneath(path, lost); });
}

void Restorer::Check(const GuardedPath& guarded) {
  const ProtectedPath& path = guarded.path;
  if (IsLost(path.path)) return;
  const UniqueFd area(OpenDirectory(path.area));
  if (!area) {
    // With the whole tree goes what was to be protected in it.
    if (MeansAbsent(errno)) return;
    return Report(path.path, ChangeKind::kOutOfReach,
                  std::unexpected(Error("open", path.area, errno)));
  }
  std::string gone;
  const UniqueFd parent = OpenParent(area.get(), path.area, path.path, &gone);
  if (!parent && Unseen(path.path, errno)) return;
  if (!parent) return CheckUnreachable(guarded, area.get(), gone);
  const Spot spot{parent.get(), std::string(NameOf(path.path)), path.path, area.get(), path.area};
  if (Unseen(path.path, LookAt(spot.parent, spot.name).error)) return;
  if (path.kind == Kind::kFile || path.kind == Kind::kTree) {
    return CheckSaved(spot, guarded);
  }
  if (path.kind == Kind::kState) return CheckState(spot, *guarded.image);
  CheckPinned(spot, guarded);
  if (path.kind == Kind::kNames) CheckNames(spot, *guarded.image);
}

// Where nobody can tell what is there, nothing is put back or taken away, and the call fails.
bool Restorer::Unseen(const std::string& path, int error) {
  if (error == 0 || MeansGone(error)) return false;
  Report(path, ChangeKind::kNotCompared, std::unexpected(Error("open", path, error)));
  return true;
}

// What was pinned on the way has been seen to already, so whatever stands there now was never to
// be.
void Restorer::CheckUnreachable(const GuardedPath& guarded, int area_fd, const std::string& gone) {
  const ProtectedPath& path = guarded.path;
  const FileImage& image = *guarded.image;
  struct stat reached{};
  const int error = stat(path.path.c_str(), &reached) == 0 ? 0 : errno;
  if (Unseen(path.path, error)) return;
  const bool none_now = MeansAbsent(error);
  if (none_now && (!image.stamp.exists || path.kind == Kind::kState)) return;
  std::string none;
  const UniqueFd parent = OpenParent(area_fd, path.area, gone, &none);
  if (!parent)
    return Report(path.path, ChangeKind::kOutOfReach, std::unexpected(Error("open", gone, errno)));
  const Spot spot{parent.get(), std::string(NameOf(gone)), gone, area_fd, path.area};
  if (!image.stamp.exists || path.kind == Kind::kState) return void(Take(spot, ChangeKind::kAdded));
  // An empty directory would be all that we could make of a repository, or of what was passed.
  if (path.repository) {
    changes_.push_back({.path = path.path, .kind = ChangeKind::kRemoved});
    lost_.insert(path.path);
  }
  if (path.kind != Kind::kFile && path.kind != Kind::kTree) return;
  if (LookAt(parent.get(), spot.name).exists && !Take(spot, ChangeKind::kReplaced)) return;
  const Result<std::string> kept = quarantine_.Exchange(WithParents(image, gone, path.path),
                                                        spot.parent, spot.name, area_fd, path.area);
  Report(path.path, ChangeKind::kRemoved, kept);
}

void Restorer::CheckPinned(const Spot& spot, const GuardedPath& guarded) {
  const PathStamp now = LookAt(spot.parent, spot.name);
  const PathStamp& before = guarded.image->stamp;
  if (!before.exists) {
    if (!now.IsAbsent()) Take(spot, ChangeKind::kAdded);
  } else if (now.SameFile(before)) {
    // Whoever may not enter it could restore nothing beneath.
    CheckMetadata(spot, before, S_IRWXU);
  } else {
    CheckReplaced(spot, guarded);
  }
}

void Restorer::CheckReplaced(const Spot& spot, const GuardedPath& guarded) {
  const PathStamp now = LookAt(spot.parent, spot.name);
  const std::optional<std::string> lies = guarded.pin ? PathOf(*guarded.pin) : std::nullopt;
  // Elsewhere it was put by us, at the end of another command.
  const bool lives = lies && policy::IsBeneath(*lies, spot.area);
  const bool takes_its_place = now.exists && (lives || !now.IsDirectory());
  if (takes_its_place && !Take(spot, ChangeKind::kReplaced)) return;
  if (lives && MoveBack(spot, *guarded.pin)) return;
  if (!guarded.path.repository) return;  // what it held is looked for by itself
  // The objects are gone. What the new one executes is what the old one did, as far as it goes on.
  changes_.push_back({.path = spot.path,
                      .kind = now.IsDirectory() ? ChangeKind::kReplaced : ChangeKind::kRemoved});
  if (!LookAt(spot.parent, spot.name).IsDirectory()) lost_.insert(spot.path);
}

bool Restorer::MoveBack(const Spot& spot, const UniqueFd& pin) {
  const std::optional<std::string> from = PathOf(pin);
  const UniqueFd parent = from ? OpenDirectory(ParentOf(*from)) : UniqueFd();
  if (!parent) return false;
  const std::string name(NameOf(*from));
  struct stat status{};
  const bool same =
      fstat(pin.get(), &status) == 0 && LookAt(parent.get(), name).SameFile(StampOf(status));
  if (!same || renameat2(parent.get(), name.c_str(), spot.parent, spot.name.c_str(),
                         RENAME_NOREPLACE) != 0) {
    return false;
  }
  changes_.push_back({.path = spot.path, .kind = ChangeKind::kMoved, .restored = true});
  return true;
}

void Restorer::CheckNames(const Spot& spot, const FileImage& image) {
  if (!image.stamp.exists || !LookAt(spot.parent, spot.name).IsDirectory()) return;
  const Result<std::vector<std::string>> names = NewNames(spot.parent, spot.name, image);
  if (!names && Unseen(spot.path, names.error().sys_errno)) return;
  if (!names) return Report(spot.path, ChangeKind::kChanged, std::unexpected(names.error()));
  if (names->size() > kFlood) return TakeFlood(spot, image);
  const UniqueFd fd(openat(spot.parent, spot.name.c_str(), kDirectory));
  for (const std::string& name : *names) {
    Take({fd.get(), name, spot.path + "/" + name, spot.area_fd, spot.area}, ChangeKind::kAdded);
  }
}

// git may have written it, with what executes nothing more than before.
void Restorer::CheckState(const Spot& spot, const FileImage& image) {
  const PathStamp now = LookAt(spot.parent, spot.name);
  if (now.IsAbsent() || (now == image.stamp && image.settled)) return;
  Result<std::string> text = std::unexpected(Error("read", spot.path, EINVAL));
  if (now.IsRegular()) {
    const UniqueFd fd(openat(spot.parent, spot.name.c_str(),
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd && Unseen(spot.path, errno)) return;
    if (fd) text = ReadFileFrom(fd.get(), spot.path, kMaxState);
    if (!text && Unseen(spot.path, text.error().sys_errno)) return;
  }
  if (text && policy::IsHarmlessState(spot.path, image.content, *text)) return;
  if (!image.stamp.exists) return void(Take(spot, ChangeKind::kAdded));
  Put(spot, image, ChangeKind::kChanged);
}

// Moves the whole directory away, and what was in it before into a new one.
void Restorer::TakeFlood(const Spot& spot, const FileImage& image) {
  FileImage empty;
  empty.stamp = image.stamp;
  const Result<std::string> kept =
      quarantine_.Exchange(empty, spot.parent, spot.name, spot.area_fd, spot.area);
  Report(spot.path, ChangeKind::kFilled, kept);
  if (!kept) return;
  const UniqueFd from = OpenDirectory(*kept);
  const UniqueFd to(openat(spot.parent, spot.name.c_str(), kDirectory));
  if (!from || !to) return;
  for (const auto& [name, child] : image.children) {
    (void)renameat(from.get(), name.c_str(), to.get(), name.c_str());  // each is looked for itself
  }
}

// Nothing of what the user may have saved is lost: what is not put in its place is quarantined.
void Restorer::CheckSaved(const Spot& spot, const GuardedPath& guarded) {
  if (guarded.saved == nullptr) return CheckImage(spot, *guarded.image);
  if (guarded.saved_is_certain) return CheckImage(spot, *guarded.saved);
  const Result<bool> is_saved = HoldsContent(*guarded.saved, spot.parent, spot.name);
  if (!is_saved && Unseen(spot.path, is_saved.error().sys_errno)) return;
  if (!is_saved || !*is_saved) Put(spot, *guarded.saved, ChangeKind::kChanged);
  CheckImage(spot, *guarded.image);
}

void Restorer::CheckImage(const Spot& spot, const FileImage& image) {
  const PathStamp now = LookAt(spot.parent, spot.name);
  if (Unseen(spot.path, now.error)) return;
  if (now == image.stamp && image.settled && !now.IsDirectory()) return;
  if (!image.stamp.exists) {
    if (!now.IsAbsent()) Take(spot, ChangeKind::kAdded);
    return;
  }
  if (!now.exists || (now.mode & S_IFMT) != (image.stamp.mode & S_IFMT)) {
    return Put(spot, image, now.exists ? ChangeKind::kReplaced : ChangeKind::kRemoved);
  }
  // What is not the user's content must not become set-id, wherever it is kept then.
  const bool set_id = !now.IsDirectory() && (image.stamp.mode & (S_ISUID | S_ISGID)) != 0;
  const bool same_metadata = set_id || CheckMetadata(spot, image.stamp, kPermissionBits);
  if (now.IsDirectory()) return CheckChildren(spot, image);
  // Another name for the same file is a way to it that nobody watches.
  const bool linked = now.links > image.stamp.links;
  const Result<bool> holds = HoldsContent(image, spot.parent, spot.name);
  if (!holds && Unseen(spot.path, holds.error().sys_errno)) return;
  if (linked || !holds || !*holds) {
    if (!same_metadata) changes_.pop_back();  // told once
    return Put(spot, image, linked ? ChangeKind::kLinked : ChangeKind::kChanged);
  }
  if (set_id) CheckMetadata(spot, image.stamp, kPermissionBits);
}

void Restorer::CheckChildren(const Spot& spot, const FileImage& image) {
  const UniqueFd fd(openat(spot.parent, spot.name.c_str(), kDirectory));
  if (!fd && Unseen(spot.path, errno)) return;
  if (!fd)
    return Report(spot.path, ChangeKind::kChanged,
                  std::unexpected(Error("openat", spot.path, errno)));
  const auto child = [&](const std::string& name) {
    return Spot{fd.get(), name, spot.path + "/" + name, spot.area_fd, spot.area};
  };
  const Result<std::vector<std::string>> names = NewNames(spot.parent, spot.name, image);
  if (!names && Unseen(spot.path, names.error().sys_errno)) return;
  if (!names) return Report(spot.path, ChangeKind::kChanged, std::unexpected(names.error()));
  if (names->size() > kFlood) return Put(spot, image, ChangeKind::kFilled);
  for (const std::string& name : *names) Take(child(name), ChangeKind::kAdded);
  for (const auto& [name, of_child] : image.children) CheckImage(child(name), of_child);
}

// Of the permissions only `which`; true if they are what they were.
bool Restorer::CheckMetadata(const Spot& spot, const PathStamp& stamp, std::uint32_t which) {
  const PathStamp now = LookAt(spot.parent, spot.name);
  const bool owner = now.owner == stamp.owner && now.group == stamp.group;
  if (owner && (now.mode & which) == (stamp.mode & which)) return true;
  const Result<void> restored = RestoreMetadata(stamp, spot.parent, spot.name);
  Report(spot.path, ChangeKind::kPermissions,
         restored ? Result<std::string>("") : std::unexpected(restored.error()));
  return false;
}

bool Restorer::Take(const Spot& spot, ChangeKind kind) {
  const Result<std::string> kept =
      quarantine_.Take(spot.parent, spot.name, spot.area_fd, spot.area);
  Report(spot.path, kind, kept);
  return kept.has_value();
}

void Restorer::Put(const Spot& spot, const FileImage& image, ChangeKind kind) {
  Report(spot.path, kind,
         quarantine_.Exchange(image, spot.parent, spot.name, spot.area_fd, spot.area));
}

void Restorer::Report(const std::string& path, ChangeKind kind, const Result<std::string>& kept) {
  ProtectedChange change{.path = path, .kind = kind, .restored = kept.has_value()};
  if (kept) change.kept = *kept;
  if (!kept) change.failure = kept.error().Message();
  changes_.push_back(std::move(change));
}

}  // namespace pa
