#include "supervisor/engine/makefile_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace pa {
namespace {

// Which directory it is that has the path now; all 0: none. With its birth, where there is one:
// ext4 gives the number of an inode again at once.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born_s = 0;
  std::uint32_t born_ns = 0;
  bool operator==(const Identity&) const = default;
};

Identity IdentityOf(const std::string& path) {
  struct statx status{};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &status) != 0) return {};
  return {makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino,
          status.stx_btime.tv_sec, status.stx_btime.tv_nsec};
}

}  // namespace

// One directory that is watched for one project: its own, or one that holds what its Makefile
// includes.
struct MakefileWatch::Entry {
  MakefileWatch* owner;
  std::string directory;
  std::string project;
  std::vector<std::string> names;
  Identity identity = {};
  std::string watched =
      {};  // `directory`, or while that is gone the closest that there is above it
  std::string awaited = {};  // a name in there, which leads to `directory`; "" = it is there
  int watch = -1;
  bool touched = false;  // which is to be told
  bool moved = false;    // perhaps: who has the path now is to be looked at
  TimerHandle settle;
};

namespace {

constexpr const char* kOwnNames[] = {"GNUmakefile", "makefile", "Makefile"};
// Somebody may make a directory and remove it all the time.
constexpr int kAttempts = 8;

constexpr std::uint32_t kMask = IN_ATTRIB | IN_CREATE | IN_MODIFY | IN_DELETE | IN_DELETE_SELF |
                                IN_MOVE_SELF | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR;

// Dependencies that a compiler writes with each object: they declare no .PHONY targets, and would
// make us look again after each build.
bool IsDependencyFile(const std::string& file) { return file.ends_with(".d"); }

}  // namespace

MakefileWatch::MakefileWatch(uv_loop_t* loop, std::function<void(const std::string&)> on_touched)
    : loop_(loop), on_touched_(std::move(on_touched)) {}

MakefileWatch::~MakefileWatch() = default;

void MakefileWatch::Watch(const std::string& directory, std::span<const std::string> files) {
  std::map<std::string, std::vector<std::string>> places;  // directory -> names
  places[directory] = {std::begin(kOwnNames), std::end(kOwnNames)};
  std::size_t taken = 0;
  for (const std::string& file : files) {
    const std::filesystem::path path = (std::filesystem::path(directory) / file).lexically_normal();
    if (IsDependencyFile(file) || !path.native().starts_with(directory + "/")) continue;
    if (++taken > kMaxFiles) break;
    places[path.parent_path()].push_back(path.filename());
  }
  for (auto& [place, names] : places) WatchIn(place, directory, std::move(names));
}

void MakefileWatch::Renew() {
  for (auto entry = entries_.begin(); entry != entries_.end();) Replace(entry++);
}

// Without inotify (no instances left) clients hear of changes at their next call.
bool MakefileWatch::Listen() {
  if (poll_) return true;
  if (inotify_.fd() < 0) return false;
  Result<PollHandle> poll = PollHandle::Create(loop_, inotify_.fd(), [this] { OnReadable(); });
  if (!poll) return false;
  poll_ = std::move(*poll);
  poll_.Unref();
  poll_.Start();
  return true;
}

void MakefileWatch::WatchIn(const std::string& directory, const std::string& project,
                            std::vector<std::string> names) {
  const auto known = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.directory == directory && entry.project == project;
  });
  if (known != entries_.end()) {
    // A Makefile that cannot be read names no files; those of the last time may be what is wrong.
    const bool names_files = directory != project || names.size() > std::size(kOwnNames);
    if (names_files) known->names = std::move(names);
    entries_.splice(entries_.begin(), entries_, known);
    if (IdentityOf(directory) != known->identity) Replace(known);
    return;
  }
  if (IdentityOf(directory) == Identity()) return;
  entries_.push_front({.directory = directory,
                       .project = project,
                       .names = std::move(names),
                       .settle = TimerHandle(loop_)});
  entries_.front().settle.Unref();
  if (!Start(entries_.front()) || !Listen()) return Remove(entries_.begin());
  if (entries_.size() > kMaxDirectories) Remove(std::prev(entries_.end()));
}

