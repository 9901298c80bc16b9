#include "sandbox/view_plan.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

namespace pa::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxSymlinks = 40;  // as path_resolution(7)

bool IsBeneath(const std::string& path, const std::string& directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

bool IsBind(const Mount& mount) {
  return mount.kind == MountKind::kReadOnly || mount.kind == MountKind::kWritable ||
         mount.kind == MountKind::kDevice;
}

// Private to each command, whatever is granted outside.
bool IsOwn(const std::string& path) {
  return IsBeneath(path, "/proc") || path == "/tmp" || path == "/dev/shm" || path == "/dev/ptmx" ||
         IsBeneath(path, "/dev/pts");
}

MountKind KindOf(Access access) {
  if (Has(access, Access::kDevice)) return MountKind::kDevice;
  return Has(access, Access::kWrite) ? MountKind::kWritable : MountKind::kReadOnly;
}

PathIdentity Identify(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

// What stands at a place: nothing at all, or something, maybe a symlink with this text.
struct Standing {
  bool there = false;
  std::optional<std::string> symlink;
};

// Where `path` leads, component by component; nothing when something on the way is not there.
template <typename Look>
std::optional<std::string> Walk(const std::string& path, Look look) {
  fs::path left = fs::path(path).lexically_normal().relative_path();
  fs::path at = "/";
  for (int links = 0; !left.empty();) {
    const fs::path name = *left.begin();
    left = left.lexically_relative(name);
    if (left == ".") left.clear();
    if (name == "..") at = at.parent_path();
    if (name == ".." || name.empty() || name == ".") continue;
    const Standing standing = look(at / name);
    if (!standing.there) return std::nullopt;
    if (!standing.symlink) {
      at /= name;
      continue;
    }
    if (++links > kMaxSymlinks) return std::nullopt;
    const fs::path text = *standing.symlink;
    if (text.is_absolute()) at = "/";
    left = text.relative_path() / left;
  }
  return at.string();
}

// Where `path` leads, and the symlinks that are met: their text by their place. What is not there
// may be there later.
std::string Follow(const std::string& path, std::map<std::string, std::string>& symlinks) {
  const auto look = [&](const fs::path& place) -> Standing {
    std::error_code no_link;
    const fs::path text = fs::read_symlink(place, no_link);
    if (no_link) return {.there = true, .symlink = {}};
    symlinks[place.string()] = text.string();
    return {.there = true, .symlink = text.string()};
  };
  return Walk(path, look).value_or(path);
}

// The mount that `path` lies in; null when it is not in sight.
const Mount* Innermost(const std::vector<Mount>& mounts, const std::string& path) {
  const Mount* innermost = nullptr;
  for (const Mount& mount : mounts) {
    if (!IsBind(mount) || !IsBeneath(path, mount.target)) continue;
    if (innermost == nullptr || innermost->target.size() < mount.target.size()) innermost = &mount;
  }
  return innermost;
}

class Planner {
 public:
  explicit Planner(const ViewOrder& order) {
    for (const PathGrant& grant : order.grants) Grant(grant);
    for (const std::string& name : order.names) Follow(name, symlinks_);
    for (const std::string& place : order.places) places_.insert(Follow(place, symlinks_));
  }

  View Plan() && {
    View view;
    // The shorter path comes first, so that what lies beneath it can be mounted on top.
    for (const auto& [path, kind] : binds_) {
      if (!IsCovered(path, kind)) view.mounts.push_back({kind, path, path});
    }
    // In what is mounted from outside nothing can be made: what is there is there.
    for (const std::string& place : places_) {
      if (Innermost(view.mounts, place) == nullptr) {
        view.mounts.push_back({MountKind::kDirectory, "", place});
      }
    }
    for (const auto& [place, text] : symlinks_) {
      view.mounts.push_back({MountKind::kSymlink, text, place});
    }
    for (const Mount& mount : view.mounts) {
      view.found.push_back(IsBind(mount) ? Identify(mount.source) : PathIdentity{});
    }
    return view;
  }

 private:
  void Grant(const PathGrant& grant) {
    const std::string path = Follow(grant.path, symlinks_);
    if (path == "/") return GrantEverything(grant.access);
    if (IsOwn(path)) return;
    const MountKind kind = KindOf(grant.access);
    const auto [bind, is_new] = binds_.try_emplace(path, kind);
    if (!is_new && kind == MountKind::kWritable) bind->second = kind;
  }

  // The root of the view is its own, and so is what stands below some names of it.
  void GrantEverything(Access access) {
    std::error_code unreadable;
    for (const fs::directory_entry& entry : fs::directory_iterator("/", unreadable)) {
      Grant({.path = entry.path().string(), .access = access});
    }
  }

  bool IsCovered(const std::string& path, MountKind kind) const {
    return std::ranges::any_of(binds_, [&](const auto& other) {
      return other.first != path && IsBeneath(path, other.first) && kind != MountKind::kDevice &&
             (other.second == MountKind::kWritable || kind == MountKind::kReadOnly);
    });
  }

  std::map<std::string, MountKind> binds_;
  std::map<std::string, std::string> symlinks_;
  std::set<std::string> places_;
};

bool IsShown(const std::vector<Mount>& mounts, const std::string& path, MountKind kind) {
  const Mount* mount = Innermost(mounts, path);
  return mount != nullptr && (kind == MountKind::kReadOnly || mount->kind == kind);
}

// The outermost place above `path` under which the view has nothing: there the names on the way to
// it can be made for this command alone.
const std::string* PrivatePlace(const View& view, const std::string& path) {
  const std::string* found = nullptr;
  for (const Mount& place : view.mounts) {
    if (place.kind != MountKind::kDirectory || place.target == path) continue;
    if (!IsBeneath(path, place.target) || Innermost(view.mounts, place.target) != nullptr) continue;
    const bool holds = std::ranges::any_of(view.mounts, [&](const Mount& mount) {
      return IsBind(mount) && IsBeneath(mount.target, place.target);
    });
    if (holds || (found != nullptr && found->size() <= place.target.size())) continue;
    found = &place.target;
  }
  return found;
}

// What the view shows beneath `binds` and they would hide: what it gives more than they do.
void KeepInSight(const View& view, std::map<std::string, MountKind>& binds) {
  const std::map<std::string, MountKind> above = binds;
  for (const Mount& mount : view.mounts) {
    const bool hidden = IsBind(mount) && std::ranges::any_of(above, [&](const auto& bind) {
                          return IsBeneath(mount.target, bind.first);
                        });
    if (hidden) binds.try_emplace(mount.target, mount.kind);
  }
}

Standing WhatStandsAt(const std::vector<Mount>& mounts, const std::string& place) {
  if (IsOwn(place)) return {.there = true, .symlink = {}};
  if (Innermost(mounts, place) != nullptr) {
    std::error_code no_link;
    const std::string text = fs::read_symlink(place, no_link).string();
    return {.there = true, .symlink = no_link ? std::nullopt : std::optional(text)};
  }
  for (const Mount& mount : mounts) {
    if (mount.kind == MountKind::kSymlink && mount.target == place) {
      return {.there = true, .symlink = mount.source};
    }
    if (IsBeneath(mount.target, place)) return {.there = true, .symlink = {}};
  }
  return {};
}

}  // namespace

bool CanBeNamed(const std::vector<Mount>& mounts, const std::string& path) {
  return Walk(path, [&](const fs::path& place) { return WhatStandsAt(mounts, place.string()); })
      .has_value();
}

View PlanView(const ViewOrder& order) { return Planner(order).Plan(); }

bool StillValid(const View& view) {
  for (std::size_t i = 0; i < view.mounts.size(); ++i) {
    const Mount& mount = view.mounts[i];
    if (IsBind(mount) && Identify(mount.source) != view.found[i]) return false;
  }
  return true;
}

std::vector<Mount> PlanOwnMounts(const View& view, const std::vector<PathGrant>& grants) {
  std::map<std::string, std::string> symlinks;
  std::map<std::string, MountKind> binds;
  for (const PathGrant& grant : grants) {
    // What must not be followed is canonical, and no link may stand there any more when it is
    // mounted.
    const std::string path =
        grant.symlinks == Symlinks::kRefuse ? grant.path : Follow(grant.path, symlinks);
    const MountKind kind = KindOf(grant.access);
    if (IsOwn(path) || IsShown(view.mounts, path, kind)) continue;
    const auto [bind, is_new] = binds.try_emplace(path, kind);
    if (!is_new && kind == MountKind::kWritable) bind->second = kind;
  }
  KeepInSight(view, binds);
  std::vector<Mount> own;
  std::set<std::string> made;
  for (const auto& [path, kind] : binds) {
    if (IsShown(own, path, kind)) continue;
    // In what is mounted already the names are there, and a tmpfs would hide it.
    const bool named = Innermost(own, path) != nullptr;
    const std::string* place = named ? nullptr : PrivatePlace(view, path);
    if (place != nullptr && made.insert(*place).second) {
      own.push_back({MountKind::kTmpfs, "", *place});
    }
    own.push_back({kind, path, path});
  }
  for (const Mount& mount : view.mounts) {
    const auto holds = [&](const std::string& place) { return IsBeneath(mount.target, place); };
    const bool hidden = mount.kind == MountKind::kSymlink && std::ranges::any_of(made, holds);
    if (hidden && Innermost(own, mount.target) == nullptr) {
      symlinks.try_emplace(mount.target, mount.source);
    }
  }
  for (const auto& [place, text] : symlinks) own.push_back({MountKind::kSymlink, text, place});
  return own;
}

}  // namespace pa::sandbox
