// Purpose: what a command is for.
#pragma once

namespace pa::policy {

// Decides which paths are writable and executable (policy/grants.cc).
enum class Purpose {
  kInspect,  // project read-only, no network: make's database, `make -n`
  kSearch,   // project read-only, nothing of it is executed, no network: ripgrep
  kBuild,    // project read-write: make TARGET
  kGit,      // project and repository read-write, no network; EXECUTE only for git when hooks: skip
  kGitIdentity,  // reads the user's git configuration files, nothing of the project
  kReadFile,     // project read-only; nothing is executed
  kWriteFile,    // project read-write; nothing is executed
};

}  // namespace pa::policy
