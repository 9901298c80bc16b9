// PathProbe: what a path is that a command's output names, and whether we could use it ourselves.
//
//   FilePathProbe probe(work.directory.path());
//   const Place place = probe.Look("/home/ann/.ssh/id");
//   if (place.kind == Place::Kind::kFile && probe.May(place.path, R_OK)) ...
//
// The names are hostile, and we stand outside the sandbox: a look must never reach the network,
// wake an automounter (/net/HOST would mount what HOST exports, by our network), start a user's
// FUSE server or wait for one. So each component is looked at by itself, lstat(2) only, and not
// where the table of mounts says that something other than this machine's own kernel would have to
// answer. Nothing is opened but directories of the project, to see what is in them.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

struct Place {
  enum class Kind : std::uint8_t {
    kUnknown,  // not to be looked at, or not for us
    kMissing,  // `directory` exists, nothing of that name in it
    kFile,
    kDirectory,
    kOther,  // device, socket, FIFO; with `follow` false a symlink
  };
  Kind kind = Kind::kUnknown;
  std::string path = {};         // resolved
  std::string directory = {};    // resolved: the nearest that exists and would hold it
  bool beneath_missing = false;  // kMissing: `directory` would not hold it itself
  std::uint64_t size = 0;        // kFile: bytes, and when it was changed, by ctime
  std::chrono::system_clock::time_point changed = {};
};

class PathProbe {
 public:
  virtual ~PathProbe() = default;
  // `path` is absolute. `follow`: the last component, too, as open(2) would; unlink(2) would not.
  virtual Place Look(const std::string& path, bool follow) = 0;
  // access(2) with our effective identity, of what Look found.
  virtual bool May(const std::string& resolved, int mode) = 0;
  // Whether its mode and times are ours to change.
  virtual bool Owns(const std::string& resolved) = 0;
  virtual bool IsMountPoint(const std::string& resolved) = 0;
  // Of a directory within the working directory; false where that cannot be known. This opens it.
  virtual bool IsEmpty(const std::string& resolved) = 0;
  // supervisor/run/full_file.h, in the working directory. This opens directories.
  virtual std::string FindFull(std::uint64_t size, std::chrono::system_clock::time_point since) = 0;
};

struct Mount {
  std::string point;
  std::string type;
  bool operator==(const Mount&) const = default;
};
// /proc/self/mountinfo (proc(5)).
std::vector<Mount> ReadMounts(std::string_view mountinfo);

class FilePathProbe : public PathProbe {
 public:
  // `working_directory`: the file systems on the way there are used by every call, whatever they
  // are. `may_see`: whether a resolved path may be looked at; empty: all.
  explicit FilePathProbe(std::string working_directory,
                         std::function<bool(const std::string&)> may_see = {});
  FilePathProbe(std::string working_directory, std::function<bool(const std::string&)> may_see,
                std::vector<Mount> mounts);

  Place Look(const std::string& path, bool follow) override;
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
  int looks_left_ = 2048;                     // at components, of all paths together
  std::optional<std::vector<Mount>> mounts_;  // read when they are first asked for
};

}  // namespace pa
