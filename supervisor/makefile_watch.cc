#include "supervisor/makefile_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace pa {
namespace {

// Which directory it is that has the path now; all 0: none. With its birth, where there is one: ext4 gives the number of an
// inode again at once.
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

// One directory that is watched for one project: its own, or one that holds what its Makefile includes.
struct MakefileWatch::Entry {
  MakefileWatch* owner;
  std::string directory;
  std::string project;
  std::vector<std::string> names;
  Identity identity = {};
  std::string watched =
      {};  // `directory`, or while that is gone the closest that there is above it
  std::string awaited = {};  // a name in there, which leads to `directory`; "" = it is there
  bool touched = false;      // which is to be told
  bool moved = false;        // perhaps: who has the path now is to be looked at
  uv_fs_event_t events{};
  uv_timer_t settle{};
  int open_handles = 2;
};

namespace {

constexpr const char* kOwnNames[] = {"GNUmakefile", "makefile", "Makefile"};
// Somebody may make a directory and remove it all the time.
constexpr int kAttempts = 8;

uv_handle_t* Handle(auto& handle) { return reinterpret_cast<uv_handle_t*>(&handle); }

// Dependencies that a compiler writes with each object: they declare no .PHONY targets, and would make
// us look again after each build.
bool IsDependencyFile(const std::string& file) { return file.ends_with(".d"); }

}  // namespace

MakefileWatch::MakefileWatch(uv_loop_t* loop, std::function<void(const std::string&)> on_touched)
    : loop_(loop), on_touched_(std::move(on_touched)) {}

MakefileWatch::~MakefileWatch() {
  for (Entry* entry : entries_) Close(entry);
}

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
  const std::list<Entry*> all = entries_;
  for (Entry* entry : all) Replace(entry);
}

void MakefileWatch::WatchIn(const std::string& directory, const std::string& project,
                            std::vector<std::string> names) {
  const auto known = std::ranges::find_if(entries_, [&](const Entry* entry) {
    return entry->directory == directory && entry->project == project;
  });
  if (known != entries_.end()) {
    // A Makefile that cannot be read names no files; those of the last time may be what is wrong.
    const bool names_files = directory != project || names.size() > std::size(kOwnNames);
    if (names_files) (*known)->names = std::move(names);
    entries_.splice(entries_.begin(), entries_, known);
    if (IdentityOf(directory) != (*known)->identity) Replace(*known);
    return;
  }
  if (IdentityOf(directory) == Identity()) return;
  Entry* entry = New(directory, project, std::move(names));
  // Without inotify (no instances left) clients hear of changes at their next call.
  if (!Start(*entry)) return Close(entry);
  entries_.push_front(entry);
  if (entries_.size() <= kMaxDirectories) return;
  Close(entries_.back());
  entries_.pop_back();
}

MakefileWatch::Entry* MakefileWatch::New(std::string directory, std::string project,
                                         std::vector<std::string> names) {
  auto* entry = new Entry{.owner = this,
                          .directory = std::move(directory),
                          .project = std::move(project),
                          .names = std::move(names)};
  uv_fs_event_init(loop_, &entry->events);
  uv_timer_init(loop_, &entry->settle);
  for (uv_handle_t* handle : {Handle(entry->events), Handle(entry->settle)}) {
    handle->data = entry;
    uv_unref(handle);
  }
  return entry;
}

// The directory, or where it will appear.
bool MakefileWatch::Start(Entry& entry) {
  for (int attempt = 1;; ++attempt) {
    entry.identity = IdentityOf(entry.directory);
    entry.watched = entry.directory;
    entry.awaited.clear();
    int code = uv_fs_event_start(&entry.events, OnEvent, entry.watched.c_str(), 0);
    while ((code == UV_ENOENT || code == UV_ENOTDIR) && entry.watched != "/") {
      const std::filesystem::path gone = entry.watched;
      entry.awaited = gone.filename();
      entry.watched = gone.parent_path();
      code = uv_fs_event_start(&entry.events, OnEvent, entry.watched.c_str(), 0);
    }
    if (code != 0) return false;
    // What appeared before it was watched for is no event.
    const bool appeared =
        !entry.awaited.empty() && IdentityOf(entry.watched + "/" + entry.awaited) != Identity();
    if (!appeared || attempt == kAttempts) return true;
    uv_fs_event_stop(&entry.events);
  }
}

// What has the path now is watched in place of what had it; a change that is not told yet will be. Before the old one is
// closed: if it is the same directory, so is the watch, and no event is lost. Null: it cannot be watched.
MakefileWatch::Entry* MakefileWatch::Replace(Entry* old) {
  const auto place = std::ranges::find(entries_, old);
  Entry* fresh = New(old->directory, old->project, old->names);
  const bool started = Start(*fresh);
  const bool other = fresh->identity != old->identity;
  fresh->touched = old->touched || other;
  if (fresh->touched) {
    const bool pending = uv_is_active(Handle(old->settle)) != 0;
    const auto whole = static_cast<std::uint64_t>(kSettle.count());
    const std::uint64_t left = pending ? uv_timer_get_due_in(&old->settle) : whole;
    uv_timer_start(&fresh->settle, OnSettled, left, 0);
  }
  Close(old);
  if (started) {
    *place = fresh;
    return fresh;
  }
  entries_.erase(place);
  Close(fresh);
  return nullptr;
}

// With a project all goes that it includes, and nothing tells it of that.
void MakefileWatch::ReplaceMoved(Entry* entry) {
  const std::string project = entry->directory == entry->project ? entry->project : "";
  const Identity before = entry->identity;
  const Entry* fresh = Replace(entry);
  if (fresh == nullptr || project.empty() || fresh->identity == before) return;
  const std::list<Entry*> others = entries_;
  for (Entry* other : others) {
    if (other != fresh && other->project == project) Replace(other);
  }
}

// Notes it and no more: commands can bring about more events than could be seen to one by one.
void MakefileWatch::OnEvent(uv_fs_event_t* handle, const char* name, int /*events*/, int status) {
  auto* entry = static_cast<Entry*>(handle->data);
  if (status != 0) return;
  // No name: the queue overflowed, and anything may have happened.
  const auto is = [name](const std::string& one) { return name == nullptr || one == name; };
  const bool ours = std::ranges::any_of(entry->names, is) && entry->awaited.empty();
  // Of what is watched itself, as that it was moved or removed, libuv tells by its own name.
  const bool moved = is(std::filesystem::path(entry->watched).filename()) || is(entry->awaited);
  entry->touched = entry->touched || ours;
  entry->moved = entry->moved || moved;
  if (!ours && (!moved || uv_is_active(Handle(entry->settle)) != 0)) return;
  uv_timer_start(&entry->settle, OnSettled, static_cast<std::uint64_t>(kSettle.count()), 0);
}

void MakefileWatch::OnSettled(uv_timer_t* handle) {
  auto* entry = static_cast<Entry*>(handle->data);
  MakefileWatch& watch = *entry->owner;
  // A copy: what is called may make us give up this directory.
  const std::string project = entry->project;
  const bool touched = std::exchange(entry->touched, false);
  if (std::exchange(entry->moved, false)) watch.ReplaceMoved(entry);
  if (touched) watch.on_touched_(project);
}

void MakefileWatch::Close(Entry* entry) {
  for (uv_handle_t* handle : {Handle(entry->events), Handle(entry->settle)}) {
    uv_close(handle, [](uv_handle_t* closed) {
      auto* closing = static_cast<Entry*>(closed->data);
      if (--closing->open_handles == 0) delete closing;
    });
  }
}

}  // namespace pa
