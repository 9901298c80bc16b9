// UserFile: a small file of the user, read whole and replaced atomically.
//
//    Result<UserFile> file = ReadUserFile("/home/me/.codex/config.toml", "/home/me");
//    Result<void> written = ReplaceUserFile(*file, now);
//
// However the replacement ends, the file is the old or the new one. A symlink stays; its target is
// replaced. Files and directories of another user are refused: root in a user's home would follow
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
  std::string path;  // with symlinks resolved
  bool exists = false;
  std::string content;
};

// `path` must be absolute and lie in `base`. A missing file is no error; a dangling symlink is one.
Result<UserFile> ReadUserFile(const std::string& path, const std::string& base);

// Keeps mode, group and extended attributes (base/keep_metadata.h). A new file gets the mode that
// the umask gives; so do missing parent directories, which are created. ESTALE if the file is no
// longer what was read.
Result<void> ReplaceUserFile(const UserFile& file, std::string_view content);

}  // namespace pa