void MakefileWatch::Remove(Entries::iterator entry) {
  const int watch = entry->watch;
  entries_.erase(entry);
  Release(watch);
}

// One directory may be watched for several.
void MakefileWatch::Release(int watch) {
  if (watch >= 0 && std::ranges::find(entries_, watch, &Entry::watch) == entries_.end()) {
    inotify_.Remove(watch);
  }
}

// The directory, or where it will appear. What was watched for it goes last: if that is the same,
// so is the watch, and no event is lost.
bool MakefileWatch::Start(Entry& entry) {
  for (int attempt = 1;; ++attempt) {
    const int before = entry.watch;
    entry.identity = IdentityOf(entry.directory);
    entry.watched = entry.directory;
    entry.awaited.clear();
    entry.watch = inotify_.Add(entry.watched, kMask);
    while (entry.watch < 0 && (errno == ENOENT || errno == ENOTDIR) && entry.watched != "/") {
      const std::filesystem::path gone = entry.watched;
      entry.awaited = gone.filename();
      entry.watched = gone.parent_path();
      entry.watch = inotify_.Add(entry.watched, kMask);
    }
    Release(before);
    if (entry.watch < 0) return false;
    // What appeared before it was watched for is no event.
    const bool appeared =
        !entry.awaited.empty() && IdentityOf(entry.watched + "/" + entry.awaited) != Identity();
    if (!appeared || attempt == kAttempts) return true;
  }
}

// What has the path now is watched in place of what had it; a change that is not told yet will be.
// False: it cannot be watched, and is given up.
bool MakefileWatch::Replace(Entries::iterator entry) {
  const Identity before = entry->identity;
  if (!Start(*entry)) {
    Remove(entry);
    return false;
  }
  if (entry->identity != before) entry->touched = true;
  if (entry->touched && !entry->settle.is_active()) Tell(*entry);
  return true;
}

// With a project all goes that it includes, and nothing tells it of that.
void MakefileWatch::ReplaceMoved(Entries::iterator entry) {
  const std::string project = entry->directory == entry->project ? entry->project : "";
  const Identity before = entry->identity;
  if (!Replace(entry) || project.empty() || entry->identity == before) return;
  for (auto other = entries_.begin(); other != entries_.end();) {
    const auto at = other++;
    if (at != entry && at->project == project) Replace(at);
  }
}

// One buffer in each turn of the loop: whoever makes events all the time keeps nobody else from it.
void MakefileWatch::OnReadable() {
  inotify_.ReadSome(
      [this](int watch, std::uint32_t /*mask*/, std::string_view name) { OnEvent(watch, name); });
}

// Notes it and no more: commands can bring about more events than could be seen to one by one.
void MakefileWatch::OnEvent(int watch, std::string_view name) {
  for (Entry& entry : entries_) {
    const bool overflow = watch < 0;  // anything may have happened
    if (!overflow && entry.watch != watch) continue;
    const bool ours = overflow || std::ranges::find(entry.names, name) != entry.names.end();
    entry.touched = entry.touched || (ours && entry.awaited.empty());
    // No name: what is watched itself was moved, removed or unmounted.
    const bool moved = name.empty() || name == entry.awaited;
    entry.moved = entry.moved || moved;
    if ((ours && entry.awaited.empty()) || (moved && !entry.settle.is_active())) Tell(entry);
  }
}

// When it is quiet.
void MakefileWatch::Tell(Entry& entry) {
  entry.settle.Start(kSettle, [this, &entry] { OnSettled(entry); });
}

void MakefileWatch::OnSettled(Entry& entry) {
  // A copy: what is called may make us give up this directory.
  const std::string project = entry.project;
  const bool touched = std::exchange(entry.touched, false);
  const auto at =
      std::ranges::find_if(entries_, [&entry](const Entry& one) { return &one == &entry; });
  if (std::exchange(entry.moved, false)) ReplaceMoved(at);
  if (touched) on_touched_(project);
}

}  // namespace pa
