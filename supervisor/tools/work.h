// Work: which tool works where, and the steps by which every tool arrives at a plan.
//
//    auto work = StartWork(request, target, call);               // working_directory
//    auto permission = Permit(*work, call, Purpose::kBuild);     // once, before anything runs
//    auto make = Require("make", *work, call);                   // on PATH
//
// If a step fails, its error ends the call.
#pragma once

#include <chrono>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/decide.h"
#include "policy/working_directory.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/tool.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/denials/denials.h"
#include "supervisor/loop/file_turns.h"

namespace pa {

struct Work {
  const Tool* tool;       // as the client named it
  std::string operation;  // make target or project_actions operation; "" otherwise
  policy::WorkingDirectory directory;
  bool dry_run = false;
  bool writes_git = false;  // the argument git_write
  std::string job = {};     // in whose network a command of make or bash runs; "" = in none

  // The absolute path of what lies beneath its directory.
  std::string Absolute(const std::string& relative) const {
    return directory.path() + "/" + relative;
  }
};

std::expected<Work, ToolError> StartWork(const ToolRequest& request, std::string operation,
                                         const CallContext& call);
// For a tool whose argument `path`, or the given `path`, says where: in the root that holds the
// path; in the first root if it is relative.
std::expected<Work, ToolError> StartWorkAt(const ToolRequest& request, const CallContext& call);
std::expected<Work, ToolError> StartWorkAt(const ToolRequest& request, const CallContext& call,
                                           const std::string& path);

// The place that `path` names: relative to the root of `work`, or absolute and beneath it. Errors:
// INVALID_PATH; NOT_FOUND, with `advice`; FILE_IO. The messages of the last two begin with `cannot
// VERB PATH: `. The directory of the audit log is NOT_FOUND.
std::expected<policy::FoundBeneath, ToolError> FindInRoot(const Work& work, const CallContext& call,
                                                          const std::string& path,
                                                          std::string_view verb,
                                                          std::string_view advice);
// What precedes names of `place` in a result: `src/`, "" at the top of the first root; absolute in
// other roots.
std::string PrefixOf(const Work& work, const CallContext& call, const policy::FoundBeneath& place);

// What rules are matched against, besides the tool and its target.
struct Object {
  std::string path = {};     // absolute
  std::string command = {};  // of bash
};
// The permission for the whole call. `purpose`, that of the command that the call is about, is only
// for the record. APPROVAL_DECLINED: the user must be asked first; after a yes the call begins
// anew.
std::expected<policy::Permission, ToolError> Permit(const Work& work, CallContext& call,
                                                    policy::Purpose purpose, Object object = {});

// The absolute path of `program`. TOOL_NOT_FOUND.
std::expected<std::string, ToolError> Require(const std::string& program, const Work& work,
                                              const CallContext& call);

// Which errors of a failed command the sandbox caused. `confinement`: a copy of the command's,
// because its Allow is used up by running. `script`: what a shell was given to run. All are
// borrowed until the task ends.
Task<std::vector<Denial>> FindDenialsOf(const Execution& run, policy::Purpose purpose,
                                        const sandbox::Confinement& confinement, const Work& work,
                                        CallContext& call, std::string_view script = {});

// `advice`, which recommends `tool`; "" if the tool is off. A tool that only reads is never off.
std::string Offer(const CallContext& call, std::string_view tool, std::string_view advice);

// Waits for the turn of the call's files. BUSY, CANCELLED.
Task<std::optional<ToolError>> TakeTurn(FileTurn& turn, CallContext& call);

// The environment of every command, without variables that would change what make or git does
// unnoticed.
std::map<std::string, std::string> WorkEnvironment(const CallContext& call);
// The same for make and bash, without the user's git configuration, which is closed to commands:
// git takes EACCES for a broken configuration and dies, and recipes and $(shell) that run git (git
// describe) must not fail because of that.
std::map<std::string, std::string> MakeEnvironment(const CallContext& call);
// Makes the project's caches and does the same as AddCaches. Without them many builds succeed all
// the same, so that is no failure: "" or what to warn of.
std::string OpenCache(const Work& work, const CallContext& call,
                      std::map<std::string, std::string>& environment);
// Adds the variables that name the project's caches to an environment from MakeEnvironment.
void AddCaches(const Work& work, const CallContext& call,
               std::map<std::string, std::string>& environment);

}  // namespace pa
