// FileImage: what stands at a path, kept in memory, to be compared with what stands there later and
// to be made again.
//
//   ImageBudget budget;
//   Result<FileImage> image = ReadImage(parent_fd, "hooks", ImageDepth::kTree, budget);
//   if (!StampsHold(*image, "/srv/project/.git/hooks")) ...       // somebody touched it
//   MakeFrom(*image, other_fd, "hooks");
//
// All by descriptor of the parent, and no symlink is followed.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/error.h"
#include "base/path_stamp.h"
#include "base/unique_fd.h"

namespace pa {

struct FileImage {
  PathStamp stamp;                            // !stamp.exists: nothing stood there
  bool settled = true;                        // else the stamp alone proves nothing
  std::string content;                        // of a regular file; the target of a symlink
  std::map<std::string, FileImage> children;  // of a directory, as deep as was asked for
};

enum class ImageDepth {
  kSelf,   // of a directory nothing but itself
  kNames,  // and which names it holds
  kTree,   // and all that is in it
};

// What images may hold together; more is refused, because what is not held cannot be restored.
struct ImageBudget {
  std::size_t bytes = 32u << 20;  // a hundred submodules with the hooks of the template: 3
  std::size_t nodes = 16384;
};

Result<FileImage> ReadImage(int parent, const std::string& name, ImageDepth depth,
                            ImageBudget& budget);

// Nothing of it was touched since: system calls for stamps, none for content.
bool StampsHold(const FileImage& image, const std::string& path);

// Whether the regular file or symlink there still holds the same.
Result<bool> HoldsContent(const FileImage& image, int parent, const std::string& name);

// Makes it where nothing stands: complete at once where the file system can do that. Content is on
// the disk before the name is. What is neither file, directory nor symlink cannot be made
// (ENOTSUP).
Result<void> MakeFrom(const FileImage& image, int parent, const std::string& name);

// The directory, if no component of `path` is a symlink: what leads to a writable tree may itself
// be writable to another command.
UniqueFd OpenDirectory(const std::string& path);

// Permissions and owner, of whatever stands there.
Result<void> RestoreMetadata(const PathStamp& stamp, int parent, const std::string& name);

}  // namespace pa
