// Trash: the entries to which deleted files are moved, and from which they can be restored.
//
//    Result<TrashEntry> entry = BeginTrash(directory, "/home/ann/src/project/old.c", now, sync);
//    ... a worker moves the file to entry->directory, where it gets the name `content` ...
//
//    for (const TrashEntry& entry : ListTrash(bases, unreadable)) ...  // the newest first
//    Result<std::string> restored = RestoreTrash(entry, roots);
//
// Each entry is a directory: TRASH/ID/{info.json, content}. TRASH is in the state directory
// (supervisor/state/state_directory.h). If that is on another file system, or commands can write
// there, TRASH is `.project-actions-trash` at the top of the project. In that case only a worker
// creates anything there, nothing expires, and an info.json is not trusted: it can only name a path
// that RestoreTrash accepts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace pa {

inline constexpr std::int64_t kTrashKeptDays = 30;
inline constexpr const char* kProjectTrash = ".project-actions-trash";

struct TrashEntry {
  std::string directory;        // TRASH/ID
  std::string id;               // 20261122-181500-0123abcd
  std::string path;             // where it was, absolute
  std::int64_t deleted_at = 0;  // seconds since 1970

  std::string Content() const { return directory + "/content"; }
  std::string DeletedAt() const;  // 2026-11-22 18:15:00Z
};

// The ID of a new entry, and the content of its info.json.
std::string NewTrashId(std::int64_t now);
std::string TrashInfo(const std::string& path, std::int64_t now);

// Makes an entry, and the trash if it does not exist. Use it only where no command can write.
// `sync`: info.json is on the disk when it returns; run it in the background
// (supervisor/loop/background.h).
Result<TrashEntry> BeginTrash(const std::string& base, const std::string& path, std::int64_t now,
                              bool sync);
// Removes an entry to which nothing was moved.
void AbandonTrash(const TrashEntry& entry);

// The entries with content, the newest first. Anything else is passed over. `unreadable` gets a
// message for each base that cannot be listed, and for each entry whose content is there but whose
// original path cannot be read.
std::vector<TrashEntry> ListTrash(std::span<const std::string> bases,
                                  std::vector<std::string>& unreadable);

// The directories of entries that have expired, including those that a crash left without info.json
// or without content. The ID holds the time, so nothing but the trash itself is opened. There may
// be many entries: run it in the background.
Result<std::vector<std::string>> ExpiredTrash(const std::string& base, std::int64_t now);

// Moves the content back to its path. The path must lie beneath one of `roots`, its parent
// directory must exist, no symlink may be on the way, and nothing may have that name (EEXIST).
// Returns "", or why the file may not be there after a crash of the machine.
Result<std::string> RestoreTrash(const TrashEntry& entry, std::span<const std::string> roots);

}  // namespace pa
