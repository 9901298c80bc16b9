// PathInspector: looks up a path that a command's output names: what it is, and whether we could
// use it ourselves.
//
//    FilePathInspector inspector(work.directory.path());
//    const FoundPath place = inspector.Look("/home/ann/.ssh/id", true);
//    if (place.kind == FoundPath::Kind::kFile && inspector.May(place.path, R_OK)) ...
//
// The names are hostile, and we are outside the sandbox. A look must not reach the network, trigger
// an automounter (/net/HOST would mount what HOST exports, through our network), or start or wait
// for a user's FUSE server. So each component is looked at by itself, with lstat(2) only, and not
// where, by the table of mounts, something other than this machine's own kernel would have to
// answer. Only directories of the project are opened, to see what is in them.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/run/full_file.h"

namespace pa {

struct FoundPath {
  enum class Kind : std::uint8_t {
    kUnknown,  // must not be looked at, or we have no access
    kMissing,  // `directory` exists and holds nothing of that name
    kFile,
    kDirectory,
    kOther,  // device, socket, FIFO; with `follow` false a symlink
  };
  Kind kind = Kind::kUnknown;
  std::string path = {};         // resolved
  std::string directory = {};    // resolved: the nearest existing directory above it
  bool beneath_missing = false;  // kMissing: `directory` is not its parent directory
  std::uint64_t size = 0;        // kFile: bytes; and its ctime
  std::chrono::system_clock::time_point changed = {};
};

class PathInspector {
 public:
  virtual ~PathInspector() = default;
  // `path` must be absolute. `follow`: also follow the last component, as open(2) does and
  // unlink(2) does not.
  virtual FoundPath Look(const std::string& path, bool follow) = 0;
  // access(2) with our effective identity, for a path that Look returned.
  virtual bool May(const std::string& resolved, int mode) = 0;
  // Whether we may change its mode and times.
  virtual bool Owns(const std::string& resolved) = 0;
  virtual bool IsMountPoint(const std::string& resolved) = 0;
  // For a directory within the working directory; false if that cannot be known.
  virtual bool IsEmpty(const std::string& resolved) = 0;
  // A file of the working directory of that size, which was changed then or later; "" = none.
  virtual std::string FindFull(std::uint64_t size, std::chrono::system_clock::time_point since) = 0;
};

struct Mount {
  std::string point;
  std::string type;
  bool operator==(const Mount&) const = default;
};
// Parses /proc/self/mountinfo (proc(5)).
std::vector<Mount> ReadMounts(std::string_view mountinfo);

// What directories of the project have to be opened for. Nobody but the janitor opens them, so what
// is not known yet is noted, and the denials are looked for once more when it is.
struct Inside {
  InsideQuestion question;
  std::optional<InsideAnswer> answer;
  bool IsAsked() const { return !answer && (question.full || !question.empty.empty()); }
};

class FilePathInspector : public PathInspector {
 public:
  // `working_directory`: directories on the way to it may be looked at whatever their file system
  // is, because every call uses them. `may_see`: whether a resolved path may be looked at; empty:
  // all.
  // `inside`: borrowed; null: nothing of that is known.
  explicit FilePathInspector(std::string working_directory,
                             std::function<bool(const std::string&)> may_see = {},
                             Inside* inside = nullptr);
  FilePathInspector(std::string working_directory, std::function<bool(const std::string&)> may_see,
                    std::vector<Mount> mounts);

  FoundPath Look(const std::string& path, bool follow) override;
  bool May(const std::string& resolved, int mode) override;
  bool Owns(const std::string& resolved) override;
  bool IsMountPoint(const std::string& resolved) override;
  bool IsEmpty(const std::string& resolved) override;
  std::string FindFull(std::uint64_t size, std::chrono::system_clock::time_point since) override;

 private:
  bool IsSafe(const std::string& resolved);
  const std::vector<Mount>& Mounts();

  std::string working_directory_;
  std::function<bool(const std::string&)> may_see_;
  Inside* inside_ = nullptr;
  int looks_left_ = 2048;                     // at components, for all paths together
  std::optional<std::vector<Mount>> mounts_;  // read on first use
};

}  // namespace pa
