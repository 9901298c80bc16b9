#include "supervisor/makefile_watch.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace pa {

// One directory that is watched for one project: its own, or one that holds what its Makefile includes.
struct MakefileWatch::Entry {
  MakefileWatch* owner;
  std::string directory;
  std::string project;
  std::vector<std::string> names;
  uv_fs_event_t events{};
  uv_timer_t settle{};
  int open_handles = 2;
};

namespace {

constexpr const char* kOwnNames[] = {"GNUmakefile", "makefile", "Makefile"};

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
  const std::list<Entry*> old = std::exchange(entries_, {});
  for (auto entry = old.rbegin(); entry != old.rend(); ++entry) {
    WatchIn((*entry)->directory, (*entry)->project, (*entry)->names);
    Close(*entry);
  }
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
    return;
  }
  auto* entry = new Entry{
      .owner = this, .directory = directory, .project = project, .names = std::move(names)};
  uv_fs_event_init(loop_, &entry->events);
  uv_timer_init(loop_, &entry->settle);
  for (uv_handle_t* handle : {Handle(entry->events), Handle(entry->settle)}) {
    handle->data = entry;
    uv_unref(handle);
  }
  // Without inotify (no instances left) clients hear of changes at their next call.
  if (uv_fs_event_start(&entry->events, OnEvent, directory.c_str(), 0) != 0) return Close(entry);
  entries_.push_front(entry);
  if (entries_.size() <= kMaxDirectories) return;
  Close(entries_.back());
  entries_.pop_back();
}

void MakefileWatch::OnEvent(uv_fs_event_t* handle, const char* name, int /*events*/, int status) {
  auto* entry = static_cast<Entry*>(handle->data);
  if (status != 0) return;
  // No name: the queue overflowed, and anything may have happened.
  const bool ours = name == nullptr || std::ranges::find(entry->names, name) != entry->names.end();
  if (!ours) return;
  uv_timer_start(&entry->settle, OnSettled, static_cast<std::uint64_t>(kSettle.count()), 0);
}

void MakefileWatch::OnSettled(uv_timer_t* handle) {
  const auto* entry = static_cast<Entry*>(handle->data);
  // A copy: what is called may make us give up this directory.
  const std::string directory = entry->project;
  entry->owner->on_touched_(directory);
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
