#include "supervisor/protected_mounts.h"

#include <optional>
#include <string>

namespace pa {
namespace {

using policy::ProtectedPath;
using sandbox::MountKind;

std::optional<MountKind> KindOf(const ProtectedPath& path) {
  const bool directory = path.found == ProtectedPath::Found::kDirectory;
  switch (path.kind) {
    case ProtectedPath::Kind::kPinned:
    case ProtectedPath::Kind::kNames:
      if (directory) return MountKind::kWritable;
      break;
    case ProtectedPath::Kind::kTree:
      if (directory) return MountKind::kReadOnly;
      break;
    case ProtectedPath::Kind::kFile:
      if (path.found == ProtectedPath::Found::kFile) return MountKind::kReadOnly;
      break;
  }
  return std::nullopt;
}

}  // namespace

std::vector<sandbox::Mount> ProtectedMounts(const ProtectedPathsGuard::Watched& watched) {
  std::vector<sandbox::Mount> mounts;
  std::string read_only;  // the last directory that is, with everything in it
  for (const GuardedPath& guarded : watched.paths) {
    const ProtectedPath& path = guarded.path;
    const std::optional<MountKind> kind = KindOf(path);
    const bool covered = !read_only.empty() && path.path.starts_with(read_only);
    if (!kind || covered) continue;
    if (mounts.size() == kMaxProtectedMounts) break;
    mounts.push_back({*kind, path.path, path.path});
    if (path.kind == ProtectedPath::Kind::kTree) read_only = path.path + "/";
  }
  return mounts;
}

}  // namespace pa
