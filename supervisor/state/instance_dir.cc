#include "supervisor/state/instance_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/empty_directory.h"

namespace pa {
namespace {

std::string Prefix() { return "project-actions-" + std::to_string(geteuid()) + "-"; }

UniqueFd OpenBase(const std::string& base) {
  return UniqueFd(open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

UniqueFd OpenAndLock(int base, const std::string& name) {
  UniqueFd fd(openat(base, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

bool IsSameDirectory(int fd, const std::string& path) {
  struct stat held{};
  struct stat named{};
  return fstat(fd, &held) == 0 && lstat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

// Only what nobody but us can have made: anyone may create names in /tmp.
bool IsOurs(int fd) {
  struct stat info{};
  return fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 07777) == 0700;
}

std::vector<std::string> Siblings(const std::string& base) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(base.c_str()), closedir);
  const std::string prefix = Prefix();
  while (const dirent* entry = dir ? readdir(dir.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(prefix) && name.size() == prefix.size() + 6) names.emplace_back(name);
  }
  return names;
}

// Whoever ends us does not wait for long. But what is there of ourselves goes, however long we wait
// for a processor: the canary, and the directories of all slots that are kept (SlotPool::kMaxFree,
// two each).
constexpr std::chrono::milliseconds kLastCleaning{500};
constexpr std::uint64_t kOurOwn = 256;

}  // namespace

std::vector<InstanceDir::Stale> InstanceDir::FindStale(const std::string& base) {
  std::vector<Stale> stale;
  const auto parent = std::make_shared<const UniqueFd>(OpenBase(base));
  for (const std::string& name : Siblings(base)) {
    UniqueFd lock = OpenAndLock(parent->get(), name);
    if (lock && IsOurs(lock.get())) stale.push_back({{parent, name}, std::move(lock)});
  }
  return stale;
}

std::vector<std::string> InstanceDir::FindAll(const std::string& written) {
  std::error_code unreachable;
  const std::string base = std::filesystem::canonical(written, unreachable).string();
  std::vector<std::string> paths;
  if (unreachable) return paths;
  const UniqueFd parent = OpenBase(base);
  for (const std::string& name : Siblings(base)) {
    const UniqueFd fd(
        openat(parent.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd && IsOurs(fd.get())) paths.push_back(base + "/" + name);
  }
  return paths;
}

// Without symlinks in its path, as whoever mounts it or grants it wants to know it.
Result<InstanceDir> InstanceDir::Create(const std::string& written) {
  std::error_code unreachable;
  const std::string real = std::filesystem::canonical(written, unreachable).string();
  const std::string& base = unreachable ? written : real;
  // Between mkdtemp and flock another process may take ours for stale: then once more.
  for (int attempt = 0; attempt < 10; ++attempt) {
    std::string path = base + "/" + Prefix() + "XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return std::unexpected(Error("mkdtemp", path, errno));
    UniqueFd parent = OpenBase(base);
    if (!parent) return std::unexpected(Error("open", base, errno));
    UniqueFd lock = OpenAndLock(parent.get(), path.substr(path.rfind('/') + 1));
    if (lock && IsSameDirectory(lock.get(), path)) {
      return InstanceDir(std::move(path), std::move(parent), std::move(lock));
    }
  }
  return std::unexpected(Error("flock", base + "/" + Prefix() + "*", EAGAIN));
}

InstanceDir::~InstanceDir() {
  if (!lock_) return;
  const std::string name = path_.substr(path_.rfind('/') + 1);
  const auto emptied =
      EmptyHeldDirectory(lock_->get(), name.c_str(), kLastCleaning.count(), kOurOwn);
  if (emptied && *emptied) unlinkat(base_.get(), name.c_str(), AT_REMOVEDIR);
}

InstanceDir::Stale InstanceDir::Release() && {
  UniqueFd lock(fcntl(lock_->get(), F_DUPFD_CLOEXEC, 0));
  lock_.reset();
  return {{std::make_shared<const UniqueFd>(std::move(base_)), path_.substr(path_.rfind('/') + 1)},
          std::move(lock)};
}

bool InstanceDir::Repair() const { return IsOurs(lock_->get()) || fchmod(lock_->get(), 0700) == 0; }

bool InstanceDir::Exists() const { return IsSameDirectory(lock_->get(), path_); }

}  // namespace pa
