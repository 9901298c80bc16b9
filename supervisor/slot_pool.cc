#include "supervisor/slot_pool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/file.h"

namespace pa {
namespace {

using sandbox::Access;

// A command cannot leave its directory by name, but it can take the permissions from it.
bool ModeIntact(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 && (info.st_mode & 07777) == 0700;
}

}  // namespace

Access TmpDirAccess(const sandbox::Confinement& confinement) {
  const bool builds = std::ranges::any_of(confinement.paths, [](const sandbox::PathGrant& grant) {
    return Has(grant.access, Access::kWrite) && Has(grant.access, Access::kExecute);
  });
  return builds ? sandbox::kReadWriteExecute : sandbox::kReadWrite;
}

Result<std::unique_ptr<Slot>> SlotPool::Acquire(const sandbox::Confinement& confinement) {
  const Result<void> instance = EnsureInstance();
  if (!instance) return std::unexpected(instance.error());
  if (std::unique_ptr<Slot> slot = TakeFree(confinement)) return slot;
  Result<std::string> tmp_dir = MakeDirectory();
  if (!tmp_dir) return std::unexpected(tmp_dir.error());
  sandbox::Confinement with_tmp = confinement;
  with_tmp.paths.push_back({*tmp_dir, TmpDirAccess(confinement), "private TMPDIR"});
  Result<sandbox::PreparedSandbox> prepared = sandbox::PrepareLandlock(with_tmp);
  if (!prepared) {
    rmdir(tmp_dir->c_str());
    return std::unexpected(prepared.error());
  }
  return std::make_unique<Slot>(confinement, std::move(*tmp_dir), std::move(*prepared));
}

// Slots that no longer hold are dropped on the way.
std::unique_ptr<Slot> SlotPool::TakeFree(const sandbox::Confinement& confinement) {
  for (auto it = free_.begin(); it != free_.end();) {
    if ((*it)->confinement != confinement) {
      ++it;
      continue;
    }
    std::unique_ptr<Slot> slot = std::move(*it);
    it = free_.erase(it);
    if (slot->prepared.StillValid(std::chrono::steady_clock::now()) && ModeIntact(slot->tmp_dir))
      return slot;
    remove_(slot->tmp_dir, UniqueFd());
  }
  return nullptr;
}

void SlotPool::Release(std::unique_ptr<Slot> slot, bool clean) {
  if (!clean) {
    if (instance_) (void)instance_->Repair();
    remove_(slot->tmp_dir, UniqueFd());
    return;
  }
  free_.push_front(std::move(slot));
  if (free_.size() <= kMaxFree) return;
  rmdir(free_.back()->tmp_dir.c_str());
  free_.pop_back();
}

Result<std::string> SlotPool::Canary(const sandbox::Confinement& confinement) {
  const Result<void> instance = EnsureInstance();
  if (!instance) return std::unexpected(instance.error());
  std::string path = instance_->path() + "/canary";
  const bool open_to_all =
      std::ranges::any_of(confinement.paths, [&](const sandbox::PathGrant& grant) {
        return path.starts_with(grant.path + (grant.path.ends_with('/') ? "" : "/"));
      });
  if (open_to_all) return "";
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return std::unexpected(Error("open", path, errno));
  const Result<void> written = WriteAll(file.get(), "canary");
  if (!written) return std::unexpected(written.error());
  return path;
}

void SlotPool::RemoveAll() {
  free_.clear();
  instance_.reset();
}

Result<void> SlotPool::EnsureInstance() {
  if (instance_ && instance_->Exists() && instance_->Repair()) return {};
  instance_.reset();
  for (InstanceDir::Stale& stale : InstanceDir::FindStale(tmp_base_)) {
    remove_(std::move(stale.path), std::move(stale.lock));
  }
  Result<InstanceDir> instance = InstanceDir::Create(tmp_base_);
  if (!instance) return std::unexpected(instance.error());
  instance_.emplace(std::move(*instance));
  return {};
}

Result<std::string> SlotPool::MakeDirectory() {
  std::string path = instance_->path() + "/" + std::to_string(next_number_++);
  if (mkdir(path.c_str(), 0700) != 0) return std::unexpected(Error("mkdir", path, errno));
  return path;
}

}  // namespace pa
