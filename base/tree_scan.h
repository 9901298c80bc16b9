// TreeScan: finds entries of certain names in a directory tree. The first look walks the tree; a
// later look asks each known directory whether it has changed (one fstatat(2) each) and reads only
// those that have.
//
//    TreeScan scan([](std::string_view name) {
//      return name == ".git" ? Interest::kReport : Interest::kNone;
//    });
//    ScannedTree tree = scan.Look(root_fd);
//    for (const ScannedName& found : tree.names) Use(found.directory, found.name);
//
// Works by descriptor throughout and follows no symlink. Enters everything that is mounted beneath
// the root, because commands do. If a directory of our own user cannot be read or searched, its
// mode is changed for as long as the look is in it. Whatever is left out is reported. The scan does
// not depend on its caller: it may run in a thread or in another process. One look at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/path_stamp.h"
#include "base/unique_fd.h"

namespace pa {

enum class Interest {
  kNone,    // not reported; a directory is entered
  kReport,  // reported; a directory is entered
  kLeaf,    // reported; a directory is not entered
};

struct ScanLimits {
  std::size_t directories = 100'000;  // known directories
  std::size_t entries = 4'000'000;    // read in one look
  std::size_t bytes = 64u << 20;      // of the reported names
  // Deeper directories are left out. The scan holds as many descriptors open.
  int depth = 64;
  // The next look knows what this one has seen by then.
  std::chrono::milliseconds time{5000};
  // Another thread sets this when nobody waits for the look any more. Null: nobody sets it.
  const std::atomic<bool>* given_up = nullptr;
};

struct ScannedName {
  std::string directory;  // relative to the root; "" = the root itself
  std::string name;
  unsigned char type;  // DT_DIR, DT_REG, DT_LNK, ...
  bool operator==(const ScannedName&) const = default;
};

struct ScannedTree {
  // By directory; a directory comes before its subdirectories.
  std::vector<ScannedName> names;
  // Directories, relative to the root.
  std::vector<std::string> unreadable;
  // Directories of our own user without read or search permission; they were scanned.
  std::vector<std::string> closed;
  // The first directory that lies too deep or has too long a path; "" = none.
  std::string deeper;
  // The limit that ended the look: "100000 directories", "the search was cancelled"; "" = none.
  std::string exceeded;
  std::size_t directories = 0;  // that were looked at
  std::size_t read = 0;         // those of them whose names had to be read

  bool Complete() const { return unreadable.empty() && deeper.empty() && exceeded.empty(); }
};

class TreeScan {
 public:
  using Chooser = Interest (*)(std::string_view name);
  explicit TreeScan(Chooser chooser) : chooser_(chooser) {}

  // `root_fd`: a directory, O_PATH suffices. The next look knows what this one has read, even if a
  // limit ended it.
  ScannedTree Look(int root_fd, const ScanLimits& limits = {});

 private:
  struct Directory {
    std::string name;
    PathStamp stamp = {};
    bool settled = false;                 // otherwise the stamp proves nothing
    std::vector<ScannedName> found = {};  // their `directory` is empty
    std::vector<Directory> below = {};    // sorted by name
  };
  struct Progress;

  void Visit(int parent, Directory& directory, const std::string& path, Progress& progress) const;
  static bool Unchanged(int parent, const Directory& directory, UniqueFd& fd);
  bool Read(int fd, Directory& directory, Progress& progress) const;
  static void KeepUnread(Directory& directory, std::vector<Directory> known);

  Chooser chooser_;
  Directory root_{.name = "."};
};

}  // namespace pa
