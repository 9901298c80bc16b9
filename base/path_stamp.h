// PathStamp: which file a path names, and in which state, as far as lstat(2) tells; shows whether
// the file was touched or replaced since.
//
//    PathStamp before = LookAt(path);
//    ...
//    if (LookAt(path) != before) ...       // somebody wrote, replaced, linked, removed or made it
//
// Every change of a file updates its ctime, which no program can set, with two exceptions. A file
// can be written twice within one tick of the clock: a stamp that is not Settled proves nothing.
// And a page that a living process has mapped can be written again unnoticed: compare stamps only
// after that process has died.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace pa {

struct PathStamp {
  bool exists = false;
  // The errno of a failed lookup: it is not known whether the path exists. 0: it is known.
  int error = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0;  // type and permissions
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
  // 0 for directories, whose link count depends on their subdirectories.
  std::uint64_t links = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const PathStamp&) const = default;
  // The same object, whatever changed about it.
  bool SameFile(const PathStamp& other) const {
    return exists && other.exists && device == other.device && inode == other.inode &&
           (mode & S_IFMT) == (other.mode & S_IFMT);
  }
  // Known not to exist. A path whose lookup failed may be anything.
  bool IsAbsent() const { return !exists && error == 0; }
  bool IsDirectory() const { return exists && S_ISDIR(mode); }
  bool IsRegular() const { return exists && S_ISREG(mode); }
  bool IsSymlink() const { return exists && S_ISLNK(mode); }
  // Old enough that any write from now on changes the stamp.
  bool Settled() const;
};

PathStamp StampOf(const struct stat& status);
// Whether `error` of open(2) or lstat(2) means that nothing exists there, and not that the lookup
// failed.
bool MeansAbsent(int error);
// The same, or that something else is there, that access is denied, or that the path is too long:
// everything that a program that writes there can bring about. Any other error means a lack of
// descriptors or memory, or a failure of the disk, and says nothing about what is there.
bool MeansGone(int error);
// Does not follow a symlink in the last component.
PathStamp LookAt(const std::string& path);
PathStamp LookAt(int directory_fd, const std::string& name);

}  // namespace pa
