// WriteAll: writes new content to several files of the project, to all of them or to none.
//
//    const std::vector<FileChange> changes = ...;   // each permitted; the caller has their turn
//    Task<Written> task = WriteAll(changes, call);
//    const Written written = co_await task;
//    // Another program has written one of them: begin anew.
//    if (written.error && written.stale && written.undone) ...
//
// The replacement of a single file is atomic (put_file.h). For several there is a journal
// (supervisor/state/edit_journal.h): if the server dies between them, the next one restores their
// old contents.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "supervisor/tools/work.h"

namespace pa {

// All members are borrowed until WriteAll is done.
struct FileChange {
  const Work& work;
  const policy::Permission& permission;  // to write this file
  const std::string& relative;           // to the directory of the work; without symlinks
  const std::string& shown;              // for messages
  const std::string& before;
  const Digest& before_hash;
  const std::string& after;
};

struct Written {
  std::optional<ToolError> error;
  bool stale = false;  // the error is that another program has written one of them
  // With an error: none of the files has its new content. False: some have it; the message says so,
  // and the log says which.
  bool undone = true;
};

Task<Written> WriteAll(std::span<const FileChange> changes, CallContext& call);

}  // namespace pa
