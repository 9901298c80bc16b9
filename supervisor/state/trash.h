// FileTrash: where deleted things go, and from where they come back.
//
//   Result<TrashEntry> entry = BeginTrash(directory, "/home/ann/src/project/old.c", now);
//   ... a worker moves the file to entry->directory, where it gets the name `content` ...
//
//   for (const TrashEntry& entry : ListTrash(bases, unreadable)) ...  // the newest first
//   RestoreTrash(entry, roots);
//
// A directory for each: TRASH/ID/{info.json, content}. TRASH is in the state directory
// (supervisor/state/state_directory.h). Where that is on another file system, or commands can write
// there, it is `.project-actions-trash` at the top of the project: then only a worker makes
// anything there, nothing is removed by itself, and nothing that an info.json says is believed but
// what it may say.
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

inline constexpr std::string_view kTrashDirectory = "trash";  // of the state directory

struct TrashEntry {
  std::string directory;        // TRASH/ID
  std::string id;               // 20261122-181500-0123abcd
  std::string path;             // where it was, absolute
  std::int64_t deleted_at = 0;  // seconds since 1970

  std::string Content() const { return directory + "/content"; }
  std::string DeletedAt() const;  // 2026-11-22 18:15:00Z
};

// As the trash shall know of it: its ID, and what is to stand in info.json.
std::string NewTrashId(std::int64_t now);
std::string TrashInfo(const std::string& path, std::int64_t now);

// Makes the trash, too. Only where no command can write. `sync`: what it says of the path is on the
// disk before anything can come; it belongs into the background (supervisor/loop/background.h).
Result<TrashEntry> BeginTrash(const std::string& base, const std::string& path, std::int64_t now,
                              bool sync);
// Nothing has come.
void AbandonTrash(const TrashEntry& entry);

// Those that hold something, the newest first. What is no entry is passed over. `unreadable` gets
// why there may be more, and what has an entry's ID and content, but cannot be told where it was.
std::vector<TrashEntry> ListTrash(std::span<const std::string> bases,
                                  std::vector<std::string>& unreadable);

// Directories of a trash whose time is over; also of what nothing is known but its ID, and of what
// is empty: a crash leaves such. The ID has the time, so nothing is opened but the trash. It may
// hold many: it belongs into the background.
Result<std::vector<std::string>> ExpiredTrash(const std::string& base, std::int64_t now);

// Back to where it was: beneath one of `roots`, in a directory that is there, without a symlink on
// the way, where nothing has that name (EEXIST). "", or why it may not be there after a crash of
// the machine.
Result<std::string> RestoreTrash(const TrashEntry& entry, std::span<const std::string> roots);

}  // namespace pa
