// TreeScan: where in a tree entries of certain names lie. The first look walks the tree, a later
// one asks each directory that it knows whether it has changed: one fstatat(2) for each, and
// reading for those that have.
//
//   TreeScan scan([](std::string_view name) {
//     return name == ".git" ? Interest::kReport : Interest::kNone;
//   });
//   ScannedTree tree = scan.Look(root_fd);
//   for (const ScannedName& found : tree.names) Use(found.directory, found.name);
//
// Follows no symlink, by descriptor throughout; goes into whatever is mounted beneath, because
// commands do. A directory that its owner, who is us, has closed is open for as long as the look is
// in it. What is left out is said, never silent. Knows nothing of who asks: it may run in a thread
// or in another process. One look at a time.
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
  kNone,    // not reported; a directory is gone into
  kReport,  // reported; a directory is gone into
  kLeaf,    // reported; a directory is not gone into
};

struct ScanLimits {
  std::size_t directories = 100'000;  // that are known of
  std::size_t entries = 4'000'000;    // read in one look
  std::size_t bytes = 64u << 20;      // of what is reported
  int depth = 64;                     // what lies deeper is left out; as many descriptors are open
  std::chrono::milliseconds time{5000};  // what was seen by then is known to the next look
  // Set by another thread: nobody waits for the look any more. Null: nobody sets it.
  const std::atomic<bool>* given_up = nullptr;
};

struct ScannedName {
  std::string directory;  // relative to the root; "" = the root itself
  std::string name;
  unsigned char type;  // DT_DIR, DT_REG, DT_LNK, ...
  bool operator==(const ScannedName&) const = default;
};

struct ScannedTree {
  std::vector<ScannedName> names;       // by directory, each holder before what is in it
  std::vector<std::string> unreadable;  // directories, relative to the root
  std::vector<std::string>
      closed;          // that their owner, who is us, has closed; they were looked into
  std::string deeper;  // the first directory that lies too deep, or has too long a path; "" = none
  std::string
      exceeded;  // what ended the look: "100000 directories", "it was given up"; "" = nothing
  std::size_t directories = 0;  // looked at
  std::size_t read = 0;         // of them, those whose names had to be read

  bool Complete() const { return unreadable.empty() && deeper.empty() && exceeded.empty(); }
};

class TreeScan {
 public:
  using Chooser = Interest (*)(std::string_view name);
  explicit TreeScan(Chooser chooser) : chooser_(chooser) {}

  // `root_fd`: a directory, perhaps O_PATH. What one look has read the next one knows, though a
  // limit ended it.
  ScannedTree Look(int root_fd, const ScanLimits& limits = {});

 private:
  struct Directory {
    std::string name;
    PathStamp stamp = {};
    bool settled = false;                 // else the stamp proves nothing
    std::vector<ScannedName> found = {};  // `directory` is empty
    std::vector<Directory> below = {};    // by name
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
