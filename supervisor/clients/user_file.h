// UserFile: a small file of the user's own, read whole and replaced at once.
//
//   Result<UserFile> file = ReadUserFile("/home/me/.codex/config.toml", "/home/me");
//   Result<void> written = ReplaceUserFile(*file, now);
//
// However that ends, the old file or the new one is there. A symlink stays, and what it leads to is
// replaced. What belongs to another user is left alone: root in somebody's home would follow
// that user's links and leave files that the user cannot change.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace pa {

inline constexpr std::size_t kMaxUserFile = 1U << 20;

struct UserFile {
  std::string path;  // where it really is
  bool exists = false;
  std::string content;
};

// `path` is absolute and lies in `base`. A file that is not there is no error, a symlink that leads
// nowhere is one.
Result<UserFile> ReadUserFile(const std::string& path, const std::string& base);

// Mode, group and extended attributes stay (base/keep_metadata.h); a new file has those that the
// umask gives, as have directories that lack. Refused when the file is no longer what was read
// (ESTALE).
Result<void> ReplaceUserFile(const UserFile& file, std::string_view content);

}  // namespace pa
