// PutFile: a file of the project gets content, by a worker of its own (worker/write_file.h);
// whatever becomes of it, the file is the old or the new one, and nothing else is left beside it.
//
//   auto place = FindPlace(work, call, path, {"write", "Pass another path."});
//   auto permission = Permit(work, call, policy::Purpose::kWriteFile,
//                            {.path = work.Absolute(place->relative)});
//   Task<Put> task = PutFile(work, *permission, {.file = place->relative, .content = text}, call);
//   const Put put = co_await task;
//   if (put.error) ...
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "supervisor/tools/work.h"

namespace pa {

// Where a file is or can be made.
struct FilePlace {
  std::string relative;  // to the root of the work; no symlink in it, as far as there is anything
  std::string shown;     // as results name it
  std::optional<policy::PlaceBeneath> found;  // it is there; a symlink that leads nowhere is not
};

struct Finding {
  std::string_view verb;        // of messages: `cannot VERB PATH: ...`
  std::string_view advice;      // where a directory on the way is missing
  bool create_parents = false;  // it may
};

// What `path` names, beneath the root of `work`. INVALID_PATH, INVALID_ARGUMENT (a directory, no
// name), NOT_FOUND, POLICY_DENIED (in a git directory).
std::expected<FilePlace, ToolError> FindPlace(const Work& work, const CallContext& call,
                                              const std::string& path, const Finding& finding);

// The same for a name of which nothing is asked but that its directory is there: what it stands
// for, a symlink among it, is not looked at.
std::expected<FilePlace, ToolError> FindName(const Work& work, const CallContext& call,
                                             const std::string& path, const Finding& finding);

// Why nobody may write at `relative` to `root` (absolute): by a component's name in any case of
// letters, or because one of the directories is what git takes for a repository, it is git's own.
// "" if it is not.
std::string ReasonOfGit(const std::string& root, const std::string& relative);

struct PutOrder {
  std::string file;           // relative to the directory of the work
  std::string shown;          // for messages
  std::string_view content;   // borrowed until PutFile returns
  std::optional<Digest> old;  // of what is replaced; nothing: the file must not be there
  bool makes_parents = false;
  bool finishes = false;  // even if the call was cancelled
};

struct Put {
  std::optional<ToolError> error;
  bool was_there = false;  // the error is that nobody expected it (STALE_FILE)
  bool stale = false;      // the error is that it is another one than expected (STALE_FILE)
  bool written = false;    // the error is that it may not be on the disk
  std::chrono::microseconds duration{0};
};

Task<Put> PutFile(const Work& work, const policy::Permission& permission, PutOrder order,
                  CallContext& call);

}  // namespace pa
