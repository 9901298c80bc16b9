// Work: who asked for what, and where; and the steps by which every tool comes to a plan.
//
//   auto work = StartWork(request, target, call);               // working_directory
//   auto permission = Permit(*work, call, Purpose::kBuild);     // once, before anything runs
//   auto make = Require("make", *work, call);                   // on PATH
//
// Each step ends the call with its own error.
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

  // Of what lies beneath its directory.
  std::string Absolute(const std::string& relative) const {
    return directory.path() + "/" + relative;
  }
};

std::expected<Work, ToolError> StartWork(const ToolRequest& request, std::string operation,
                                         const CallContext& call);
// Of a tool whose argument `path` says where, or whose `path` is this one: in the root that holds
// it, the first if it is relative.
std::expected<Work, ToolError> StartWorkAt(const ToolRequest& request, const CallContext& call);
std::expected<Work, ToolError> StartWorkAt(const ToolRequest& request, const CallContext& call,
                                           const std::string& path);

// What `path` names beneath the root of `work`: relative to it, or absolute and beneath it.
// INVALID_PATH, NOT_FOUND, with `advice`, FILE_IO: `cannot VERB PATH: ...`. Never in the directory
// of the audit log.
std::expected<policy::PlaceBeneath, ToolError> FindInRoot(const Work& work, const CallContext& call,
                                                          const std::string& path,
                                                          std::string_view verb,
                                                          std::string_view advice);
// How a result names what lies in `place`: `src/`, "" at the top of the first root; absolute in
// others.
std::string PrefixOf(const Work& work, const CallContext& call, const policy::PlaceBeneath& place);

// What rules are held against, beside the tool and its target.
struct Object {
  std::string path = {};     // absolute
  std::string command = {};  // of bash
};
// Good for the whole call; `purpose` is for the record: of the command that the call is about.
// APPROVAL_DECLINED: the user must be asked first; after a yes the call begins anew.
std::expected<policy::Permission, ToolError> Permit(const Work& work, CallContext& call,
                                                    policy::Purpose purpose, Object object = {});

// The absolute path of the program that is run.
std::expected<std::string, ToolError> Require(const std::string& program, const Work& work,
                                              const CallContext& call);

// What of a failure was the sandbox's doing: `confinement` is that of the call, whose Allow is used
// up.
std::vector<Denial> DenialsOf(const Execution& run, policy::Purpose purpose,
                              const sandbox::Confinement& confinement, const Work& work,
                              const CallContext& call);

// Waits until the call's files are its own. BUSY, CANCELLED.
Task<std::optional<ToolError>> TakeTurn(FileTurn& turn, CallContext& call);

// The environment of every command, without what changes the meaning of make or git behind our
// back.
std::map<std::string, std::string> WorkEnvironment(const CallContext& call);
// The same for make. Recipes and $(shell) that run git (git describe) must not fail because the
// user's own configuration is closed to them: git takes EACCES for a broken configuration and dies.
std::map<std::string, std::string> MakeEnvironment(const CallContext& call);
// Adds the variables that lead to the project's caches; to be called with what MakeEnvironment
// gave.
void AddCaches(const Work& work, const CallContext& call,
               std::map<std::string, std::string>& environment);

}  // namespace pa
