// EditJournal: keeps the old contents of several files on the disk until all of them are changed.
// After a crash the next server can restore the files that were changed.
//
//    Result<EditJournal> journal = EditJournal::Begin(directory, entries, sync);
//    ... write each file; if one fails, restore the others ...
//    if (auto ended = journal->End(); !ended) ...  // the next server would restore them: say so
//
//    Result<FoundEdits> found = FindUnfinished(directory, is_ours);  // of servers that have died
//
// A journal is a file in `directory` (kEditsDirectory, see supervisor/state/state_directory.h) on
// which its server holds a lock (flock(2)). A journal without a lock is that of a dead server. It
// gets its name once it is complete, so a journal that cannot be parsed was damaged, or is of
// another version: it is never removed. For the reasons see docs/adr/0035. Everything but
// MayHoldEdits waits for the disk and logs nothing: run it in the background
// (supervisor/loop/background.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

struct JournalEntry {
  std::string root;     // the directory, absolute
  std::string file;     // relative to it
  Digest after;         // of the new content
  std::string content;  // the present content
};

class EditJournal {
 public:
  // Creates `directory` if it does not exist.
  static Result<EditJournal> Begin(const std::string& directory,
                                   std::span<const JournalEntry> entries, bool sync);
  // Nothing has to be restored any more, not even after a crash of the machine. An error: the next
  // server will restore the files that are as the edit left them. Otherwise "", or for the log why
  // the journal could only be marked and not removed.
  Result<std::string> End();
  // `changed`: for each entry, whether it could not be restored and is left to the next server. The
  // other files must not be touched.
  Result<void> Leave(const std::vector<bool>& changed);

 private:
  EditJournal(std::string path, UniqueFd fd, std::size_t count, bool sync)
      : path_(std::move(path)), fd_(std::move(fd)), count_(count), sync_(sync) {}
  std::string path_;
  UniqueFd fd_;
  std::size_t count_;
  bool sync_;
};

struct UnfinishedEdit {
  std::vector<JournalEntry> entries;  // of the files that may have been changed
  std::size_t count = 0;              // of all entries of the journal
  std::string path;
  UniqueFd lock;

  Result<std::string> Forget() const;    // nothing has to be restored any more; as End
  Result<std::string> SetAside() const;  // must not be restored; returns its new path
};

struct FoundEdits {
  std::vector<UnfinishedEdit> edits;
  std::vector<std::string> unreadable;  // paths; they stay where they are
  std::vector<std::string> busy;        // paths; another server makes or restores the edit
};

// Whether files beneath that directory are ours to restore.
using IsOurRoot = std::function<bool(const std::string& root)>;

// The journals with a file of ours; of other journals only the header is read. Removes journals
// with nothing to restore. Files without the name of a journal are passed over.
Result<FoundEdits> FindUnfinished(const std::string& directory, const IsOurRoot& is_ours);
// Whether FindUnfinished may find any. This is fast enough for the loop. True if the directory
// cannot be listed.
bool MayHoldEdits(const std::string& directory);
// Tries `paths` (FoundEdits::busy) again. Those that are gone are passed over.
FoundEdits FindAmong(std::span<const std::string> paths, const IsOurRoot& is_ours);
// For people: the journals that were set aside, that cannot be read, or of which only a part is
// ours to restore.
Result<std::vector<std::string>> KeptEdits(const std::string& directory, const IsOurRoot& is_ours);

}  // namespace pa
