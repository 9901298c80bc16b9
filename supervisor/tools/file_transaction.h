// WriteAll: several files of the project get new content, all of them or none.
//
//   const std::vector<FileChange> changes = ...;   // each permitted; the caller has their turn
//   Task<Written> task = WriteAll(changes, call);
//   const Written written = co_await task;
//   // somebody else was faster: begin anew
//   if (written.error && written.stale && written.undone) ...
//
// A single file is the old or the new one by itself (put_file.h). Several take a journal
// (supervisor/state/edit_journal.h): if the server dies between them, the next one restores what
// they held.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "supervisor/tools/work.h"

namespace pa {

// All of it is borrowed until WriteAll returns.
struct FileChange {
  const Work& work;
  const policy::Permission& permission;  // to write this file
  const std::string& relative;           // to the directory of the work; no symlink in it
  const std::string& shown;              // for messages
  const std::string& before;
  const Digest& before_hash;
  const std::string& after;
};

struct Written {
  std::optional<ToolError> error;
  bool stale = false;  // the error is that somebody else has written one of them
  // None of the files has its new content any more. Otherwise some have it: the message says so,
  // the log which.
  bool undone = true;
};

Task<Written> WriteAll(std::span<const FileChange> changes, CallContext& call);

}  // namespace pa
