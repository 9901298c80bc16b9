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
// Where the tree is hostile, somebody else reads it (base/tree_reader.h):
//
//    const ChangedTree changed = scan.Check(root_fd);                       // opens with O_PATH
//    const ReadTree read = ... ReadDirectories(root_fd, changed.directories, ...) ...
//    ScannedTree tree = scan.Take(changed, read);
//
// Works by descriptor throughout and follows no symlink. Enters everything that is mounted beneath
// the root, because commands do. If a directory of our own user cannot be read or searched, its
// mode is changed for as long as it is looked into. Whatever is left out is reported. The scan does
// not depend on its caller: it may run in a thread. One look at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/path_stamp.h"
#include "base/tree_reader.h"
#include "base/unique_fd.h"

namespace pa {

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

// What a look has to read.
struct ChangedTree {
  std::vector<ChangedDirectory> directories = {};
  std::size_t known = 1;      // directories
  std::size_t unchanged = 0;  // those of them that were looked at and look the same
  std::string deeper = {};    // as in ScannedTree
  std::string exceeded = {};  // the same: not all was looked at
};

class TreeScan {
 public:
  explicit TreeScan(NameChooser chooser) : chooser_(chooser) {}

  // `root_fd`: a directory, O_PATH suffices. The next look knows what this one has read, even if a
  // limit ended it.
  ScannedTree Look(int root_fd, const ScanLimits& limits = {});

  // The two halves of a look.
  ChangedTree Check(int root_fd, const ScanLimits& limits = {}) const;
  ScannedTree Take(const ChangedTree& changed, ReadTree read, const ScanLimits& limits = {});

 private:
  struct Directory {
    std::string name;
    PathStamp stamp = {};
    bool settled = false;                 // otherwise the stamp proves nothing
    std::vector<ScannedName> found = {};  // their `directory` is empty
    std::vector<Directory> below = {};    // sorted by name
  };
  struct Checking;
  struct Taking;

  static PathStamp Visit(int parent, const Directory& directory, const std::string& path,
                         Checking& checking);
  static void Merge(Directory& directory, ReadDirectory& read);
  static void Emit(Directory& directory, const std::string& path, Taking& taking);

  NameChooser chooser_;
  Directory root_{.name = "."};
};

}  // namespace pa
