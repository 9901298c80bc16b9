#include "supervisor/guard/read_state.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/path_parts.h"
#include "base/try.h"
#include "base/unique_fd.h"

namespace pa {
namespace {

using policy::ProtectedPath;
using Kind = ProtectedPath::Kind;

constexpr int kAttempts = 3;
// Of repositories: the working directory's and its submodules.
constexpr std::size_t kMaxCopies = 64;

ImageDepth DepthOf(Kind kind) {
  if (kind == Kind::kTree) return ImageDepth::kTree;
  return kind == Kind::kNames ? ImageDepth::kNames : ImageDepth::kSelf;
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
bool SameState(const GuardedState& first, const GuardedState& again) {
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

}  // namespace

ProtectedOr<GuardedState> ReadState(const GuardQuery& query) {
  GuardedState found;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    PA_TRY(auto search, policy::FindProtectedPaths(query.Query()));
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
    if (same) return found;
  }
  found.settled = false;
  return found;
}

std::optional<GuardedState> ReadAgain(const GuardedState& first, const GuardQuery& query) {
  ProtectedOr<GuardedState> again = ReadState(query);
  if (!again || !IsSettled(*again) || !SameState(first, *again)) return std::nullopt;
  return *std::move(again);
}

}  // namespace pa
