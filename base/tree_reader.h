// ReadDirectories: reads the names in directories of a tree, and in those beneath that are not
// known, for a TreeScan (base/tree_scan.h). The only part of a scan that opens a directory.
//
//    const ReadTree read = ReadDirectories(root_fd, changed, ChooseRepositoryNames, limits);
//
// Works by descriptor throughout and follows no symlink. If a directory of our own user cannot be
// read or searched, its mode is changed for as long as it is looked into.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/path_stamp.h"

namespace pa {

enum class Interest {
  kNone,    // not reported; a directory is entered
  kReport,  // reported; a directory is entered
  kLeaf,    // reported; a directory is not entered
};
using NameChooser = Interest (*)(std::string_view name);

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

// What a look has used up of its limits.
class ScanProgress {
 public:
  explicit ScanProgress(const ScanLimits& limits) : limits_(limits) {}
  // Whether a limit has been reached, which ends the look; `exceeded` is it.
  bool Ended(std::string& exceeded);
  // Each directory is a wait for the disk, so the clock is looked at next.
  void Enter() { steps_ = 0; }
  bool TooDeep(std::string_view path, int depth) const;

  std::size_t known = 1;  // directories: looked at, or to be looked at
  std::size_t entries = 0;
  std::size_t bytes = 0;

 private:
  const ScanLimits& limits_;
  std::size_t steps_ = 0;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + limits_.time;
};

struct ScannedName {
  std::string directory;  // relative to the root; "" = the root itself
  std::string name;
  unsigned char type = 0;  // DT_DIR, DT_REG, DT_LNK, ...
  bool operator==(const ScannedName&) const = default;
};

// To be read again.
struct ChangedDirectory {
  std::string path = {};  // relative to the root; "" = the root itself
  // Directories in it that are known, and are not entered as long as they look the same.
  std::vector<std::pair<std::string, PathStamp>> below = {};
};

struct ReadDirectory {
  std::string path = {};
  PathStamp stamp = {};
  bool settled = false;                 // the stamp proves something
  bool readable = true;                 // false: its names are not known, or not all
  bool closed = false;                  // without read or search permission; it was read
  bool whole = true;                    // false: a limit ended the reading
  std::vector<ScannedName> found = {};  // sorted by name; their `directory` is empty
  std::vector<std::string> below = {};  // sorted; directories to be entered
};

struct ReadTree {
  std::vector<ReadDirectory> directories = {};  // those that are gone are left out
  std::string deeper = {};                      // as in ScannedTree
  std::string exceeded = {};                    // the same
};

// `root_fd`: a directory, O_PATH suffices. `known`: the number of directories that are known
// already.
ReadTree ReadDirectories(int root_fd, std::span<const ChangedDirectory> changed,
                         NameChooser chooser, const ScanLimits& limits, std::size_t known);

}  // namespace pa
