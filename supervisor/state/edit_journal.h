// EditJournal: what several files held before they are changed together, on the disk until all of
// them are changed; so that whoever comes after a crash can put back the ones that were.
//
//   Result<EditJournal> journal = EditJournal::Begin(directory, entries, sync);
//   ... write each file; if one fails, put back the others ...
//   if (auto ended = journal->End(); !ended) ...  // it would be put back later: say so
//
//   Result<FoundEdits> found = FindUnfinished(directory, is_ours);  // whose server has died
//
// A file in `directory` (kEditsDirectory of supervisor/state/state_directory.h) that its server
// holds a lock of (flock(2)); one that nobody holds is a dead one's. It gets its name when all of
// it is there, so one that cannot be read was damaged, or is another version's: it is never
// removed. Why it is so: docs/adr/0035. All of it but MayHoldEdits waits for the disk, and logs
// nothing: it belongs into the background (supervisor/loop/background.h).
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

inline constexpr std::string_view kEditsDirectory = "edits";

struct JournalEntry {
  std::string root;     // the directory, absolute
  std::string file;     // relative to it
  Digest after;         // of what it shall hold
  std::string content;  // what it holds now
};

class EditJournal {
 public:
  // Makes the directory.
  static Result<EditJournal> Begin(const std::string& directory,
                                   std::span<const JournalEntry> entries, bool sync);
  // Nothing is to be put back any more, after a crash of the machine neither. An error: whoever
  // comes next will put back what is as the edit left it. Else "", or why it could be no more than
  // marked: for the log.
  Result<std::string> End();
  // Those are, for each entry, which could not be put back; the others are not to be touched.
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
  std::vector<JournalEntry> entries;  // those that may have been changed
  std::size_t count = 0;              // of all that it is about
  std::string path;
  UniqueFd lock;

  Result<std::string> Forget() const;    // there is nothing to do any more; as End
  Result<std::string> SetAside() const;  // nobody shall do it: under which name it is kept
};

struct FoundEdits {
  std::vector<UnfinishedEdit> edits;
  std::vector<std::string> unreadable;  // paths; they stay where they are
  std::vector<std::string> busy;        // paths; another is at work with them, or puts them back
};

// Whether what lies beneath that directory is ours to put back.
using IsOurRoot = std::function<bool(const std::string& root)>;

// Those with a file of ours; of the others no more is read than whose they are. Removes those of
// which nothing is to be done. What has no journal's name is passed over.
Result<FoundEdits> FindUnfinished(const std::string& directory, const IsOurRoot& is_ours);
// Whether FindUnfinished may find any: one short look, for the loop. What cannot be listed may hold
// some.
bool MayHoldEdits(const std::string& directory);
// Once more those that were busy; what is gone meanwhile is passed over.
FoundEdits FindAmong(std::span<const std::string> paths, const IsOurRoot& is_ours);
// Those that were set aside, those that cannot be read, and those of which only a part is ours to
// put back: for people.
Result<std::vector<std::string>> KeptEdits(const std::string& directory, const IsOurRoot& is_ours);

}  // namespace pa
