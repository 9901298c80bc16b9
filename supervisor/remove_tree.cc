#include "supervisor/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "base/unique_fd.h"

namespace pa {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};
using DirStream = std::unique_ptr<DIR, CloseDir>;

// Its mode is set first: a command may have taken all permissions from it.
DirStream OpenDirectory(int parent, const char* name) {
  fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW);
  UniqueFd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  DirStream stream(fd ? fdopendir(fd.get()) : nullptr);
  if (stream) (void)fd.release();
  return stream;
}

const char* NextName(DIR* dir) {
  for (;;) {
    const dirent* entry = readdir(dir);
    if (entry == nullptr) return nullptr;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return entry->d_name;
  }
}

// A file, a link or an empty directory.
bool RemoveOne(int parent, const char* name) {
  return unlinkat(parent, name, 0) == 0 || unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

class Remover {
 public:
  explicit Remover(DIR* top) : top_(top), fd_(dirfd(top)) {}

  // Each pass removes one level of every directory that it finds in the top one.
  void Run() {
    bool again = true;
    while (again) {
      again = false;
      rewinddir(top_);
      while (const char* name = NextName(top_)) {
        if (!RemoveOne(fd_, name) && RemoveLevel(name)) again = true;
      }
    }
  }

 private:
  // True if something was moved up, so that there is more to do.
  bool RemoveLevel(const char* name) {
    const DirStream dir = OpenDirectory(fd_, name);
    if (!dir) return false;
    bool moved = false;
    while (const char* inner = NextName(dir.get())) {
      if (!RemoveOne(dirfd(dir.get()), inner) && MoveUp(dirfd(dir.get()), inner)) moved = true;
    }
    unlinkat(fd_, name, AT_REMOVEDIR);
    return moved;
  }

  bool MoveUp(int parent, const char* name) {
    // A directory changes its `..`, for which it must be writable itself.
    fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW);
    for (;;) {
      const std::string up = ".moved-up-" + std::to_string(counter_++);
      if (renameat2(parent, name, fd_, up.c_str(), RENAME_NOREPLACE) == 0) return true;
      if (errno != EEXIST) return false;
    }
  }

  DIR* top_;
  int fd_;
  unsigned long counter_ = 0;
};

}  // namespace

Result<void> RemoveTree(const std::string& path) {
  const DirStream top = OpenDirectory(AT_FDCWD, path.c_str());
  if (!top) return std::unexpected(Error("open", path, errno));
  Remover(top.get()).Run();
  if (rmdir(path.c_str()) != 0) return std::unexpected(Error("rmdir", path, errno));
  return {};
}

}  // namespace pa
