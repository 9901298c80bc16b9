// FileImage: a copy in memory of what exists at a path, to compare it with what exists there later
// and to restore it.
//
//    ImageBudget budget;
//    Result<FileImage> image = ReadImage(parent_fd, "hooks", ImageDepth::kTree, budget);
//    if (!StampsHold(*image, "/srv/project/.git/hooks")) ...       // somebody touched it
//    MakeFrom(*image, other_fd, "hooks");
//
// Everything is done by descriptor of the parent directory, and no symlink is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/error.h"
#include "base/path_stamp.h"
#include "base/unique_fd.h"

namespace pa {

inline constexpr std::uint32_t kPermissionBits = 07777;  // of st_mode

struct FileImage {
  PathStamp stamp;                            // !stamp.exists: there was nothing
  bool settled = true;                        // false: the stamp alone proves nothing
  std::string content;                        // of a regular file; the target of a symlink
  std::map<std::string, FileImage> children;  // of a directory, as deep as requested
};

enum class ImageDepth {
  kSelf,   // of a directory only itself
  kNames,  // and the names in it
  kTree,   // and everything in it
};

// The most that images may hold together. More is an error, because only what they hold can be
// restored.
struct ImageBudget {
  std::size_t bytes = 32u << 20;  // a hundred submodules with the template's hooks: 3 MiB
  std::size_t nodes = 16384;
};

Result<FileImage> ReadImage(int parent, const std::string& name, ImageDepth depth,
                            ImageBudget& budget);

// Whether nothing of it was touched since. Compares stamps; reads no content.
bool StampsHold(const FileImage& image, const std::string& path);

// Whether the regular file or symlink there still has the same content.
Result<bool> HoldsContent(const FileImage& image, int parent, const std::string& name);

// Makes a file, directory or symlink from the image; nothing may exist at that name. If the file
// system has O_TMPFILE, a file gets its name once its content is complete and on the disk. ENOTSUP:
// the image is of something else.
Result<void> MakeFrom(const FileImage& image, int parent, const std::string& name);

// The directory, if no component of `path` is a symlink: another command may be able to write on
// the way to a writable tree.
UniqueFd OpenDirectory(const std::string& path);

// Restores permissions and owner, whatever exists there.
Result<void> RestoreMetadata(const PathStamp& stamp, int parent, const std::string& name);

}  // namespace pa
