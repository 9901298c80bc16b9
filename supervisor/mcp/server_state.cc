#include "supervisor/mcp/server_state.h"

#include "base/random.h"
#include "supervisor/loop/version.h"

namespace pa {
namespace {

// Claude Code puts them into the system prompt and cuts at 4,096 characters.
constexpr char kInstructions[] =
    "Runs the project's own make targets, git add and git commit, each call confined to the "
    "project directory by Landlock and seccomp: no network and nothing outside unless the policy "
    "allows it. Call make_targets first; `make` takes exactly one of the .PHONY targets it lists. "
    "If there is no Makefile, makefile_generate writes a starter one. git_add and git_commit stage "
    "and commit; no other git command exists as a tool. read shows a file, glob and grep find "
    "files and text; edit, write and delete, where they are listed, change files. bash, where it "
    "is listed, runs a shell command in the same sandbox; prefer make. A refusal's ai_message says "
    "what to do next; some calls wait until the user has approved them. working_directory is a "
    "directory beneath a root; left out, it is the first root. dry_run shows the exact command and "
    "its confinement and changes nothing. Only these tools are confined: your client's own shell "
    "and edit tools bypass all this, so use these instead.";

}  // namespace

ServerState NewServerState(bool text_only) {
  return {.identity = {.version = kVersion, .instructions = kInstructions, .text_only = text_only},
          .request_states = RequestStates(RandomHex(32))};
}

}  // namespace pa
