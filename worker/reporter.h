// Reporter: reports to the supervisor or, if the worker is run by hand, to a person. Freestanding.
#pragma once

#include "worker/outcome.h"
#include "worker/status.h"

namespace pa::worker {

class Reporter {
 public:
  // `control_fd` -1: reports as text on stderr.
  explicit Reporter(int control_fd) : control_fd_(control_fd) {}

  // Reports on stderr if no supervisor can be reached (somebody started the worker without its
  // descriptors).
  void SetupFailed(const Outcome& outcome) const;
  void Ended(const WorkerStatus& status) const;

 private:
  bool Send(const WorkerStatus& status) const;

  int control_fd_;
};

// The exit status of `--spec`: the command's own; 128+N for a signal, 124 for a timeout, 125 for a
// limit, 130 for a cancel.
int ExitCode(const WorkerStatus& status);

}  // namespace pa::worker
