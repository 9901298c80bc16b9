// CommandPlan: what a tool wants to run. A plain value.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "policy/working_directory.h"
#include "worker/spec.h"

namespace pa {

// Never a shell string. A plan and a policy::Allow together become a WorkerSpec.
struct CommandPlan {
  worker::Action action = worker::Action::kExecute;
  std::string executable;  // absolute, found on the server's own PATH
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // complete except for TMPDIR, TMP and TEMP
  policy::WorkingDirectory directory;
  std::optional<std::string> stdin_data;            // nothing: `stdin_file`
  std::shared_ptr<const UniqueFd> stdin_file = {};  // open for reading alone; null: /dev/null
  std::optional<mode_t> umask;                      // nothing: the server's own
  std::string file;                                 // as WorkerSpec::file; so are the next two
  std::string file_digest;
  std::uint64_t read_bytes = 0;
};

}  // namespace pa
