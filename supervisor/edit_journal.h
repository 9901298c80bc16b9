// EditJournal: what several files held before they are changed together, on the disk until all of them are
// changed; so that whoever comes after a crash can put back the ones that were.
//
//   Result<EditJournal> journal = EditJournal::Begin(directory, entries, sync);
//   ... write each file; if one fails, put back the others ...
//   journal->End();
//
//   for (UnfinishedEdit& edit : FindUnfinished(directory)) ...      // whose server has died
//
// A file in `directory` (kEditsDirectory of supervisor/state_directory.h) that its server holds a lock of (flock(2)); one that nobody holds
// is a dead one's. What is half written says so by its size: nothing was changed yet.
#pragma once

#include <cstdint>
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
  void End();  // all is done, or undone

 private:
  EditJournal(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  UniqueFd fd_;
};

struct UnfinishedEdit {
  std::vector<JournalEntry> entries;
  std::string path;
  UniqueFd lock;
  void Forget() const;  // there is nothing to do any more
};

// Forgets those of which nothing was changed yet. What has no journal's name is passed over.
std::vector<UnfinishedEdit> FindUnfinished(const std::string& directory);

}  // namespace pa
