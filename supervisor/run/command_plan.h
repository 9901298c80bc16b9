// CommandPlan: what shall run. A plain value.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/working_directory.h"
#include "worker/spec.h"

namespace pa {

// What a tool wants to run: never a shell string. Becomes a WorkerSpec together with a
// policy::Allow.
struct CommandPlan {
  worker::Action action = worker::Action::kExecute;
  std::string executable;  // absolute, found on our own PATH
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // complete but for TMPDIR
  policy::WorkingDirectory directory;
  std::optional<std::string> stdin_data;  // nothing: /dev/null
  std::optional<mode_t> umask;            // nothing: our own
  std::string file;                       // actions kReadFile, kWriteFile, kRemoveTemp
};

}  // namespace pa
