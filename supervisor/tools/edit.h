// edit: passages of files become others, in all the files or in none.
#pragma once

#include "supervisor/tool.h"

namespace pa {

extern const Tool kEdit;

// Whether a server has died in the middle of such an edit.
bool AnyUnfinishedEdits(const CallContext& call);
// Puts back what edits of several files have changed whose server died before all were; how many files. What
// somebody has changed since stays.
Task<std::size_t> UndoUnfinishedEdits(CallContext& call);

}  // namespace pa
