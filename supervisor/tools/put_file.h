// PutFile: writes a file of the project in a worker of its own (worker/write_file.h). However that
// ends, the file has the old or the new content, and no temporary file is left beside it.
//
//    auto place = FindPlace(work, call, path, {"write", "Pass another path."});
//    auto permission = Permit(work, call, policy::Purpose::kWriteFile,
//                             {.path = work.Absolute(place->relative)});
//    Task<Put> task = PutFile(work, *permission, {.file = place->relative, .content = text}, call);
//    const Put put = co_await task;
//    if (put.error) ...
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "supervisor/tools/work.h"

namespace pa {

// Where a file is, or can be made.
struct FileTarget {
  std::string relative;  // to the root of the work; without symlinks, as far as it exists
  std::string shown;     // as results name it
  std::optional<policy::FoundBeneath> found;  // nothing: there is no file, or a dangling symlink
};

struct Finding {
  std::string_view verb;        // for messages: `cannot VERB PATH: ...`
  std::string_view advice;      // if a directory on the way is missing
  bool create_parents = false;  // the directory may be missing
};

// The file that `path` names beneath the root of `work`. Errors: INVALID_PATH, INVALID_ARGUMENT (a
// directory, or no name), NOT_FOUND, FILE_IO, POLICY_DENIED (git's own data, the audit log).
std::expected<FileTarget, ToolError> FindPlace(const Work& work, const CallContext& call,
                                               const std::string& path, const Finding& finding);

// The same for a name of which only the directory must exist. What the name refers to, for example
// a symlink, is not looked at, and git's own data is not refused.
std::expected<FileTarget, ToolError> FindName(const Work& work, const CallContext& call,
                                              const std::string& path, const Finding& finding);

// Why nobody may write at `relative` to `root` (absolute), because it is git's own data: a
// component is named `.git`, in any case of letters, or git takes one of the directories for a
// repository, or that cannot be determined. "" if it is not.
std::string ReasonOfGit(const std::string& root, const std::string& relative);

struct PutOrder {
  std::string file;           // relative to the directory of the work
  std::string shown;          // for messages
  std::string_view content;   // borrowed until PutFile returns
  std::optional<Digest> old;  // of what is replaced; nothing: the file must not exist
  bool makes_parents = false;
  bool finishes = false;  // runs even if the call was cancelled
};

struct Put {
  std::optional<ToolError> error;
  bool was_there = false;  // the error: the file exists, unexpectedly (STALE_FILE)
  bool stale = false;      // the error: the content is not the expected one (STALE_FILE)
  bool written = false;    // the error: it is written, but may not be on the disk
  std::chrono::microseconds duration{0};
};

Task<Put> PutFile(const Work& work, const policy::Permission& permission, PutOrder order,
                  CallContext& call);

}  // namespace pa
