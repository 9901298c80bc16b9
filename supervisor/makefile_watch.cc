#include "supervisor/makefile_watch.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pa {

struct MakefileWatch::Entry {
  MakefileWatch* owner;
  std::string directory;
  uv_fs_event_t events{};
  uv_timer_t settle{};
  int open_handles = 2;
};

namespace {

bool IsMakefile(const char* name) {
  // No name: the queue overflowed, and anything may have happened.
  if (name == nullptr) return true;
  const std::string_view file = name;
  return file == "GNUmakefile" || file == "makefile" || file == "Makefile";
}

uv_handle_t* Handle(auto& handle) { return reinterpret_cast<uv_handle_t*>(&handle); }

}  // namespace

MakefileWatch::MakefileWatch(uv_loop_t* loop, std::function<void(const std::string&)> on_touched)
    : loop_(loop), on_touched_(std::move(on_touched)) {}

MakefileWatch::~MakefileWatch() {
  for (Entry* entry : entries_) Close(entry);
}

void MakefileWatch::Watch(const std::string& directory) {
  const auto known = std::ranges::find(entries_, directory, &Entry::directory);
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return;
  }
  auto* entry = new Entry{.owner = this, .directory = directory};
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
  if (status != 0 || !IsMakefile(name)) return;
  uv_timer_start(&entry->settle, OnSettled, static_cast<std::uint64_t>(kSettle.count()), 0);
}

void MakefileWatch::OnSettled(uv_timer_t* handle) {
  const auto* entry = static_cast<Entry*>(handle->data);
  // A copy: what is called may make us give up this directory.
  const std::string directory = entry->directory;
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
