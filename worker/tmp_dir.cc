#include "worker/tmp_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/unique_fd.h"
#include "worker/directory_reader.h"

namespace pa::worker {
namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// The directory, made ours to change whatever mode the command left it. Between the two calls
// nobody can put a symlink in its place: the tree is dead and nobody else may write here.
UniqueFd OpenOwned(int parent, const char* name) {
  UniqueFd fd(openat(parent, name, kOpenDirectory));
  if (!fd && errno == EACCES && fchmodat(parent, name, S_IRWXU, 0) == 0) {
    fd.reset(openat(parent, name, kOpenDirectory));
  }
  struct stat info;
  if (fd && fstat(fd.get(), &info) == 0 && (info.st_mode & 07777) != S_IRWXU) {
    fchmod(fd.get(), S_IRWXU);
  }
  return fd;
}

bool IsDirectory(int parent, const char* name) {
  struct stat info;
  return fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

class Emptier {
 public:
  explicit Emptier(int top) : top_(top) {}

  // Each round removes or flattens whatever is at the top; a round that changes nothing is the
  // last.
  bool Run() {
    for (;;) {
      bool seen = false;
      changed_ = false;
      DirectoryReader reader(top_);
      while (const auto entry = reader.Next()) {
        seen = true;
        if (!Remove(top_, *entry)) Flatten(entry->name);
      }
      if (!seen) return true;
      if (!changed_) return false;
    }
  }

 private:
  bool Changed(bool done) {
    changed_ = changed_ || done;
    return done;
  }

  // A file, or a directory that is empty already.
  bool Remove(int parent, const DirectoryReader::Entry& entry) {
    if (entry.type != DT_DIR && unlinkat(parent, entry.name, 0) == 0) return Changed(true);
    return Changed(unlinkat(parent, entry.name, AT_REMOVEDIR) == 0);
  }

  // Empties one directory of the top: what is no directory is removed, directories move up.
  void Flatten(const char* name) {
    const UniqueFd directory = OpenOwned(top_, name);
    if (!directory) return;
    DirectoryReader reader(directory.get());
    while (const auto entry = reader.Next()) {
      if (!Remove(directory.get(), *entry)) MoveUp(directory.get(), entry->name);
    }
    Changed(unlinkat(top_, name, AT_REMOVEDIR) == 0);
  }

  // Moving a directory rewrites its `..`, for which it must be writable. A symlink is not touched:
  // fchmodat would follow it.
  void MoveUp(int parent, const char* name) {
    if (!IsDirectory(parent, name)) return;
    fchmodat(parent, name, S_IRWXU, 0);
    for (int attempt = 0; attempt < kMaxNameClashes; ++attempt) {
      char fresh[24] = ".moved-";
      char* digits = fresh + std::strlen(fresh);
      *std::to_chars(digits, fresh + sizeof(fresh) - 1, next_++).ptr = '\0';
      if (Changed(renameat(parent, name, top_, fresh) == 0)) return;
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return;
    }
  }

  static constexpr int kMaxNameClashes = 1000;

  int top_;
  unsigned long next_ = 0;
  bool changed_ = false;
};

}  // namespace

bool EmptyDirectory(const char* path) {
  const UniqueFd top = OpenOwned(AT_FDCWD, path);
  return top && Emptier(top.get()).Run();
}

void RemoveWithParent(const char* path) {
  if (rmdir(path) != 0) return;
  const std::string_view whole = path;
  const std::size_t slash = whole.find_last_of('/');
  char parent[PATH_MAX];
  if (slash == 0 || slash == whole.npos || slash >= sizeof(parent)) return;
  whole.copy(parent, slash);
  parent[slash] = '\0';
  rmdir(parent);
}

}  // namespace pa::worker
