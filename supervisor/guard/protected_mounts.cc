#include "supervisor/guard/protected_mounts.h"

#include <optional>
#include <string>

#include "policy/path.h"

namespace pa {
namespace {

using policy::ProtectedPath;

// Whether it is read-only; nothing where no mount can keep it.
std::optional<bool> IsReadOnly(const ProtectedPath& path) {
  const bool directory = path.found == ProtectedPath::Found::kDirectory;
  switch (path.kind) {
    case ProtectedPath::Kind::kPinned:
    case ProtectedPath::Kind::kNames:
      if (directory) return false;
      break;
    case ProtectedPath::Kind::kTree:
    case ProtectedPath::Kind::kSealed:
    case ProtectedPath::Kind::kFrozen:
    case ProtectedPath::Kind::kReadOnly:
      if (directory) return true;
      break;
    case ProtectedPath::Kind::kFile:
      if (path.found == ProtectedPath::Found::kFile) return true;
      break;
    case ProtectedPath::Kind::kState:
      break;
  }
  return std::nullopt;
}

// A file of git's state may change, as long as it executes nothing new.
std::vector<KeptWithin> WithinOf(const GuardedState& found, const ProtectedPath& by) {
  std::vector<KeptWithin> within;
  for (const GuardedPath& guarded : found.within_read_only) {
    const ProtectedPath& one = guarded.path;
    if (one.kind == ProtectedPath::Kind::kState || !policy::IsBeneath(one.path, by.path)) continue;
    const bool whole =
        one.kind != ProtectedPath::Kind::kPinned || one.found == ProtectedPath::Found::kAbsent;
    within.push_back({one.path, one.reason, whole});
  }
  return within;
}

}  // namespace

std::vector<SealedPath> SealedPaths(const GuardedState& found) {
  std::vector<SealedPath> sealed;
  std::string read_only;  // the last directory that is, with everything in it
  for (const GuardedPath& guarded : found.paths) {
    const ProtectedPath& path = guarded.path;
    const std::optional<bool> is_read_only = IsReadOnly(path);
    const bool covered = !read_only.empty() && path.path.starts_with(read_only);
    if (!is_read_only || covered) continue;
    if (sealed.size() == kMaxProtectedMounts) break;
    sealed.push_back({path.path, *is_read_only, path.reason, path.host, path.source});
    if (path.kind == ProtectedPath::Kind::kReadOnly) sealed.back().within = WithinOf(found, path);
    if (*is_read_only && path.found == ProtectedPath::Found::kDirectory)
      read_only = path.path + "/";
  }
  return sealed;
}

std::vector<sandbox::Mount> MountsOf(std::span<const SealedPath> sealed) {
  using sandbox::MountKind;
  std::vector<sandbox::Mount> mounts;
  for (const SealedPath& one : sealed) {
    mounts.push_back(
        {one.read_only ? MountKind::kReadOnly : MountKind::kWritable, one.path, one.path});
  }
  return mounts;
}

}  // namespace pa
