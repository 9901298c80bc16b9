#include "supervisor/run/tracked_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/open_beneath.h"
#include "base/pack.h"
#include "base/proc_path.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "policy/git_index.h"
#include "supervisor/loop/background.h"

namespace pa {
namespace {

constexpr std::string_view kWatchTracked = "watch-tracked";
constexpr std::chrono::seconds kWatchingTakes{10};
constexpr std::size_t kMaxIndexBytes = 64u << 20;

constexpr std::uint32_t kChanges = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE |
                                   IN_MOVE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
// Of these events the watched directories may be others than those that hold the files: a directory
// was made, removed, moved or touched, a file system is gone, events are lost.
constexpr std::uint32_t kOfDirectories =
    IN_ISDIR | IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT | IN_Q_OVERFLOW;

// A directory that was moved out of the tree, with those in it, is still watched. So its watches
// are thrown away from time to time.
constexpr int kMostTimes = 8;

// Those on which nobody but this kernel writes.
bool IsLocal(int directory) {
  constexpr std::uint32_t kXfs = 0x58465342, kBcachefs = 0xca451a4e, kZfs = 0x2fc12fc1;
  constexpr std::uint32_t kLocal[] = {EXT4_SUPER_MAGIC,
                                      BTRFS_SUPER_MAGIC,
                                      F2FS_SUPER_MAGIC,
                                      TMPFS_MAGIC,
                                      OVERLAYFS_SUPER_MAGIC,
                                      kXfs,
                                      kBcachefs,
                                      kZfs};
  struct statfs status{};
  if (fstatfs(directory, &status) != 0) return false;
  return std::ranges::find(kLocal, static_cast<std::uint32_t>(status.f_type)) != std::end(kLocal);
}

// False: never.
Result<bool> WatchTracked(int events, const std::string& top, const std::string& index) {
  const UniqueFd file = OpenPlain(AT_FDCWD, index.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (!file) return std::unexpected(Error("openat2", index, errno));
  const UniqueFd tree = OpenPlain(AT_FDCWD, top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!tree) return std::unexpected(Error("openat2", top, errno));
  const Result<std::string> bytes = ReadFileFrom(file.get(), index, kMaxIndexBytes);
  if (!bytes && bytes.error().sys_errno == EFBIG) return false;
  if (!bytes) return std::unexpected(bytes.error());
  const auto directories = policy::ReadIndexDirectories(*bytes, TrackedFiles::kMaxDirectories);
  if (!directories) return false;
  for (const std::string& name : *directories) {
    const UniqueFd directory =
        OpenPlain(tree.get(), name.empty() ? "." : name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    // What makes one there is an event of the directory above.
    if (!directory && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) continue;
    if (!directory) return std::unexpected(Error("openat2", name, errno));
    if (!IsLocal(directory.get())) return false;
    if (inotify_add_watch(events, ProcPath(directory.get()).c_str(), kChanges) >= 0) continue;
    if (errno == ENOSPC) return false;
    return std::unexpected(Error("inotify_add_watch", name, errno));
  }
  return true;
}

std::string WatchTrackedChore(std::string_view input, std::span<const int> descriptors) {
  std::string top, index;
  if (!Unpacker(input)(top, index) || descriptors.size() != 1) return "";
  return Pack(WatchTracked(descriptors[0], top, index));
}

constexpr Chore kTrackedFilesChores[] = {{kWatchTracked, WatchTrackedChore}};

std::string IndexIn(const std::string& git_dir) { return git_dir + "/index"; }

}  // namespace

std::span<const Chore> TrackedFilesChores() { return kTrackedFilesChores; }

// The kernel waits for 10 ms and more before it has closed one that had watches.
void TrackedFiles::Close(Inotify& events) const {
  const auto closing = std::make_shared<Inotify>(std::exchange(events, {}));
  RunOnThread(loop_, [closing] { *closing = {}; }, [](const std::exception_ptr&) {});
}

TrackedFiles::Watched& TrackedFiles::Take(const std::string& git_dir) {
  if (watched_.size() >= kMaxRepositories && !watched_.contains(git_dir)) {
    for (auto& [path, watched] : watched_) Close(watched.events);
    watched_.clear();
  }
  return watched_[git_dir];
}

Task<bool> TrackedFiles::Watch(Janitor& janitor, std::string directory,
                               policy::Repository repository) {
  using enum Watched::State;
  const std::string& git_dir = repository.git_dir;
  Watched& known = Take(git_dir);
  Look(known);
  if (known.state == kNever) co_return false;
  // Another index may have files in other directories.
  const bool same = known.index.exists && LookAt(IndexIn(git_dir)) == known.index;
  known.index = {};
  known.changed = false;
  if (known.state == kWatched && same) co_return true;
  known.state = kLost;
  if (++known.times > kMostTimes) {
    Close(known.events);
    known.times = 1;
  }
  if (!known.events.Open()) co_return false;
  auto own = std::make_shared<const UniqueFd>(fcntl(known.events.fd(), F_DUPFD_CLOEXEC, 0));
  if (!*own) co_return false;
  JanitorOrder order{.chore = kWatchTracked,
                     .about = std::move(directory),
                     .read = {git_dir},
                     .descriptors = {std::move(own)},
                     .time = kWatchingTakes};
  Task<Result<Result<bool>>> asking =
      Ask<Result<bool>>(janitor, std::move(order), repository.top_level, IndexIn(git_dir));
  const Result<Result<bool>> answer = co_await asking;
  const auto found = watched_.find(git_dir);  // others may have taken its place meanwhile
  if (!answer || !*answer || found == watched_.end()) co_return false;
  if (!**answer) Close(found->second.events);
  // What was seen meanwhile may be a directory that was looked for before it was there.
  found->second.state = !**answer ? kNever : found->second.changed ? kLost : kWatched;
  co_return **answer;
}

// If another git holds the index, ours did not write it.
void TrackedFiles::Refreshed(const std::string& git_dir) {
  const auto found = watched_.find(git_dir);
  if (found == watched_.end() || !LookAt(IndexIn(git_dir) + ".lock").IsAbsent()) return;
  found->second.index = LookAt(IndexIn(git_dir));
}

bool TrackedFiles::AreFresh(const std::string& git_dir) {
  const auto found = watched_.find(git_dir);
  if (found == watched_.end()) return false;
  Watched& watched = found->second;
  Look(watched);
  return watched.state == Watched::State::kWatched && !watched.changed && watched.index.exists &&
         LookAt(IndexIn(git_dir)) == watched.index;
}

void TrackedFiles::Look(Watched& watched) {
  const bool all = watched.events.ReadQueued([&](int, std::uint32_t mask, std::string_view) {
    watched.changed = true;
    if ((mask & kOfDirectories) != 0) watched.state = Watched::State::kLost;
    if ((mask & IN_Q_OVERFLOW) != 0) watched.times = kMostTimes;
  });
  if (!all) watched.changed = true;
}

}  // namespace pa
