#include "supervisor/spawner/own_directories.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/path_parts.h"
#include "base/path_stamp.h"

namespace pa {
namespace {

// Between mkdir(2) and flock(2) another server may remove it.
constexpr int kTries = 16;

// False: it is not there, and cannot be made.
bool MakeAll(const std::string& path, std::vector<std::string>& made) {
  if (mkdir(path.c_str(), S_IRWXU) == 0) {
    made.push_back(path);
    return true;
  }
  if (errno == EEXIST) return true;
  const std::string parent = ParentOf(path);
  if (errno != ENOENT || parent == path || !MakeAll(parent, made)) return false;
  if (mkdir(path.c_str(), S_IRWXU) != 0) return errno == EEXIST;
  made.push_back(path);
  return true;
}

UniqueFd Locked(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!fd || flock(fd.get(), LOCK_SH) != 0 || fstat(fd.get(), &status) != 0) return {};
  return LookAt(path).SameFile(StampOf(status)) ? std::move(fd) : UniqueFd();
}

}  // namespace

void OwnDirectories::Make(const std::string& path) {
  Held held;
  for (int i = 0; i < kTries && !held.lock; ++i) {
    if (!MakeAll(path, held.made)) break;
    held.lock = Locked(path);
  }
  held_.push_back(std::move(held));
}

void OwnDirectories::Sync() const {
  std::set<std::string> parents;
  for (const Held& held : held_) {
    for (const std::string& path : held.made) parents.insert(ParentOf(path));
  }
  for (const std::string& parent : parents) static_cast<void>(SyncPath(parent));
}

void OwnDirectories::RemoveEmpty(const std::string& state) {
  const bool made_state = std::ranges::any_of(held_, [&](const Held& held) {
    return std::ranges::find(held.made, state) != held.made.end();
  });
  for (const Held& held : held_ | std::views::reverse) {
    if (held.made.empty()) continue;
    const bool in_state = !state.empty() && held.made.front().starts_with(state + "/");
    if (in_state && !made_state) continue;
    const bool alone = held.lock && flock(held.lock.get(), LOCK_EX | LOCK_NB) == 0;
    if (!alone) continue;
    for (const std::string& path : held.made | std::views::reverse) {
      if (rmdir(path.c_str()) != 0) break;
    }
  }
  held_.clear();
}

}  // namespace pa
