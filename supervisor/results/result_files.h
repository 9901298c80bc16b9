// ResultFiles: files with the rows of a result, for programs of the same user that read files and
// speak no MCP.
//
//    ResultFiles files("/tmp");
//    Result<ResultFile> file = files.Make("json", now, quota);  // file->path: for programs to read
//    auto stored = files.Open(path);                     // nothing: no path of such a file
//
// They lie in a directory that only the user can enter, under names of a time and 128 random bits,
// replace nothing, and outlive the server. Who makes one removes those that have expired.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/results/stored_bytes.h"

namespace pa {

using UtcSeconds = std::chrono::sys_seconds;

inline constexpr std::chrono::hours kResultFileLife{24};

struct ResultFile {
  UniqueFd file;  // open for writing
  std::string path;
  UtcSeconds expires;
};

// `2026-11-28T13:15:00Z` (RFC 3339).
std::string UtcText(UtcSeconds time);

class ResultFiles {
 public:
  // `base`: $TMPDIR or /tmp.
  explicit ResultFiles(std::string base);

  // EDQUOT: those that there are, of all servers of the user, have `quota` bytes or more.
  Result<ResultFile> Make(std::string_view extension, UtcSeconds now, std::uint64_t quota) const;
  const std::string& directory() const { return directory_; }
  // Removes those that have expired.
  void Sweep(UtcSeconds now) const;
  // `path` must be written exactly as Make returned it, by this server or another one of the user.
  // Nothing: it is no such path, or there is no such file. Errors: EPERM if the directory is not
  // the user's alone, EINVAL if the file is none, and those of open.
  std::optional<Result<StoredBytes>> Open(std::string_view path) const;

 private:
  Result<std::uint64_t> SweepIn(int directory, UtcSeconds now) const;  // bytes of those that stay

  std::string directory_;
};

}  // namespace pa
