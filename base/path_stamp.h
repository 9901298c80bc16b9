// PathStamp: which file a name stands for and whether it was touched: all that lstat(2) can tell.
//
//   PathStamp before = LookAt(path);
//   ...
//   if (LookAt(path) != before) ...       // somebody wrote, replaced, linked, removed or made it
//
// What changes a file moves ctime, which nobody can set, with two exceptions. Within one tick of
// the clock a file can be written twice: a stamp that is not Settled proves nothing. And a page
// that a living process has mapped can be written again unseen: only compare once that process is
// dead.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace pa {

struct PathStamp {
  bool exists = false;
  int error = 0;  // errno where neither is known: whether it exists, and what it is
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;  // type and permissions
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
  std::uint64_t links = 0;  // 0 for directories, whose count their subdirectories make
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const PathStamp&) const = default;
  // The same object, whatever became of it.
  bool SameFile(const PathStamp& other) const {
    return exists && other.exists && device == other.device && inode == other.inode &&
           (mode & S_IFMT) == (other.mode & S_IFMT);
  }
  // Known not to be there. What only cannot be looked at may be anything.
  bool IsAbsent() const { return !exists && error == 0; }
  bool IsDirectory() const { return exists && S_ISDIR(mode); }
  bool IsRegular() const { return exists && S_ISREG(mode); }
  bool IsSymlink() const { return exists && S_ISLNK(mode); }
  // Old enough that whoever writes it from now on moves it.
  bool Settled() const;
};

PathStamp StampOf(const struct stat& status);
// Whether `error` of open(2) or lstat(2) says that there is nothing, and not that it cannot be
// seen.
bool MeansAbsent(int error);
// Also that something else stands there, or that it is closed or named too long: all that who
// writes there can bring about. Any other is want of descriptors or memory, or of the disk, and
// says nothing about what is there.
bool MeansGone(int error);
// Follows no symlink in the last component.
PathStamp LookAt(const std::string& path);
PathStamp LookAt(int directory_fd, const std::string& name);

}  // namespace pa
