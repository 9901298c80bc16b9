// UndoUnfinishedEdits: what edits of several files have changed whose server died before all were
// is put back, by the way of any write: policy, protected paths, sandbox.
//
//   Task<UndoneEdits> task = UndoUnfinishedEdits(call);
//   const UndoneEdits undone = co_await task;
//   ... undone.warnings: what is kept, and why ...
//
// Only where each file is either as the edit found it or as it left it. Has anybody changed one
// since, all stays as it is, and the journal is kept under a name of its own (docs/adr/0035).
#pragma once

#include <string>
#include <vector>

#include "supervisor/state/edit_journal.h"
#include "supervisor/tools/work.h"

namespace pa {

// What there is to do, or to tell. `among`: paths of journals that were busy; empty: of all that
// there are.
Task<Result<FoundEdits>> FindEdits(std::vector<std::string> among, const CallContext& call);

struct UndoneEdits {
  std::size_t edits = 0;
  std::vector<std::string> warnings;  // for people
};
Task<UndoneEdits> UndoFoundEdits(Result<FoundEdits> found, CallContext& call);
Task<UndoneEdits> UndoUnfinishedEdits(CallContext& call);  // waits for none that is busy

}  // namespace pa
