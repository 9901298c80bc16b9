#include "supervisor/guard/guarded_state.h"

#include <algorithm>
#include <cerrno>

#include "policy/path.h"

namespace pa {
namespace {

using policy::ProtectedPath;
using Kind = ProtectedPath::Kind;

bool IsImageSettled(const FileImage& image) {
  return image.settled && std::ranges::all_of(image.children, [](const auto& child) {
           return IsImageSettled(child.second);
         });
}

}  // namespace

policy::ProtectionFailure WithoutJanitor(const Error& error) {
  using enum policy::ProtectionFailure::Kind;
  return {error, error.sys_errno == ELOOP ? kMoved : kNobody};
}

policy::ProtectionQuery GuardQuery::Query() const {
  return {.directory = directory,
          .writable = writable,
          .places = places,
          .unprotected = unprotected,
          .roots = roots,
          .anchors = anchors,
          .audit_directory = audit_directory,
          .home = home,
          .config_home = config_home,
          .repositories = repositories,
          .mounts = mounts,
          .git_read_only = git_read_only};
}

GuardQuery OwnQuery(const policy::ProtectionQuery& query) {
  return {.directory = query.directory,
          .writable = query.writable,
          .places = {query.places.begin(), query.places.end()},
          .unprotected = {query.unprotected.begin(), query.unprotected.end()},
          .roots = {query.roots.begin(), query.roots.end()},
          .anchors = {query.anchors.begin(), query.anchors.end()},
          .audit_directory = query.audit_directory,
          .home = query.home,
          .config_home = query.config_home,
          .repositories = {query.repositories.begin(), query.repositories.end()},
          .mounts = query.mounts,
          .git_read_only = query.git_read_only};
}

bool IsPinned(Kind kind) {
  return kind == Kind::kPinned || kind == Kind::kSealed || policy::IsWhole(kind);
}

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

bool SameIndex(const policy::ProtectedPaths::Index& index) {
  return index.settled && LookAt(index.path) == index.stamp &&
         (index.shared.empty() || LookAt(index.shared) == index.shared_stamp);
}

bool IsSettled(const GuardedState& state) {
  const auto is_settled = [](const GuardedPath& one) {
    return IsPinned(one.path.kind) || IsImageSettled(*one.image);
  };
  return state.settled && std::ranges::all_of(state.paths, is_settled) &&
         std::ranges::all_of(state.indexes, [](const auto& index) { return index.settled; }) &&
         std::ranges::all_of(state.copies, [&](const auto& copy) {
           return std::ranges::all_of(copy->pieces, is_settled);
         });
}

GuardedPath AbsentPath(const std::string& path, const std::string& area) {
  return {{.path = path,
           .kind = Kind::kPinned,
           .found = ProtectedPath::Found::kAbsent,
           .area = area,
           .reason = "git repository"},
          std::make_shared<const FileImage>(),
          nullptr};
}

void SortByPath(std::vector<GuardedPath>& paths) {
  std::ranges::sort(paths, {}, [](const GuardedPath& one) { return one.path.path; });
}

bool IsPlainPath(std::string_view path) {
  const std::string closed = std::string(path) + "/";
  return path.starts_with('/') && !closed.contains("//") && !closed.contains("/./") &&
         !closed.contains("/../");
}

bool IsBeneathAny(const std::vector<std::string>& trees, const std::string& path) {
  return std::ranges::any_of(
      trees, [&](const std::string& tree) { return policy::IsBeneath(path, tree); });
}

}  // namespace pa
