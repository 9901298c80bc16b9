// Outcome: how far the worker came, in memory that guardian and child share. So a child that fails
// or dies leaves behind the step at which it did, without a pipe or a second protocol.
//
//    if (!Take(outcome, Step::kSession, [&] { return StartSession(); })) return Fail(outcome);
#pragma once

#include <cstdint>
#include <span>

#include "base/sys_error.h"
#include "worker/faults.h"
#include "worker/status.h"

namespace pa::worker {

struct Outcome {
  Step step = Step::kNone;  // the last step that was begun
  bool failed = false;
  std::int32_t sys_errno = 0;
  char subject[sizeof(WorkerStatus::subject)] = {};  // `landlock_add_rule "/srv/x"`
  std::uint32_t probe_denied = 0;
  std::uint32_t probe_tried = 0;
};

void NoteFailure(Outcome& outcome, const SysError& error);

// Notes the step before taking it, so that a death within the step is named too.
template <typename Action>
bool Take(Outcome& outcome, Step step, Action action) {
  outcome.step = step;
  SysResult<void> done = InjectedFault(step);
  if (done) done = action();
  if (!done) NoteFailure(outcome, done.error());
  return done.has_value();
}

}  // namespace pa::worker
