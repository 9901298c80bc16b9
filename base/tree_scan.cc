#include "base/tree_scan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

namespace pa {

struct TreeScan::Checking {
  ScanProgress progress;
  ChangedTree changed = {};
  int depth = 0;

  // To be read with all that is beneath.
  void Add(const std::string& path) { changed.directories.push_back({.path = path}); }
};

struct TreeScan::Taking {
  std::unordered_map<std::string_view, ReadDirectory*> read;  // by path
  ScanProgress progress;
  ScannedTree tree = {};
};

ScannedTree TreeScan::Look(int root_fd, const ScanLimits& limits) {
  const ChangedTree changed = Check(root_fd, limits);
  ReadTree read;
  if (changed.exceeded.empty()) {
    read = ReadDirectories(root_fd, changed.directories, chooser_, limits, changed.known);
  }
  return Take(changed, std::move(read), limits);
}

ChangedTree TreeScan::Check(int root_fd, const ScanLimits& limits) const {
  Checking checking{.progress = ScanProgress(limits)};
  Visit(root_fd, root_, "", checking);
  checking.changed.known = checking.progress.known;
  return std::move(checking.changed);
}

// Whether it is as it was when it was read. It is opened if something is known beneath it. Returns
// what it looks like now.
PathStamp TreeScan::Visit(int parent, const Directory& directory, const std::string& path,
                          Checking& checking) {
  ChangedTree& changed = checking.changed;
  checking.progress.Enter();
  if (checking.progress.Ended(changed.exceeded)) return {};
  if (checking.progress.TooDeep(path, checking.depth)) {
    if (changed.deeper.empty()) changed.deeper = path;
    return {};
  }
  constexpr int kPlainDirectory = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const char* name = directory.name.c_str();
  const bool leaf = directory.below.empty();
  const UniqueFd fd(leaf ? -1 : openat(parent, name, kPlainDirectory));
  struct stat status{};
  const bool seen = leaf ? fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0
                         : fd && fstat(fd.get(), &status) == 0;
  if (!seen) {
    const bool gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    if (!gone) checking.Add(path);
    return {};
  }
  checking.progress.known += directory.below.size();
  const PathStamp now = StampOf(status);
  const bool unchanged = directory.settled && now == directory.stamp;
  // Whoever reads it opens it, and looks into what is beneath.
  constexpr mode_t kLook = S_IRUSR | S_IXUSR;
  if (!unchanged && (leaf || (status.st_mode & kLook) != kLook)) {
    checking.Add(path);
    return now;
  }
  const std::size_t place = changed.directories.size();
  unchanged ? void(++changed.unchanged) : checking.Add(path);
  std::vector<std::pair<std::string, PathStamp>> known;
  ++checking.depth;
  for (const Directory& below : directory.below) {
    const PathStamp stamp =
        Visit(fd.get(), below, path.empty() ? below.name : path + "/" + below.name, checking);
    if (!changed.exceeded.empty()) break;
    if (!unchanged) known.emplace_back(below.name, stamp);
  }
  --checking.depth;
  if (!unchanged) changed.directories[place].below = std::move(known);
  return now;
}

ScannedTree TreeScan::Take(const ChangedTree& changed, ReadTree read, const ScanLimits& limits) {
  ScanLimits in_memory = limits;
  in_memory.time = std::chrono::hours(1);
  Taking taking{.read = {}, .progress = ScanProgress(in_memory)};
  for (ReadDirectory& one : read.directories) taking.read.emplace(one.path, &one);
  taking.tree.exceeded = !changed.exceeded.empty() ? changed.exceeded : read.exceeded;
  taking.tree.deeper = !changed.deeper.empty() ? changed.deeper : read.deeper;
  taking.tree.read = read.directories.size();
  taking.tree.directories = changed.unchanged + taking.tree.read;
  Emit(root_, "", taking);
  return std::move(taking.tree);
}

// What is known beneath it stays known. If a limit ended the reading, that is so for names that
// were not read, too.
void TreeScan::Merge(Directory& directory, ReadDirectory& read) {
  directory.stamp = read.stamp;
  directory.settled = read.settled;
  // What could not even be opened holds what it held.
  if (read.readable || !read.found.empty()) directory.found = std::move(read.found);
  std::vector<Directory> known = std::exchange(directory.below, {});
  for (std::string& name : read.below) {
    const auto at = std::ranges::lower_bound(known, name, {}, &Directory::name);
    const bool is_known = at != known.end() && at->name == name;
    directory.below.push_back(is_known ? std::move(*at) : Directory{.name = name});
    if (is_known) at->name = name;  // what was moved from keeps the order
  }
  if (read.whole && read.readable) return;
  for (Directory& one : known) {
    if (!std::ranges::binary_search(read.below, one.name)) {
      directory.below.push_back(std::move(one));
    }
  }
  std::ranges::sort(directory.below, {}, &Directory::name);
}

void TreeScan::Emit(Directory& directory, const std::string& path, Taking& taking) {
  ScannedTree& tree = taking.tree;
  const auto read = taking.read.find(path);
  if (read != taking.read.end()) {
    ReadDirectory& one = *read->second;
    Merge(directory, one);
    if (!one.readable) tree.unreadable.push_back(path);
    if (one.closed) tree.closed.push_back(path);
    taking.progress.bytes += one.readable && !one.closed ? 0 : path.size();
  }
  for (const ScannedName& found : directory.found) {
    taking.progress.bytes += sizeof(found) + path.size() + found.name.size();
    std::string exceeded;
    if (taking.progress.Ended(exceeded)) {
      if (tree.exceeded.empty()) tree.exceeded = exceeded;
      return;
    }
    tree.names.push_back({path, found.name, found.type});
  }
  for (Directory& below : directory.below) {
    Emit(below, path.empty() ? below.name : path + "/" + below.name, taking);
  }
}

}  // namespace pa
