// Runs a git that only reads, for calls that need to know something of a repository. It can execute
// nothing but git and writes nowhere, whatever the repository's configuration says.
//
//    Task<Execution> task = RunGitReader(work, reader, {.argv = {"git", "diff", ...}}, sink, call);
//    const Execution run = co_await task;
//    if (auto error = ErrorOfGitReader("git diff", run, sink.complaints())) ...
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/decide.h"
#include "supervisor/run/execution.h"
#include "supervisor/run/output_sink.h"
#include "supervisor/tools/work.h"

namespace pa {

struct GitReader {
  policy::Permission permission;
  std::string executable;
  std::map<std::string, std::string> environment;
  std::vector<sandbox::PathGrant> repository;  // beyond the working directory; read-only
  std::string top_level;                       // of the working tree
};

struct GitReading {
  std::vector<std::string> argv;                 // from "git" on
  std::map<std::string, std::string> more = {};  // beyond the reader's environment
  std::vector<sandbox::PathGrant> grants;
};

// What a git of this repository may read: the repository and the working directory.
std::vector<sandbox::PathGrant> RepositoryGrants(const Work& work, const GitReader& git);

// `work`, `git` and `sink` must outlive the task. `in_turn`: as RunOptions::in_turn, and nobody
// cancels it.
Task<Execution> RunGitReader(const Work& work, const GitReader& git, GitReading reading,
                             OutputSink& sink, CallContext& call, bool in_turn = false);

// Nothing: it ended by itself, with an exit code of at most `most`.
std::optional<ToolError> ErrorOfGitReader(std::string what, const Execution& run,
                                          const std::string& complaints, int most = 0);

}  // namespace pa
