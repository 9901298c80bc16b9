#include "base/empty_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/directory_reader.h"
#include "base/unique_fd.h"

namespace pa {
namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// The directory, made ours to change whatever mode the command left it. Never through a symlink,
// also where a policy lets others write here meanwhile.
UniqueFd OpenOwned(int parent, const char* name) {
  UniqueFd fd(openat(parent, name, kOpenDirectory));
  if (!fd && errno == EACCES && fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0) {
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

std::uint64_t Milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

class Emptier {
 public:
  Emptier(int top, std::uint64_t budget_ms, std::uint64_t at_least)
      : top_(top), budget_ms_(budget_ms), at_least_(at_least) {}

  enum class End { kEmpty, kTimeOver, kStuck };

  // Each round removes or flattens whatever is at the top; a round that changes nothing is the
  // last.
  End Run() {
    for (;;) {
      bool seen = false;
      changed_ = false;
      DirectoryReader reader(top_);
      while (const auto entry = reader.Next()) {
        if (TimeOver()) return End::kTimeOver;
        seen = true;
        if (!Remove(top_, *entry)) Flatten(entry->name);
      }
      if (!seen) return End::kEmpty;
      if (TimeOver()) return End::kTimeOver;
      if (!changed_) return End::kStuck;
    }
  }

 private:
  bool Changed(bool done) {
    changed_ = changed_ || done;
    return done;
  }

  // A file, or a directory that is empty already.
  bool Remove(int parent, const DirectoryReader::Entry& entry) {
    ++seen_;
    if (entry.type != DT_DIR && unlinkat(parent, entry.name, 0) == 0) return Changed(true);
    return Changed(unlinkat(parent, entry.name, AT_REMOVEDIR) == 0);
  }

  // Empties one directory of the top: what is no directory is removed, directories move up.
  void Flatten(const char* name) {
    const UniqueFd directory = OpenOwned(top_, name);
    if (!directory) return;
    DirectoryReader reader(directory.get());
    while (const auto entry = reader.Next()) {
      if (TimeOver()) return;
      if (!Remove(directory.get(), *entry)) MoveUp(directory.get(), entry->name);
    }
    Changed(unlinkat(top_, name, AT_REMOVEDIR) == 0);
  }

  // Moving a directory rewrites its `..`, for which it must be writable.
  void MoveUp(int parent, const char* name) {
    if (!IsDirectory(parent, name)) return;
    // Where that fails, renameat says so.
    [[maybe_unused]] const int changed = fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
    for (int attempt = 0; attempt < kMaxNameClashes; ++attempt) {
      char fresh[32] = ".moved-";
      char* digits = fresh + std::strlen(fresh);
      *std::to_chars(digits, fresh + sizeof(fresh) - 1, next_++).ptr = '\0';
      if (Changed(renameat(parent, name, top_, fresh) == 0)) return;
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return;
    }
  }

  bool TimeOver() const { return seen_ >= at_least_ && Milliseconds() - start_ms_ > budget_ms_; }

  static constexpr int kMaxNameClashes = 1000;

  int top_;
  std::uint64_t budget_ms_;
  std::uint64_t at_least_;
  std::uint64_t seen_ = 0;
  std::uint64_t start_ms_ = Milliseconds();
  std::uint64_t next_ = start_ms_ << 20;  // not the names of the call before
  bool changed_ = false;
};

}  // namespace

SysResult<bool> EmptyHeldDirectory(int directory, const char* name, std::uint64_t budget_ms,
                                   std::uint64_t at_least) {
  // The command may have taken the permissions from it. Who can change no mode is not asked to:
  // after a command that only reads, the guardian has its filter, too.
  struct stat status{};
  if (fstat(directory, &status) != 0) return std::unexpected(SysError{"fstat", name, errno});
  const bool intact = (status.st_mode & 07777) == S_IRWXU;
  if (!intact && fchmod(directory, S_IRWXU) != 0) {
    return std::unexpected(SysError{"fchmod", name, errno});
  }
  switch (Emptier(directory, budget_ms, at_least).Run()) {
    case Emptier::End::kEmpty:
      return true;
    case Emptier::End::kTimeOver:
      return false;
    case Emptier::End::kStuck:
      break;
  }
  return std::unexpected(SysError{"empty", name, ENOTEMPTY});
}

SysResult<bool> EmptyDirectory(int at, const char* path, std::uint64_t budget_ms,
                               std::uint64_t at_least) {
  const UniqueFd top = OpenOwned(at, path);
  if (!top) return std::unexpected(SysError{"open", path, errno});
  return EmptyHeldDirectory(top.get(), path, budget_ms, at_least);
}

}  // namespace pa
