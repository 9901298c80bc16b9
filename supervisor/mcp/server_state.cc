#include "supervisor/mcp/server_state.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "supervisor/loop/version.h"

namespace pa {
namespace {

// Sentences, and the tools that must be on for them. Those that only read always are.
struct Instruction {
  std::vector<std::string> needs;
  std::string_view text;
};

}  // namespace

// Claude Code puts them into the system prompt and cuts at 4,096 characters.
std::string InstructionsFor(const policy::Policy& policy) {
  const Instruction instructions[] = {
      {{},
       "Works in a project, each call confined to its directory by Landlock and seccomp: no "
       "network and nothing outside unless the policy allows it. make_targets lists the project's "
       "own make targets."},
      {{"make"}, "Call it first; make runs exactly one of the .PHONY targets that it lists."},
      {{"makefile_generate"}, "If there is no Makefile, makefile_generate writes a starter one."},
      {{"git_add"}, "git_add stages files."},
      {{"git_commit"}, "git_commit commits what is staged."},
      {{}, "read shows a file, glob and grep find files and text."},
      {{"edit"}, "edit changes passages of files."},
      {{"write"}, "write writes whole files."},
      {{"delete"}, "delete moves files to a trash."},
      {{"bash"}, "bash runs a shell command in the same sandbox."},
      {{"pipeline"},
       "pipeline calls several of these in one call, each with values of the steps before it."},
      {{"batch"}, "batch calls one of these several times."},
      {{"job"},
       "background starts a job and returns its handle at once; job reads, awaits and stops it."},
      {{"bash", "make"}, "If a make target does the same, prefer make to bash."},
      {{},
       "A refusal's ai_message says what to do next; some calls wait until the user has approved "
       "them. working_directory is a directory beneath a root; left out, it is the first root. It "
       "is the wall, too: a command reaches nothing above it."},
      {{"make"}, "dry_run shows the exact command and its confinement and changes nothing."},
      {{},
       "Every tool takes result {items, filter, limit, fields, return_mode}, applied in this order "
       "to one list of its data, or to the lines of its output, so that only what you need comes "
       "back. "
       "items: the list (stdout, stderr, matches, ...; json reads stdout as JSON: json.items). "
       "filter: `field OPERATOR value` with = != > < >= <= CONTAINS STARTS_WITH IS_NULL "
       "IS_NOT_NULL; a line is the field `.`: `. CONTAINS error`. fields: [\"a.b\", \"c[0]\"]. "
       "return_mode: inline, summary (count and sample) or file. read and grep take the uri of a "
       "result that was cut."},
      {{},
       "Only these tools are confined: your client's own shell and edit tools bypass all this, so "
       "use these instead."}};
  std::string all;
  for (const auto& [needs, text] : instructions) {
    const bool on = std::ranges::all_of(
        needs, [&](const std::string& tool) { return policy.ToolEnabled(tool, false); });
    if (!on) continue;
    if (!all.empty()) all += ' ';
    all += text;
  }
  return all;
}

ServerState NewServerState(const policy::Policy& policy, bool text_only) {
  ServerState state{.identity = {.version = kVersion, .text_only = text_only, .website = kWebsite}};
  UpdateIdentity(state.identity, policy);
  return state;
}

void UpdateIdentity(Identity& identity, const policy::Policy& policy) {
  identity.instructions = InstructionsFor(policy);
  identity.tasks = policy.limits.detach_after.count() > 0;
}

}  // namespace pa
