// Purpose: what a command is for.
#pragma once

namespace pa::policy {

// Decides which paths are writable and executable (policy/grants.cc).
enum class Purpose {
  kInspect,  // project read-only, no network: the database of make, `make -n`
  kSearch,   // project read-only, nothing in it can be executed, no network: ripgrep
  kBuild,    // project read-write: make TARGET, bash
  // git with the hooks and filters of the project: project read-write, no network. The repository
  // is read-write as well, unless the command gets a copy of it (kGitCopy).
  kGit,
  kGitCopy,
  // git alone, which changes the repository: project read-only, nothing but git can be executed, no
  // network.
  kGitAlone,
  // Git alone, which reads the user's git configuration, and of the project what it is granted
  // for that call.
  kGitIdentity,
  kReadFile,   // project read-only; nothing is executed
  kWriteFile,  // project read-write; nothing is executed
};

}  // namespace pa::policy
