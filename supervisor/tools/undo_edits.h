// UndoUnfinishedEdits: restores the files of edits whose server died before all of them were
// written. It writes as any tool does: policy, protected paths and sandbox apply.
//
//    Task<UndoneEdits> task = UndoUnfinishedEdits(call);
//    const UndoneEdits undone = co_await task;
//    ... undone.warnings: what is kept, and why ...
//
// Files are restored only if each of them is as the edit found it or as it left it. If anybody
// changed one since, all stay as they are, and the journal is set aside under another name
// (docs/adr/0035).
#pragma once

#include <string>
#include <vector>

#include "supervisor/state/edit_journal.h"
#include "supervisor/tools/work.h"

namespace pa {

// Finds the edits that are to be undone or reported. `among`: paths of journals that were busy;
// empty: all journals.
Task<Result<FoundEdits>> FindEdits(std::vector<std::string> among, const CallContext& call);

struct UndoneEdits {
  std::size_t edits = 0;
  std::vector<std::string> warnings;  // for people
};
Task<UndoneEdits> UndoFoundEdits(Result<FoundEdits> found, CallContext& call);
Task<UndoneEdits> UndoUnfinishedEdits(CallContext& call);  // does not wait for busy journals

}  // namespace pa
