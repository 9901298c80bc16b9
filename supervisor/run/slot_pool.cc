#include "supervisor/run/slot_pool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/descriptors.h"
#include "base/file.h"
#include "base/try.h"
#include "supervisor/run/view_cache.h"

namespace pa {
namespace {

using sandbox::Access;

// Each use leaves two rules in the ruleset, for a proc and a devpts that are gone
// (worker/child.cc).
constexpr int kMaxUses = 64;
constexpr char kCanary[] = "canary";

// A command cannot leave its directory by name, but it can take the permissions from it.
bool ModeIntact(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 && (info.st_mode & 07777) == 0700;
}

bool IsBelow(const std::string& path, std::string_view directory) {
  return path.starts_with(directory) && path[directory.size()] == '/';
}

// A private /tmp is the slot's directory. Where /tmp holds what the command works on, or what it
// may read, there are only the names of that, and TMPDIR under its own.
void PlanMounts(const std::string& tmp_dir, const sandbox::Confinement& confinement,
                SlotView& view) {
  std::vector<sandbox::PathGrant> grants = confinement.paths;
  // Not everybody may read their working directory: who asks git for the user's name.
  grants.push_back({view.directory, Access::kNone, "", sandbox::Symlinks::kRefuse});
  view.tmp_name = "/tmp";
  // A mount point that nothing was mounted on is no loss.
  const auto in_tmp = [](const sandbox::Mount& mount) {
    return mount.kind != sandbox::MountKind::kDirectory && IsBelow(mount.target, "/tmp");
  };
  if (std::ranges::any_of(sandbox::PlanOwnMounts(*view.base, grants), in_tmp) ||
      std::ranges::any_of(view.base->mounts, in_tmp)) {
    view.tmp_name = tmp_dir;
    grants.push_back({tmp_dir, sandbox::kReadWrite, "", sandbox::Symlinks::kRefuse});
  }
  view.mounts = sandbox::PlanOwnMounts(*view.base, grants);
  if (view.tmp_name != tmp_dir) {
    view.mounts.push_back({sandbox::MountKind::kWritable, tmp_dir, view.tmp_name});
  }
  view.mounts.push_back({sandbox::MountKind::kWritable, view.shm_dir, "/dev/shm"});
}

}  // namespace

Access TmpDirAccess(const sandbox::Confinement& confinement) {
  const bool builds = std::ranges::any_of(confinement.paths, [](const sandbox::PathGrant& grant) {
    return Has(grant.access, Access::kWrite) && Has(grant.access, Access::kExecute);
  });
  return builds ? sandbox::kReadWriteExecute : sandbox::kReadWrite;
}

SlotOr SlotPool::Acquire(const sandbox::Confinement& confinement) {
  return Acquire(confinement, nullptr, "");
}

SlotOr SlotPool::Acquire(const sandbox::Confinement& confinement,
                         std::shared_ptr<const sandbox::View> base, const std::string& directory) {
  PA_TRY_VOID(EnsureInstance());
  SlotView view{
      .base = std::move(base), .directory = directory, .mounts = {}, .shm_dir = "", .tmp_name = ""};
  if (std::unique_ptr<Slot> slot = TakeFree(confinement, view)) return slot;
  return Make(confinement, std::move(view));
}

// Slots that no longer hold are dropped on the way.
std::unique_ptr<Slot> SlotPool::TakeFree(const sandbox::Confinement& confinement,
                                         const SlotView& view) {
  for (auto it = free_.begin(); it != free_.end();) {
    const SlotView& has = (*it)->view;
    if ((*it)->confinement != confinement || has.base != view.base ||
        has.directory != view.directory) {
      ++it;
      continue;
    }
    std::unique_ptr<Slot> slot = std::move(*it);
    it = free_.erase(it);
    const bool intact =
        ModeIntact(slot->tmp_dir) && (has.shm_dir.empty() || ModeIntact(slot->view.shm_dir));
    if (slot->prepared.StillValid(std::chrono::steady_clock::now()) && intact) return slot;
    Discard(*slot);
  }
  return nullptr;
}

SlotOr SlotPool::Make(const sandbox::Confinement& confinement, SlotView view) {
  const std::string number = std::to_string(next_number_++);  // names are not used twice
  PA_TRY(std::string tmp_dir, MakeDirectory(number));
  sandbox::Confinement with_tmp = confinement;
  with_tmp.paths.push_back(
      {tmp_dir, TmpDirAccess(confinement), "private TMPDIR", sandbox::Symlinks::kRefuse});
  if (view.base != nullptr) {
    PA_TRY(view.shm_dir, MakeDirectory(number + ".shm"));
    with_tmp.paths.push_back(
        {view.shm_dir, TmpDirAccess(confinement), "private /dev/shm", sandbox::Symlinks::kRefuse});
    with_tmp.paths.push_back(ControllingTerminal());
    PlanMounts(tmp_dir, confinement, view);
  }
  Result<sandbox::PreparedSandbox> prepared = sandbox::PrepareLandlock(with_tmp);
  if (!prepared) {
    for (const std::string& made : {number, number + ".shm"}) {
      unlinkat(instance_->directory()->get(), made.c_str(), AT_REMOVEDIR);
    }
    // ELOOP: what a grant names is another file now (sandbox::Symlinks), of which the kernel lacks
    // nothing.
    const bool by_sandbox = prepared.error().sys_errno != ELOOP;
    return std::unexpected(SlotFailure(prepared.error(), by_sandbox));
  }
  return std::make_unique<Slot>(confinement, std::move(tmp_dir), instance_->directory(),
                                std::move(*prepared), std::move(view), generation_);
}

void SlotPool::Release(std::unique_ptr<Slot> slot, bool clean) {
  if (!clean) {
    if (instance_) (void)instance_->Repair();
    return Discard(*slot);
  }
  if (slot->generation != generation_) return Discard(*slot);
  if (slot->view.base != nullptr && ++slot->view.uses == kMaxUses) return Discard(*slot);
  free_.push_front(std::move(slot));
  while (free_.size() > DescriptorsAllow(kMaxFree)) {
    Discard(*free_.back());
    free_.pop_back();
  }
}

void SlotPool::Renew() {
  ++generation_;
  for (const std::unique_ptr<Slot>& slot : free_) Discard(*slot);
  free_.clear();
}

void SlotPool::Discard(const Slot& slot) {
  for (const std::string& path : {slot.tmp_dir, slot.view.shm_dir}) {
    if (path.empty()) continue;
    const std::string name = path.substr(path.rfind('/') + 1);
    if (unlinkat(slot.instance->get(), name.c_str(), AT_REMOVEDIR) != 0) {
      remove_({slot.instance, name}, UniqueFd());
    }
  }
}

Result<std::string> SlotPool::Canary(const sandbox::Confinement& confinement) {
  PA_TRY_VOID(EnsureInstance());
  std::string path = instance_->path() + "/" + kCanary;
  const bool open_to_all =
      std::ranges::any_of(confinement.paths, [&](const sandbox::PathGrant& grant) {
        return path.starts_with(grant.path + (grant.path.ends_with('/') ? "" : "/"));
      });
  if (open_to_all) return "";
  const UniqueFd file(openat(instance_->directory()->get(), kCanary,
                             O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return std::unexpected(Error("open", path, errno));
  PA_TRY_VOID(WriteAll(file.get(), "canary"));
  return path;
}

void SlotPool::RemoveAll() {
  Renew();
  if (!instance_) return;
  unlinkat(instance_->directory()->get(), kCanary, 0);
  InstanceDir::Stale whole = std::move(*instance_).Release();
  instance_.reset();
  remove_(std::move(whole.tree), std::move(whole.lock));
}

Result<void> SlotPool::EnsureInstance() {
  if (instance_ && instance_->Exists() && instance_->Repair()) return {};
  const bool removed = instance_.has_value() || removed_;
  instance_.reset();
  for (InstanceDir::Stale& stale : InstanceDir::FindStale(tmp_base_)) {
    remove_(std::move(stale.tree), std::move(stale.lock));
  }
  Result<InstanceDir> instance = InstanceDir::Create(tmp_base_);
  // A server that has confined itself makes no other.
  removed_ = removed && !instance && instance.error().sys_errno == EACCES;
  if (removed_) {
    return std::unexpected(Error("the server's directory is gone; start the server anew: make one",
                                 "in " + tmp_base_, EACCES));
  }
  if (!instance) return std::unexpected(std::move(instance).error());
  instance_.emplace(*std::move(instance));
  if (made_) made_();
  return {};
}

std::string SlotPool::Instance() { return EnsureInstance() ? instance_->path() : ""; }

void SlotPool::Prepare(std::function<void()> made) {
  static_cast<void>(EnsureInstance());
  made_ = std::move(made);
}

Result<std::string> SlotPool::MakeDirectory(const std::string& name) {
  std::string path = instance_->path() + "/" + name;
  if (mkdirat(instance_->directory()->get(), name.c_str(), 0700) != 0) {
    return std::unexpected(Error("mkdir", path, errno));
  }
  return path;
}

}  // namespace pa
